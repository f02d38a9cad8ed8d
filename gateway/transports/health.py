"""What operators and their probes ask: is it alive, can it serve, and against which upstreams."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, TypeAlias

import msgspec
from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from msgspec import Struct


class UpstreamState(Struct, frozen=True, kw_only=True):
    """How one upstream is reached."""

    backend: Literal["live", "mock", "workspace"]
    problem: str | None = None
    """What an operator must fix; only calls to this upstream fail for it."""


class Readiness(Struct, frozen=True, kw_only=True):
    """Whether the gateway can serve, and what it would serve with."""

    store: Literal["ok", "failed"]
    upstreams: Mapping[str, UpstreamState]
    problems: tuple[str, ...] = ()
    """Everything that is wrong, in words for the operator, without secrets."""
    stopping: bool = False
    """Whether the gateway was asked to stop; it serves on for a while."""

    @property
    def status(self) -> Literal["ready", "degraded", "not ready"]:
        """`degraded`: calls to an upstream with a problem fail, all others are served."""
        if self.store != "ok" or self.stopping:
            return "not ready"
        return "degraded" if self.problems else "ready"


CheckReadiness: TypeAlias = Callable[[], Awaitable[Readiness]]


def operations_routes(check_readiness: CheckReadiness) -> list[HTTPRouteHandler]:
    """`/healthz` and `/readyz`; neither needs a key."""

    @get("/healthz", name="healthz")
    async def healthz() -> Response[bytes]:
        """Report that the process answers."""
        return _json(200, {"status": "alive"})

    @get("/readyz", name="readyz")
    async def readyz() -> Response[bytes]:
        """Report whether calls can be served; 503 when not.

        An upstream that cannot be used leaves the gateway in service: taking it out would take all
        the other upstreams out with it.
        """
        readiness = await check_readiness()
        report = {"status": readiness.status, **msgspec.to_builtins(readiness)}
        return _json(503 if readiness.status == "not ready" else 200, report)

    return [healthz, readyz]


def health_alias() -> HTTPRouteHandler:
    """`/health`: `/healthz` in the words of the base server's document."""

    @get("/health", name="health")
    async def health() -> Response[bytes]:
        """Report that the process answers."""
        return _json(200, {"status": "healthy"})

    return health


def _json(status: int, value: object) -> Response[bytes]:
    return Response(msgspec.json.encode(value), status_code=status, media_type="application/json")
