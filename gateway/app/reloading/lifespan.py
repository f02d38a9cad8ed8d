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
    lifespan = _Lifespan(app)
    try:
        await lifespan.step("startup")
        try:
            yield
        finally:
            await lifespan.step("shutdown")
            await lifespan.running
    finally:
        # It still runs if this was cancelled, as when a server stops while it reloads.
        if lifespan.running.cancel():
            await asyncio.wait({lifespan.running})


class _Lifespan:
    def __init__(self, app: App) -> None:
        self._asked: asyncio.Queue[Message] = asyncio.Queue()
        self._answered: asyncio.Queue[Message] = asyncio.Queue()
        scope: dict[str, Any] = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        self.running = asyncio.ensure_future(app(scope, self._asked.get, self._answered.put))

    async def step(self, name: str) -> None:
        """Ask the application to start or to shut down, and wait until it has, or has ended."""
        self._asked.put_nowait({"type": f"lifespan.{name}"})
        answer = asyncio.ensure_future(self._answered.get())
        try:
            await asyncio.wait({answer, self.running}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            is_missing = answer.cancel()
        if is_missing:
            await self.running
        elif answer.result()["type"] != f"lifespan.{name}.complete":
            raise InternalError
