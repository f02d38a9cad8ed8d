"""The lifespan of an application under test, and its place on a socket."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

from gateway.transports.connections.listen import bind
from gateway.transports.http.asgi import App


class Lifespan:
    """The ASGI lifespan in its own task: it must be left where it was entered."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._to_app: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._from_app: asyncio.Queue[Any] = asyncio.Queue()

    async def start(self) -> None:
        self._task = asyncio.create_task(
            self._app({"type": "lifespan"}, self._to_app.get, self._from_app.put)
        )
        await self._step("lifespan.startup")

    async def stop(self) -> None:
        await self._step("lifespan.shutdown")
        await self._task

    async def _step(self, name: str) -> None:
        self._to_app.put_nowait({"type": name})
        answer = await self._from_app.get()
        assert answer["type"] == f"{name}.complete", answer


@asynccontextmanager
async def on_a_socket(app: Any) -> AsyncIterator[str]:
    """The base URL of `app`, whose lifespan the site runs."""
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None))
    listener = bind("127.0.0.1", 0)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await running
