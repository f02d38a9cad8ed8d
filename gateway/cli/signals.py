"""How a command that runs until it is stopped leaves in good order."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, Final

_STOPPING: Final = (signal.SIGTERM, signal.SIGHUP)


async def until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Run `work`; SIGTERM or SIGHUP ends it early, and it may close what it has open.

    SIGHUP is left alone where `nohup` asks for that. SIGINT is asyncio's: it ends `work` the same
    way and then raises `KeyboardInterrupt`.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    is_stopped = asyncio.Event()

    def stop() -> None:
        # Once: a second signal must not keep the work from closing what it has open.
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
