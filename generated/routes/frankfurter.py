# Generated from schemas/tools/frankfurter/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5ba87e73b91a7c30feb277350430391d; generator 1

"""The REST routes of frankfurter."""

from typing import Final

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send

from gateway.contract.route import call


@asgi("/v1/frankfurter/convert_currency", name="frankfurter.convert_currency", copy_scope=False)
async def convert_currency(scope: Scope, receive: Receive, send: Send) -> None:
    """Convert currency."""
    await call("frankfurter.convert_currency", scope, receive, send)


ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (convert_currency,)
