# Generated from schemas/tools/avinode/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 0f37b8ee7838a058f7c0fdf8e55684dd; generator 1

"""The REST routes of avinode."""

from typing import Final

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send

from gateway.contract.route import call


@asgi("/v1/avinode/create_rfp", name="avinode.create_rfp", copy_scope=False)
async def create_rfp(scope: Scope, receive: Receive, send: Send) -> None:
    """Create a request for proposal."""
    await call("avinode.create_rfp", scope, receive, send)


@asgi("/v1/avinode/create_trip", name="avinode.create_trip", copy_scope=False)
async def create_trip(scope: Scope, receive: Receive, send: Send) -> None:
    """Create a trip."""
    await call("avinode.create_trip", scope, receive, send)


@asgi("/v1/avinode/create_watch", name="avinode.create_watch", copy_scope=False)
async def create_watch(scope: Scope, receive: Receive, send: Send) -> None:
    """Watch for empty legs."""
    await call("avinode.create_watch", scope, receive, send)


@asgi("/v1/avinode/get_quote_status", name="avinode.get_quote_status", copy_scope=False)
async def get_quote_status(scope: Scope, receive: Receive, send: Send) -> None:
    """Get the status of quotes."""
    await call("avinode.get_quote_status", scope, receive, send)


@asgi("/v1/avinode/get_quotes", name="avinode.get_quotes", copy_scope=False)
async def get_quotes(scope: Scope, receive: Receive, send: Send) -> None:
    """Get the quotes for a request for proposal."""
    await call("avinode.get_quotes", scope, receive, send)


@asgi("/v1/avinode/get_rfp_status", name="avinode.get_rfp_status", copy_scope=False)
async def get_rfp_status(scope: Scope, receive: Receive, send: Send) -> None:
    """Get the status of a request for proposal."""
    await call("avinode.get_rfp_status", scope, receive, send)


@asgi("/v1/avinode/search_airports", name="avinode.search_airports", copy_scope=False)
async def search_airports(scope: Scope, receive: Receive, send: Send) -> None:
    """Search airports."""
    await call("avinode.search_airports", scope, receive, send)


@asgi("/v1/avinode/search_empty_legs", name="avinode.search_empty_legs", copy_scope=False)
async def search_empty_legs(scope: Scope, receive: Receive, send: Send) -> None:
    """Search empty legs."""
    await call("avinode.search_empty_legs", scope, receive, send)


@asgi("/v1/avinode/search_flights", name="avinode.search_flights", copy_scope=False)
async def search_flights(scope: Scope, receive: Receive, send: Send) -> None:
    """Search charter flights."""
    await call("avinode.search_flights", scope, receive, send)


@asgi("/v1/avinode/send_message", name="avinode.send_message", copy_scope=False)
async def send_message(scope: Scope, receive: Receive, send: Send) -> None:
    """Send a message to an operator."""
    await call("avinode.send_message", scope, receive, send)


ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (
    create_rfp,
    create_trip,
    create_watch,
    get_quote_status,
    get_quotes,
    get_rfp_status,
    search_airports,
    search_empty_legs,
    search_flights,
    send_message,
)
