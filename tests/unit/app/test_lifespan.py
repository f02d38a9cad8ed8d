"""The lifespan of an application that is served by a generation."""

import asyncio
from typing import Any

from gateway.app.reloading.generation import lifespan_of


class Slow:
    """An application whose start waits."""

    def __init__(self) -> None:
        self.is_starting = asyncio.Event()
        self.has_ended = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        self.is_starting.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.has_ended = True


async def test_a_start_that_is_cancelled_leaves_no_application() -> None:
    """As when a server is stopped while it reloads."""
    app = Slow()
    starting = asyncio.create_task(lifespan_of(app).__aenter__())
    await app.is_starting.wait()
    starting.cancel()
    await asyncio.wait([starting])
    assert starting.cancelled()
    assert app.has_ended
    assert asyncio.all_tasks() == {asyncio.current_task()}
