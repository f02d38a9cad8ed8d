# Generated from schemas/tools/sheets/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: a38553259115084cf38c8a989f789f1b; generator 1

"""The REST routes of sheets."""

from typing import Final

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send

from gateway.contract.route import call


@asgi("/v1/sheets/add_flight_history", name="sheets.add_flight_history", copy_scope=False)
async def add_flight_history(scope: Scope, receive: Receive, send: Send) -> None:
    """Add a flight to a client's history."""
    await call("sheets.add_flight_history", scope, receive, send)


@asgi("/v1/sheets/get_client", name="sheets.get_client", copy_scope=False)
async def get_client(scope: Scope, receive: Receive, send: Send) -> None:
    """Get a client."""
    await call("sheets.get_client", scope, receive, send)


@asgi("/v1/sheets/get_client_details", name="sheets.get_client_details", copy_scope=False)
async def get_client_details(scope: Scope, receive: Receive, send: Send) -> None:
    """Get all details of a client."""
    await call("sheets.get_client_details", scope, receive, send)


@asgi("/v1/sheets/list_clients", name="sheets.list_clients", copy_scope=False)
async def list_clients(scope: Scope, receive: Receive, send: Send) -> None:
    """List clients."""
    await call("sheets.list_clients", scope, receive, send)


@asgi("/v1/sheets/read_sheet", name="sheets.read_sheet", copy_scope=False)
async def read_sheet(scope: Scope, receive: Receive, send: Send) -> None:
    """Read cells of a sheet."""
    await call("sheets.read_sheet", scope, receive, send)


@asgi("/v1/sheets/search_client", name="sheets.search_client", copy_scope=False)
async def search_client(scope: Scope, receive: Receive, send: Send) -> None:
    """Search a client by name."""
    await call("sheets.search_client", scope, receive, send)


@asgi("/v1/sheets/search_clients", name="sheets.search_clients", copy_scope=False)
async def search_clients(scope: Scope, receive: Receive, send: Send) -> None:
    """Search clients by criteria."""
    await call("sheets.search_clients", scope, receive, send)


@asgi("/v1/sheets/update_client", name="sheets.update_client", copy_scope=False)
async def update_client(scope: Scope, receive: Receive, send: Send) -> None:
    """Update a client."""
    await call("sheets.update_client", scope, receive, send)


ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (
    add_flight_history,
    get_client,
    get_client_details,
    list_clients,
    read_sheet,
    search_client,
    search_clients,
    update_client,
)
