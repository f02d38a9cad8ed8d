"""Health for operators and their probes: liveness, readiness, and the state of the upstreams."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, TypeAlias

import msgspec
from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from msgspec import Struct


class UpstreamState(Struct, frozen=True, kw_only=True):
    """The backend of one upstream, and its problem if it has one."""

    backend: Literal["live", "mock", "workspace"]
    problem: str | None = None
    """What an operator must fix. Only calls to this upstream fail because of it."""


class Readiness(Struct, frozen=True, kw_only=True):
    """Whether the gateway can serve calls, and with which backends."""

    store: Literal["ok", "failed"]
    upstreams: Mapping[str, UpstreamState]
    problems: tuple[str, ...] = ()
    """All problems, described for the operator, without secrets."""
    stopping: bool = False
    """Whether the gateway was asked to stop. It still serves for a short time."""

    @property
    def status(self) -> Literal["ready", "degraded", "not ready"]:
        """`degraded` means: calls to an upstream with a problem fail, all others are served."""
        if self.store != "ok" or self.stopping:
            return "not ready"
        return "degraded" if self.problems else "ready"


CheckReadiness: TypeAlias = Callable[[], Awaitable[Readiness]]


def operations_routes(check_readiness: CheckReadiness) -> list[HTTPRouteHandler]:
    """`/healthz` and `/readyz`. They need no key."""

    @get("/healthz", name="healthz")
    async def healthz() -> Response[bytes]:
        """Report that the process answers."""
        return _json(200, {"status": "alive"})

    @get("/readyz", name="readyz")
    async def readyz() -> Response[bytes]:
        """Report whether calls can be served, with 503 if they cannot.

        An upstream that cannot be used does not make this 503. Otherwise a load balancer would
        take the gateway out of service, and all other upstreams with it.
        """
        readiness = await check_readiness()
        report = {"status": readiness.status, **msgspec.to_builtins(readiness)}
        return _json(503 if readiness.status == "not ready" else 200, report)

    return [healthz, readyz]


def health_alias() -> HTTPRouteHandler:
    """`/health`: the same as `/healthz`, as the base server's document describes it."""

    @get("/health", name="health")
    async def health() -> Response[bytes]:
        """Report that the process answers."""
        return _json(200, {"status": "healthy"})

    return health


def _json(status: int, value: object) -> Response[bytes]:
    return Response(msgspec.json.encode(value), status_code=status, media_type="application/json")
