"""The settings of limits: connections, bodies, unauthenticated clients, log lines, shutdown."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from gateway.contract.agent_view import SERVER, ListMode
from gateway.contract.operation import JOB_AFTER_SECONDS
from gateway.settings.fields import Fields
from gateway.settings.sources import Secret
from gateway.trace_context import Forwarding

# msgspec accepts a pattern only for a text, and not for a text that may be absent.
_ProfileName: TypeAlias = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9-]{0,63}\Z")]
_Url: TypeAlias = Annotated[str, Meta(pattern=r"^https?://[^\s@]{1,300}\Z")]
_PublicUrl: TypeAlias = Annotated[
    str, Meta(pattern=r"^https?://[A-Za-z0-9.:_\[\]-]{1,253}(/[A-Za-z0-9._~/-]{0,200})?\Z")
]
_Seconds: TypeAlias = Annotated[float, Meta(ge=0, le=3600)]


class LimitFields(Fields, frozen=True, kw_only=True):
    """All settings: those of `Fields`, the limits for clients and for the log, and those of the
    shutdown, of published documents, of lists of tools, of results over MCP, of traces and of
    reports of defects."""

    proxy_header: Annotated[
        Literal["x-forwarded-for", "forwarded"],
        Meta(
            description="Header in which trusted proxies give the client's address, read from "
            "right to left. The other header is ignored. From other hosts, both are ignored."
        ),
    ] = "x-forwarded-for"
    call_limits: Annotated[
        bool,
        Meta(
            description="Whether the limits of tools and agents apply, which the contracts and "
            "the policies declare. Turn them off only for tests on mocks."
        ),
    ] = True
    redis_url: Annotated[
        Secret | None,
        Meta(
            title="`redis://<user>:<password>@<host>:<port>/<number>`, or `rediss://` for TLS",
            pattern=r"^rediss?://.+\Z",
            description="Redis that counts the limits of tools and agents, instead of the "
            "database, and shares between processes which upstreams fail and, on PostgreSQL, "
            "results of reads. It needs the extra `redis` of the package.",
        ),
    ] = None
    max_connections: Annotated[
        int,
        Meta(
            ge=10,
            le=100_000,
            description="Maximum number of connections at the same time. Beyond this, the one "
            "that was idle for longest is closed, of the address with the most. Each needs an "
            "open file, of which most systems allow a process 1,024.",
        ),
    ] = 900
    max_connections_per_address: Annotated[
        int,
        Meta(
            ge=1,
            le=100_000,
            description="Maximum number of connections of one address (in IPv6, of one /64) at "
            "the same time. A trusted proxy has no such limit, but the requests that it sends on "
            "at the same time for one address have it.",
        ),
    ] = 300
    max_connects_per_second: Annotated[
        int,
        Meta(
            ge=1,
            le=100_000,
            description="Maximum number of connections that one address may open per second. "
            "Others wait for five seconds or longer, and are then refused with 429.",
        ),
    ] = 200
    max_upload_bytes: Annotated[
        int,
        Meta(
            ge=1024,
            le=2**30,
            description="Largest request body of tools whose contract allows longer texts, or files"
            " of any size, in bytes. A file is a third larger in base64.",
        ),
    ] = 64 * 2**20
    max_webhook_bytes: Annotated[
        int,
        Meta(ge=1024, le=25 * 2**20, description="Largest body of a webhook with `maxBodyBytes`."),
    ] = 8 * 2**20
    max_bodies_bytes: Annotated[
        int,
        Meta(
            ge=2**20,
            le=2**36,
            description="Maximum number of bytes of request bodies in memory at the same time, "
            "for callers with a key.",
        ),
    ] = 128 * 2**20
    max_unauthenticated_body_bytes: Annotated[
        int,
        Meta(
            ge=2**20,
            le=2**36,
            description="Maximum number of bytes of request bodies in memory at the same time, "
            "for requests without a valid key. One address may use a quarter, or one webhook.",
        ),
    ] = 32 * 2**20
    unauthenticated_requests_per_second: Annotated[
        int,
        Meta(
            ge=1,
            le=100_000,
            description="Maximum number of requests without a valid key per second, for one "
            "address, after ten times as many at once. Others are refused with 429 after a delay. "
            "Requests with a valid key do not count.",
        ),
    ] = 50
    all_unauthenticated_requests_per_second: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000,
            description="Maximum number of requests without a valid key per second, for all "
            "addresses together, after ten times as many at once. Others are refused with 429 "
            "after a delay. Requests to `/health`, `/healthz` and `/readyz` do not count.",
        ),
    ] = 500
    log_lines_per_second: Annotated[
        int,
        Meta(
            ge=1,
            le=10_000,
            description="Maximum number of warnings and errors of one kind (from one place in the "
            "code, with one class of error) that are logged per second, after ten times as many "
            "at once. The next one that is logged, or a line at the end, gives the number of the "
            "others.",
        ),
    ] = 5
    max_calls_per_key: Annotated[
        int,
        Meta(
            ge=1,
            le=100_000,
            description="Maximum number of concurrent calls with one key, so that the calls of one "
            "client leave room for those of others. Others are refused with 429.",
        ),
    ] = 300
    upstream_max_requests: Annotated[
        int,
        Meta(
            ge=1,
            le=100_000,
            description="Maximum number of requests to one upstream at the same time, so that an "
            "upstream that hangs leaves room for calls of other tools. Others are refused with "
            "503. It is at most half of `max_concurrent_calls`.",
        ),
    ] = 200
    max_streams_per_agent: Annotated[
        int,
        Meta(
            ge=1,
            le=500,
            description="Maximum number of streams of events and of MCP sessions that one agent "
            "has open at the same time. All agents together have 500.",
        ),
    ] = 250
    breaker_failures: Annotated[
        int,
        Meta(
            ge=0,
            le=40,
            description="Number of failures in a row (no reply in time, no connection, 502, "
            "503 or 504, or a reply that is too large) after which an upstream gets only single "
            "requests until one succeeds. Half of its last 40 requests have the same effect. At 0, "
            "it gets all requests and all retries.",
        ),
    ] = 5
    stop_notice_seconds: Annotated[
        float,
        Meta(
            ge=0,
            le=600,
            description="Seconds for which the gateway still serves after SIGTERM while `/readyz` "
            "answers 503, so that a load balancer sends no more requests. Applies only if "
            "`/readyz` was requested within the last minute.",
        ),
    ] = 5.0
    stop_grace_seconds: Annotated[
        _Seconds | None,
        Meta(
            title="a number of seconds from 0 to 3600, no less than the longest time limit of a "
            "tool",
            description="Seconds that running calls may take when the gateway stops, after "
            "`stop_notice_seconds`. Without it, five seconds more than the longest time limit of "
            "a tool.",
        ),
    ] = None
    public_documents: Annotated[
        bool,
        Meta(
            description="Whether `/openapi.json` and `/asyncapi.json` show all tools to anyone. If "
            "not, they show each caller the tools that its key may call, and none without a key."
        ),
    ] = False
    list_mode: Annotated[
        ListMode,
        Meta(
            description="How much `tools/list` shows to agents whose policy does not say it: "
            "`full` (all), `slim` (without what a model does not need) or `search` (tools that "
            "find and call the others)."
        ),
    ] = "slim"
    client_profile: Annotated[
        _ProfileName | None,
        Meta(
            title="the name of a client profile",
            description="The client profile of all agents whose policy does not say one. Without "
            "it, clients get the profile that their name chooses.",
        ),
    ] = None
    public_url: Annotated[
        _PublicUrl | None,
        Meta(
            title="a URL such as https://gateway.example.com",
            description="The URL at which clients reach the gateway. Server cards and the "
            "documents of `gateway describe` name it. Without it, they name no address.",
        ),
    ] = None
    server_name: Annotated[
        str,
        Meta(
            title="1 to 40 letters, digits, spaces, `.`, `_` or `-`",
            pattern=r"^[A-Za-z0-9 ._-]{1,40}\Z",
            description="The name that users give the gateway in their MCP clients. Some clients "
            "put it before names of tools, which have a limit; longer names get short ones.",
        ),
    ] = SERVER
    max_result_tokens: Annotated[
        int,
        Meta(
            ge=1_000,
            le=10_000_000,
            description="The largest result over MCP, in tokens of four bytes, for agents whose "
            "policy does not say it. Larger ones are cut by whole items, and `continue_result` "
            "returns the rest. REST has no such limit.",
        ),
    ] = 25_000
    job_after_seconds: Annotated[
        float,
        Meta(
            ge=0.1,
            le=600,
            description="Seconds until a call becomes a job, if its contract has `task: auto`.",
        ),
    ] = JOB_AFTER_SECONDS
    trace_forwarding: Annotated[
        Forwarding,
        Meta(
            description="What upstreams and endpoints of events are sent of the trace that a "
            "request belongs to: `ids` (`traceparent`), `all` (`tracestate` too) or `off`."
        ),
    ] = "ids"
    trace_endpoint: Annotated[
        _Url | None,
        Meta(
            title="the http or https URL of a collector, such as http://localhost:4318/v1/traces",
            description="Where spans are sent over OTLP/HTTP. Needs the extra `otel`. Without it, "
            "the gateway makes no spans. `OTEL_EXPORTER_OTLP_HEADERS` adds headers.",
        ),
    ] = None
    trace_sample: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="Part of the traces that begin here and are recorded. Of other traces, the "
            "caller decides.",
        ),
    ] = 1.0
    slow_callback_seconds: Annotated[
        float,
        Meta(
            ge=0,
            le=60,
            description="For development: each callback of the event loop that takes longer is "
            "logged, with its stack. At 0, none is.",
        ),
    ] = 0.0
    sentry_dsn: Annotated[
        Secret | None,
        Meta(
            title="the DSN of a Sentry project, `https://<key>@<host>/<number>`",
            pattern=r"^https?://[^\s@/:]+@[^\s@/]+/[^\s]+\Z",
            description="Sentry project that gets the gateway's own defects, without any value of "
            "a request. Needs the extra `sentry`. Without it, no defect is reported.",
        ),
    ] = None
