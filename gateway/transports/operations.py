"""What operators and their probes ask: is it alive, can it serve, and against which upstreams."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, TypeAlias

import msgspec
from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from msgspec import Struct


class UpstreamState(Struct, frozen=True, kw_only=True):
    """How one upstream is reached."""

    backend: Literal["live", "mock"]
    problem: str | None = None


class Readiness(Struct, frozen=True, kw_only=True):
    """Whether the gateway can serve, and what it would serve with."""

    store: Literal["ok", "failed"]
    upstreams: Mapping[str, UpstreamState]
    problems: tuple[str, ...] = ()
    """In words for the operator, without secrets; any one makes the gateway not ready."""

    @property
    def is_ready(self) -> bool:
        return self.store == "ok" and not self.problems


CheckReadiness: TypeAlias = Callable[[], Awaitable[Readiness]]


def operations_routes(check_readiness: CheckReadiness) -> list[HTTPRouteHandler]:
    """`/healthz` and `/readyz`; neither needs a key."""

    @get("/healthz", name="healthz")
    async def healthz() -> Response[bytes]:
        """Tell that the process answers."""
        return _json(200, {"status": "alive"})

    @get("/readyz", name="readyz")
    async def readyz() -> Response[bytes]:
        """Tell whether calls can be served; 503 when not."""
        readiness = await check_readiness()
        status = "ready" if readiness.is_ready else "not ready"
        report = {"status": status, **msgspec.to_builtins(readiness)}
        return _json(200 if readiness.is_ready else 503, report)

    return [healthz, readyz]


def _json(status: int, value: object) -> Response[bytes]:
    return Response(msgspec.json.encode(value), status_code=status, media_type="application/json")
