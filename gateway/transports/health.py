"""Health for probes, and the readiness that both they and operators are told."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeAlias

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
    """The gateway's own problems, without names, paths and secrets: everybody may know them."""
    stopping: bool = False
    """Whether the gateway was asked to stop. It still serves for a short time."""

    @property
    def status(self) -> Literal["ready", "degraded", "not ready"]:
        """`degraded` means: calls to an upstream with a problem fail, all others are served."""
        if self.store != "ok" or self.stopping:
            return "not ready"
        return "degraded" if self.problems or self.upstream_problems else "ready"

    @property
    def upstream_problems(self) -> tuple[str, ...]:
        """What operators must fix, each with the name of its upstream."""
        return tuple(f"{name}: {u.problem}" for name, u in self.upstreams.items() if u.problem)

    @property
    def public(self) -> dict[str, Any]:
        """What everybody is told: of the upstreams, which are mocks, and that one has a problem."""
        return {
            "status": self.status,
            "store": self.store,
            "mocks": sorted(n for n, each in self.upstreams.items() if each.backend == "mock"),
            "problems": self.problems,
            "stopping": self.stopping,
        }

    @property
    def whole(self) -> dict[str, Any]:
        """What operators are told."""
        problems = self.problems + self.upstream_problems
        return {**self.public, "problems": problems, "upstreams": self.upstreams}


CheckReadiness: TypeAlias = Callable[[], Awaitable[Readiness]]


def operations_routes(check_readiness: CheckReadiness) -> list[HTTPRouteHandler]:
    """`/healthz` and `/readyz`. They need no key."""

    @get("/healthz", name="healthz")
    async def healthz() -> dict[str, str]:
        """Report that the process answers."""
        return {"status": "alive"}

    @get("/readyz", name="readyz")
    async def readyz() -> Response[dict[str, Any]]:
        """Report whether calls can be served, with 503 if they cannot.

        An upstream that cannot be used does not make this 503. Otherwise a load balancer would
        take the gateway out of service, and all other upstreams with it.
        """
        readiness = await check_readiness()
        status = 503 if readiness.status == "not ready" else 200
        return Response(readiness.public, status_code=status)

    return [healthz, readyz]


def health_alias() -> HTTPRouteHandler:
    """`/health`: the same as `/healthz`, as the base server's document describes it."""

    @get("/health", name="health")
    async def health() -> dict[str, str]:
        """Report that the process answers."""
        return {"status": "healthy"}

    return health
