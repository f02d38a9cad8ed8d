"""The settings of limits: connections, bodies, unauthenticated clients, log lines, and the end."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from gateway.settings.fields import Fields

_Seconds: TypeAlias = Annotated[float, Meta(ge=0, le=3600)]


class LimitFields(Fields, frozen=True, kw_only=True):
    """All settings: those of `Fields`, and of what hosts may use, with a valid key and without, how
    much is logged, how the gateway stops, and who reads its documents."""

    proxy_header: Annotated[
        Literal["x-forwarded-for", "forwarded"],
        Meta(
            description="Header in which the trusted proxies say who called them, read from its "
            "right end; the other header is ignored, and both are from anybody else."
        ),
    ] = "x-forwarded-for"
    max_connections: Annotated[
        int,
        Meta(
            ge=10,
            le=100_000,
            description="Connections at once. When there are as many, the one that was idle for "
            "longest is closed. Each takes an open file: most systems let a process have 1,024.",
        ),
    ] = 900
    max_connections_per_address: Annotated[
        int,
        Meta(
            ge=1,
            le=100_000,
            description="Connections of one address (in IPv6, of one /64) at once. Trusted proxies "
            "may have all.",
        ),
    ] = 300
    max_connects_per_second: Annotated[
        int,
        Meta(
            ge=1,
            le=100_000,
            description="Connections that one address may open per second; more are held for "
            "five seconds or longer, and then refused with 429.",
        ),
    ] = 200
    max_bodies_bytes: Annotated[
        int,
        Meta(
            ge=2**20,
            le=2**36,
            description="Bytes of all request bodies in memory at once, of callers with a key.",
        ),
    ] = 128 * 2**20
    max_unauthenticated_body_bytes: Annotated[
        int,
        Meta(
            ge=2**20,
            le=2**36,
            description="Bytes of all request bodies in memory at once, of requests without a "
            "valid key, webhooks among them; one address may have a quarter of it.",
        ),
    ] = 32 * 2**20
    unauthenticated_requests_per_second: Annotated[
        int,
        Meta(
            ge=1,
            le=100_000,
            description="Requests per second of one address that show no valid key, after ten "
            "times as many at once; more are answered late, with 429. Requests with a valid key do "
            "not count.",
        ),
    ] = 50
    all_unauthenticated_requests_per_second: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000,
            description="Requests per second of all addresses together that show no valid key, "
            "after ten times as many at once, but for `/health`, `/healthz` and `/readyz`; more "
            "are answered late, with 429.",
        ),
    ] = 500
    log_lines_per_second: Annotated[
        int,
        Meta(
            ge=1,
            le=10_000,
            description="Warnings and errors per second of one kind (from one place in the code, "
            "of one class of error) that are logged, after ten times as many at once; the next one "
            "that is, or a line at the end, says how many were left out.",
        ),
    ] = 5
    stop_notice_seconds: Annotated[
        float,
        Meta(
            ge=0,
            le=600,
            description="How long the gateway goes on serving after SIGTERM while `/readyz` "
            "already answers 503, so that a load balancer sends no more. Only when `/readyz` was "
            "asked within the last minute.",
        ),
    ] = 5.0
    stop_grace_seconds: Annotated[
        _Seconds | None,
        Meta(
            title="a number of seconds from 0 to 3600, no less than the longest time limit of a "
            "tool",
            description="How long calls under way may take after that. Without it: five seconds "
            "more than the longest time limit of a tool.",
        ),
    ] = None
    public_documents: Annotated[
        bool,
        Meta(
            description="Whether `/openapi.json` and `/asyncapi.json` show every tool to anybody. "
            "Without it, they show each caller what its key may call, and no tool without a key."
        ),
    ] = False
