# Generated from schemas/tools/words/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 105039fc9da05020b5076a2d90ffaede; generator 1

"""The REST routes of words."""

from typing import Final

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send

from gateway.contract.route import call


@asgi("/v1/words/greet", name="words.greet", copy_scope=False)
async def greet(scope: Scope, receive: Receive, send: Send) -> None:
    """Greet someone."""
    await call("words.greet", scope, receive, send)


ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (greet,)
