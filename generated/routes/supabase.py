# Generated from schemas/tools/supabase/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e85354af707bf1d29e5b9c94b0485d90; generator 1

"""The REST routes of supabase."""

from typing import Final

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send

from gateway.contract.route import call


@asgi("/v1/supabase/delete", name="supabase.delete", copy_scope=False)
async def delete(scope: Scope, receive: Receive, send: Send) -> None:
    """Delete rows."""
    await call("supabase.delete", scope, receive, send)


@asgi("/v1/supabase/insert", name="supabase.insert", copy_scope=False)
async def insert(scope: Scope, receive: Receive, send: Send) -> None:
    """Insert rows."""
    await call("supabase.insert", scope, receive, send)


@asgi("/v1/supabase/query", name="supabase.query", copy_scope=False)
async def query(scope: Scope, receive: Receive, send: Send) -> None:
    """Query a table."""
    await call("supabase.query", scope, receive, send)


@asgi("/v1/supabase/rpc", name="supabase.rpc", copy_scope=False)
async def rpc(scope: Scope, receive: Receive, send: Send) -> None:
    """Call a function."""
    await call("supabase.rpc", scope, receive, send)


@asgi("/v1/supabase/update", name="supabase.update", copy_scope=False)
async def update(scope: Scope, receive: Receive, send: Send) -> None:
    """Update rows."""
    await call("supabase.update", scope, receive, send)


ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (
    delete,
    insert,
    query,
    rpc,
    update,
)
