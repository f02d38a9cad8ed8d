"""The one step of a generated REST route: hand the request to the gateway's REST transport."""

from typing import Any


async def call(operation_id: str, scope: Any, receive: Any, send: Any) -> None:
    """Serve one ASGI request for `operation_id` by the transport in the application's state."""
    await scope["litestar_app"].state.rest.serve(operation_id, scope, receive, send)
