# Generated from schemas/tools/golf/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 546f590d1eb24ec471eaeb06a1516a49; generator 1

"""The REST routes of golf."""

from typing import Final

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send

from gateway.contract.route import call


@asgi("/v1/golf/book_tee_time", name="golf.book_tee_time", copy_scope=False)
async def book_tee_time(scope: Scope, receive: Receive, send: Send) -> None:
    """Book a tee time."""
    await call("golf.book_tee_time", scope, receive, send)


@asgi("/v1/golf/get_reservations", name="golf.get_reservations", copy_scope=False)
async def get_reservations(scope: Scope, receive: Receive, send: Send) -> None:
    """Get golf reservations."""
    await call("golf.get_reservations", scope, receive, send)


@asgi("/v1/golf/search_tee_times", name="golf.search_tee_times", copy_scope=False)
async def search_tee_times(scope: Scope, receive: Receive, send: Send) -> None:
    """Search tee times."""
    await call("golf.search_tee_times", scope, receive, send)


ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (
    book_tee_time,
    get_reservations,
    search_tee_times,
)
