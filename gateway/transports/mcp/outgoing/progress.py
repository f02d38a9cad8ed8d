"""Reports the progress of a call to its client."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Final

_log: Final = logging.getLogger(__name__)
PAUSE_SECONDS: Final = 0.5
"""The time between two notifications of one call."""

SendProgress = Callable[[float, str, float | None], Awaitable[None]]
"""Sends one notification: how far the call is, what this number counts, and its last value."""


class ProgressReports:
    """Sends how far one call is, inside its `async with` block and not after it.

    The numbers that are sent grow. Between two notifications only the newest number is kept.
    """

    def __init__(self, send: SendProgress, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._send = send
        self._pause_seconds = pause_seconds
        self._latest = self._sent = -1.0
        self._message = ""
        self._total: float | None = None
        self._has_changed = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()

    def report(self, done: float, message: str, total: float | None = None, /) -> None:
        """See `ReportProgress`."""
        if done > self._latest:
            self._latest, self._message, self._total = done, message, total
            self._has_changed.set()

    async def __aenter__(self) -> "ProgressReports":
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                # Not the task: it would be cancelled inside of a notification.
                await self._send_latest()
        finally:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        while True:
            await self._has_changed.wait()
            self._has_changed.clear()
            await self._send_latest()
            await asyncio.sleep(self._pause_seconds)

    async def _send_latest(self) -> None:
        async with self._one_at_a_time:
            if self._latest > self._sent:
                self._sent = self._latest
                try:
                    await self._send(self._latest, self._message, self._total)
                except Exception as error:  # noqa: BLE001 - whatever it is, the call has its result
                    _log.debug("the progress of a call could not be sent", exc_info=error)
