"""The readiness for operators: `GET /operator/readiness`."""

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler

from gateway.transports.health import CheckReadiness
from gateway.transports.operator.guard import AnyRequest, OperatorGuard, answer


def readiness_routes(
    guard: OperatorGuard, check_readiness: CheckReadiness
) -> list[HTTPRouteHandler]:
    """The route."""

    @get("/operator/readiness", name="operator_readiness")
    async def show_readiness(request: AnyRequest) -> Response[bytes]:
        """What `/readyz` says, with the backend and the problem of each upstream."""
        async with guard.open(request, "readiness.show", is_poll=True):
            return answer((await check_readiness()).whole)

    return [show_readiness]
