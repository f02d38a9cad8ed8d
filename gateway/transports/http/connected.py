"""Cancels work when its client closes the connection."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from gateway.transports.http.asgi import ClientGone, Receive

_T = TypeVar("_T")


async def while_connected(work: Coroutine[Any, Any, _T], receive: Receive) -> _T:
    """Await `work`. If the client leaves before it ends, cancel it and raise `ClientGone`."""
    watch = _Watch(receive)
    try:
        return await work
    except asyncio.CancelledError:
        if watch.has_cancelled():
            raise ClientGone from None
        raise
    finally:
        watch.end()


class _Watch:
    """Cancels the current task when its client leaves.

    Watching starts when the current task first waits. So work that never waits needs no second
    task.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._worker = asyncio.current_task()
        self._watcher: asyncio.Task[None] | None = None
        self._start = asyncio.get_running_loop().call_soon(self._begin)
        self._is_over = False
        self._has_cancelled = False

    def has_cancelled(self) -> bool:
        """Whether only this watch cancelled the task. If so, this takes the cancellation back."""
        if self._worker is None or not self._has_cancelled:
            return False
        return self._worker.uncancel() == 0

    def end(self) -> None:
        """Stop watching."""
        self._is_over = True
        self._start.cancel()
        if self._watcher is not None:
            self._watcher.cancel()

    def _begin(self) -> None:
        self._watcher = asyncio.create_task(_disconnected(self._receive))
        self._watcher.add_done_callback(self._leave)

    def _leave(self, watcher: asyncio.Task[None]) -> None:
        if self._worker is not None and not self._is_over and not watcher.cancelled():
            self._has_cancelled = self._worker.cancel()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
