"""Graceful shutdown of commands that run until they are stopped."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, Final

_STOPPING: Final = (signal.SIGTERM, signal.SIGHUP)


async def until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Run `work`. SIGTERM or SIGHUP cancels it, so that it can close its resources.

    SIGHUP is ignored under `nohup`. asyncio handles SIGINT: it cancels `work` in the same way and
    then raises `KeyboardInterrupt`.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    is_stopped = asyncio.Event()

    def stop() -> None:
        # Once: a second signal must not interrupt the closing of resources.
        if not is_stopped.is_set():
            is_stopped.set()
            task.cancel()

    for number in _STOPPING:
        if signal.getsignal(number) != signal.SIG_IGN:
            loop.add_signal_handler(number, stop)
    try:
        await task
    except asyncio.CancelledError:
        if not is_stopped.is_set():
            raise
