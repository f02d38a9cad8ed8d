"""Waiting for what happens by itself."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE_SECONDS = 300.0
"""When a test gives up on what hangs: minutes, so that no loaded machine fails it."""


async def eventually(look: Callable[[], Awaitable[T | None]]) -> T:
    """What `look` finds, as soon as it finds something."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (found := await look()) is None:  # noqa: ASYNC110 - it happens elsewhere
            await asyncio.sleep(0.02)
    return found
