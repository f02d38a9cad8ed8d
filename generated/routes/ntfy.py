# Generated from schemas/tools/ntfy/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 67d3245a59901063ff8b7dce7d8b9e71; generator 1

"""The REST routes of ntfy."""

from typing import Final

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send

from gateway.contract.route import call


@asgi("/v1/ntfy/send_push_notification", name="ntfy.send_push_notification", copy_scope=False)
async def send_push_notification(scope: Scope, receive: Receive, send: Send) -> None:
    """Send a push notification."""
    await call("ntfy.send_push_notification", scope, receive, send)


ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (send_push_notification,)
