"""The function that every generated REST route calls."""

from typing import Any


async def call(operation_id: str, scope: Any, receive: Any, send: Any) -> None:
    """Serve one ASGI request for `operation_id` with the REST transport of the application."""
    await scope["litestar_app"].state.rest.serve(operation_id, scope, receive, send)
