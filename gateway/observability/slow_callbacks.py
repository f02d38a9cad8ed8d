"""Reports callbacks of the event loop that take long: meanwhile, nothing else is served.

For development. asyncio has such a report in its debug mode, without the place in the code; uvloop
has it for some callbacks only.
"""

import asyncio
import logging
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context
from functools import partial
from itertools import takewhile
from time import perf_counter, thread_time
from traceback import walk_stack
from types import CodeType, FrameType
from typing import Any, Final, TypeVarTuple

import uvloop

_Ts = TypeVarTuple("_Ts")
_log: Final = logging.getLogger(__name__)
_MAX_FRAMES: Final = 40
_LOOKS: Final = 5
"""How often the thread looks at the loop within the time that a callback may take."""


def loop_factory(limit_seconds: float) -> Callable[[], asyncio.AbstractEventLoop]:
    """What makes the event loop: one that reports if `limit_seconds` is not 0."""
    return (lambda: WatchedLoop(limit_seconds)) if limit_seconds else uvloop.new_event_loop


class _Running:
    """The callback that runs."""

    __slots__ = ("began", "cpu", "stack")

    def __init__(self) -> None:
        self.began = perf_counter()
        self.cpu = thread_time()
        self.stack: list[str] = []


class WatchedLoop(uvloop.Loop):
    """An event loop that logs a warning for each callback that takes longer than a limit.

    The warning has the time, the processor time of the loop's thread (less, if the machine or the
    interpreter was busy with something else) and the stack that a thread found when the limit had
    passed: modules, lines and functions, innermost first, no values. The stack is empty if
    one call into C kept the interpreter to the end. Not seen are protocols that are written in C,
    as that of asyncpg.
    """

    def __init__(self, limit_seconds: float) -> None:
        super().__init__()
        self._limit = limit_seconds
        self._running: _Running | None = None
        self._is_closing = threading.Event()
        watch = threading.Thread(
            target=self._look, args=[threading.get_ident()], name="slow-callbacks", daemon=True
        )
        watch.start()

    def close(self) -> None:
        """Close the loop, and end the thread that looks at it."""
        self._is_closing.set()
        super().close()

    def call_soon(
        self, callback: Callable[[*_Ts], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """As asyncio defines it. The C code of tasks and futures calls it too."""
        return super().call_soon(self._time, callback, *args, context=context)

    def call_soon_threadsafe(
        self, callback: Callable[[*_Ts], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """As asyncio defines it."""
        return super().call_soon_threadsafe(self._time, callback, *args, context=context)

    def call_later(
        self,
        delay: float,
        callback: Callable[[*_Ts], object],
        *args: *_Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """As asyncio defines it. uvloop's `call_at` calls it."""
        return super().call_later(delay, self._time, callback, *args, context=context)

    def add_reader(self, fd: Any, callback: Callable[[*_Ts], object], *args: *_Ts) -> None:
        """As asyncio defines it."""
        super().add_reader(fd, self._time, callback, *args)

    def add_writer(self, fd: Any, callback: Callable[[*_Ts], object], *args: *_Ts) -> None:
        """As asyncio defines it."""
        super().add_writer(fd, self._time, callback, *args)

    async def create_connection(
        self, protocol_factory: Any, *args: Any, **options: Any
    ) -> tuple[Any, Any]:
        """As asyncio defines it."""
        factory = self._timed_protocol(protocol_factory)
        made: tuple[Any, Any] = await super().create_connection(factory, *args, **options)
        return made

    async def connect_accepted_socket(
        self, protocol_factory: Any, sock: Any, **options: Any
    ) -> tuple[Any, Any]:
        """As asyncio defines it."""
        factory = self._timed_protocol(protocol_factory)
        made: tuple[Any, Any] = await super().connect_accepted_socket(factory, sock, **options)
        return made

    def _timed_protocol(self, factory: Callable[[], Any]) -> Callable[[], Any]:
        def make() -> Any:
            protocol = factory()
            with suppress(AttributeError):  # it is written in C
                protocol.data_received = partial(self._time, protocol.data_received)
            return protocol

        return make

    def _time(self, callback: Callable[..., object], *args: Any) -> None:
        outer, running = self._running, _Running()
        self._running = running
        try:
            callback(*args)
        finally:
            self._running = outer
            seconds, cpu = perf_counter() - running.began, thread_time() - running.cpu
            if seconds > self._limit:
                found = {"ms": _ms(seconds), "cpu_ms": _ms(cpu), "stack": running.stack}
                _log.warning("a callback of the event loop took too long", extra=found)

    def _look(self, ident: int) -> None:
        while not self._is_closing.wait(self._limit / _LOOKS):
            running = self._running
            if running is None or running.stack or perf_counter() - running.began < self._limit:
                continue
            frames = sys._current_frames()  # noqa: SLF001 - the one documented way to a thread's
            stack = _stack(frames.get(ident), WatchedLoop._time.__code__)
            if self._running is running:
                running.stack = stack


def _stack(frame: FrameType | None, outermost: CodeType) -> list[str]:
    """The functions that run, innermost first, as far as the call in `outermost`."""
    inner = takewhile(lambda each: each[0].f_code is not outermost, walk_stack(frame))
    return [
        f"{each.f_globals.get('__name__')}:{line} {each.f_code.co_qualname}"
        for _, (each, line) in zip(range(_MAX_FRAMES), inner, strict=False)
    ]


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 1)
