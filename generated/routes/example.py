# Generated from schemas/tools/example/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f6ceb10cd31c154734f4011cc8782b3d; generator 1

"""The REST routes of example."""

from typing import Final

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send

from gateway.contract.route import call


@asgi("/v1/example/calculate", name="example.calculate", copy_scope=False)
async def calculate(scope: Scope, receive: Receive, send: Send) -> None:
    """Calculate."""
    await call("example.calculate", scope, receive, send)


@asgi("/v1/example/greet", name="example.greet", copy_scope=False)
async def greet(scope: Scope, receive: Receive, send: Send) -> None:
    """Greet someone."""
    await call("example.greet", scope, receive, send)


ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (
    calculate,
    greet,
)
