"""An ASGI application on a real socket of this process, for as long as a block runs."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn


@asynccontextmanager
async def serving(application: Any) -> AsyncIterator[str]:
    """The base URL at which `application` answers."""
    listening = socket.create_server(("127.0.0.1", 0))
    # asyncio sees to this only for sockets that name their protocol; without it, an answer that is
    # written in two parts takes 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    config = uvicorn.Config(application, loop="none", ws="none", lifespan="on", log_config=None)
    server = uvicorn.Server(config)
    async with asyncio.TaskGroup() as tasks:
        serving_task = tasks.create_task(server.serve([listening]))
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving_task
