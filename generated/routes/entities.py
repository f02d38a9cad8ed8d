# Generated from schemas/tools/entities/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 32f10ca981143f1f75608a4174f01ace; generator 1

"""The REST routes of entities."""

from typing import Final

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send

from gateway.contract.route import call


@asgi("/v1/entities/bookings", name="entities.bookings", copy_scope=False)
async def bookings(scope: Scope, receive: Receive, send: Send) -> None:
    """Bookings."""
    await call("entities.bookings", scope, receive, send)


@asgi("/v1/entities/conversations", name="entities.conversations", copy_scope=False)
async def conversations(scope: Scope, receive: Receive, send: Send) -> None:
    """Conversations."""
    await call("entities.conversations", scope, receive, send)


@asgi("/v1/entities/messages", name="entities.messages", copy_scope=False)
async def messages(scope: Scope, receive: Receive, send: Send) -> None:
    """Messages."""
    await call("entities.messages", scope, receive, send)


@asgi("/v1/entities/operator_profiles", name="entities.operator_profiles", copy_scope=False)
async def operator_profiles(scope: Scope, receive: Receive, send: Send) -> None:
    """Operators."""
    await call("entities.operator_profiles", scope, receive, send)


@asgi("/v1/entities/quotes", name="entities.quotes", copy_scope=False)
async def quotes(scope: Scope, receive: Receive, send: Send) -> None:
    """Quotes."""
    await call("entities.quotes", scope, receive, send)


@asgi("/v1/entities/requests", name="entities.requests", copy_scope=False)
async def requests(scope: Scope, receive: Receive, send: Send) -> None:
    """Requests."""
    await call("entities.requests", scope, receive, send)


@asgi("/v1/entities/trips", name="entities.trips", copy_scope=False)
async def trips(scope: Scope, receive: Receive, send: Send) -> None:
    """Trips."""
    await call("entities.trips", scope, receive, send)


ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (
    bookings,
    conversations,
    messages,
    operator_profiles,
    quotes,
    requests,
    trips,
)
