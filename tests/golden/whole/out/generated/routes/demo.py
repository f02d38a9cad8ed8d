# Generated from schemas/tools/demo/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5c9bd88061dc6cc2193cfe4c00d761c5; generator 1

"""The REST routes of demo."""

from typing import Final

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send

from gateway.contract.route import call


@asgi("/v1/demo/show", name="demo.show", copy_scope=False)
async def show(scope: Scope, receive: Receive, send: Send) -> None:
    """Show entries."""
    await call("demo.show", scope, receive, send)


ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (show,)
