# Generated from schemas/tools/gmail/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 917f83b8b39bfe9180f4da1147fa0da6; generator 1

"""The REST routes of gmail."""

from typing import Final

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send

from gateway.contract.route import call


@asgi("/v1/gmail/create_draft", name="gmail.create_draft", copy_scope=False)
async def create_draft(scope: Scope, receive: Receive, send: Send) -> None:
    """Create a draft."""
    await call("gmail.create_draft", scope, receive, send)


@asgi("/v1/gmail/get_email", name="gmail.get_email", copy_scope=False)
async def get_email(scope: Scope, receive: Receive, send: Send) -> None:
    """Get an email."""
    await call("gmail.get_email", scope, receive, send)


@asgi("/v1/gmail/get_thread_history", name="gmail.get_thread_history", copy_scope=False)
async def get_thread_history(scope: Scope, receive: Receive, send: Send) -> None:
    """Get the history of a thread."""
    await call("gmail.get_thread_history", scope, receive, send)


@asgi("/v1/gmail/send_email", name="gmail.send_email", copy_scope=False)
async def send_email(scope: Scope, receive: Receive, send: Send) -> None:
    """Send an email."""
    await call("gmail.send_email", scope, receive, send)


@asgi("/v1/gmail/send_template_email", name="gmail.send_template_email", copy_scope=False)
async def send_template_email(scope: Scope, receive: Receive, send: Send) -> None:
    """Send an email from a template."""
    await call("gmail.send_template_email", scope, receive, send)


ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (
    create_draft,
    get_email,
    get_thread_history,
    send_email,
    send_template_email,
)
