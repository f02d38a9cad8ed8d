# Generated from schemas/tools/amadeus/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 72703cbc31367159aa153e0f9771fde8; generator 1

"""The REST routes of amadeus."""

from typing import Final

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send

from gateway.contract.route import call


@asgi("/v1/amadeus/get_airport_code", name="amadeus.get_airport_code", copy_scope=False)
async def get_airport_code(scope: Scope, receive: Receive, send: Send) -> None:
    """Get airport code."""
    await call("amadeus.get_airport_code", scope, receive, send)


@asgi("/v1/amadeus/search_flights", name="amadeus.search_flights", copy_scope=False)
async def search_flights(scope: Scope, receive: Receive, send: Send) -> None:
    """Search scheduled flights."""
    await call("amadeus.search_flights", scope, receive, send)


@asgi("/v1/amadeus/search_hotels", name="amadeus.search_hotels", copy_scope=False)
async def search_hotels(scope: Scope, receive: Receive, send: Send) -> None:
    """Search hotels."""
    await call("amadeus.search_hotels", scope, receive, send)


ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (
    get_airport_code,
    search_flights,
    search_hotels,
)
