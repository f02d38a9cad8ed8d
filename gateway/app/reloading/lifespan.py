"""Runs the lifespan of an ASGI application, as its server would."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from gateway.errors import InternalError
from gateway.transports.http.asgi import App, Message


@asynccontextmanager
async def lifespan_of(app: App) -> AsyncIterator[None]:
    """Start `app`, and shut it down when the block ends. Raises what its start raises."""
    asked: asyncio.Queue[Message] = asyncio.Queue()
    answered: asyncio.Queue[Message] = asyncio.Queue()
    scope: dict[str, Any] = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
    running = asyncio.ensure_future(app(scope, asked.get, answered.put))

    async def step(name: str) -> None:
        asked.put_nowait({"type": f"lifespan.{name}"})
        answer = asyncio.ensure_future(answered.get())
        await asyncio.wait({answer, running}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            answer.cancel()
            await running
        elif answer.result()["type"] != f"lifespan.{name}.complete":
            raise InternalError

    await step("startup")
    try:
        yield
    finally:
        await step("shutdown")
        await running
