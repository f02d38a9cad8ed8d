"""This process's standard input and output, as a wire that nothing else in it can touch."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from functools import partial
from threading import Thread
from typing import Final, TypeVar

from gateway.errors import ConfigurationError

_T = TypeVar("_T")
_CHUNK_BYTES: Final = 65536


async def read_lines(max_bytes: int) -> AsyncIterator[bytes]:
    """The lines of standard input; handlers and child processes read an empty one instead.

    Of a line longer than `max_bytes`, the first `max_bytes + 1` bytes are given. Raises
    `ConfigurationError` when the input cannot be read.
    """
    wire = os.dup(0)
    _replace(0, os.open(os.devnull, os.O_RDONLY))
    line = bytearray()
    while chunk := await _input(partial(os.read, wire, _CHUNK_BYTES)):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line += end[: max_bytes + 1 - len(line)]
            yield bytes(line)
            line.clear()
        line += rest[: max_bytes + 1 - len(line)]
    if line:
        yield bytes(line)


async def _input(read: Callable[[], bytes]) -> bytes:
    try:
        return await _in_a_thread(read)
    except OSError as error:
        raise ConfigurationError(
            f"standard input cannot be read ({error.strerror}); start it from an MCP host"
        ) from None


class Output:
    """Standard output; what handlers and child processes print goes to standard error instead.

    For the rest of the process: what handlers leave in buffers is written at its very end.
    """

    def __init__(self) -> None:
        self._wire = os.dup(1)
        _replace(1, os.dup(2))

    async def write(self, text: str) -> None:
        """Raises `BrokenPipeError` when nobody reads it, else `ConfigurationError`."""
        try:
            await _in_a_thread(partial(_write, self._wire, text.encode()))
        except BrokenPipeError:
            raise
        except OSError as error:
            raise ConfigurationError(
                f"standard output cannot be written ({error.strerror}); start it from an MCP host"
            ) from None

    async def flush(self) -> None:
        """Nothing: `write` holds nothing back."""


def _replace(number: int, by: int) -> None:
    os.dup2(by, number)
    os.close(by)


def _write(wire: int, rest: bytes) -> None:
    while rest:
        rest = rest[os.write(wire, rest) :]


async def _in_a_thread(call: Callable[[], _T]) -> _T:
    """What `call` returns; it is left behind when the waiting is cancelled.

    A read of a pipe cannot be called off, and the process would wait for the threads of asyncio
    and anyio when it ends: until the host closes the pipe.
    """
    outcome: Future[_T] = Future()
    Thread(target=_settle, args=(outcome, call), daemon=True).start()
    return await asyncio.wrap_future(outcome)


def _settle(outcome: Future[_T], call: Callable[[], _T]) -> None:
    # From here on it can no longer be cancelled, so that setting it cannot fail.
    if not outcome.set_running_or_notify_cancel():
        return
    try:
        outcome.set_result(call())
    except OSError as error:
        outcome.set_exception(error)
