"""This process's standard input and output, protected from all other code in the process."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from functools import partial
from threading import Thread
from typing import Final, TypeVar

from gateway.errors import ConfigurationError
from gateway.transports.json_rpc import TAIL_BYTES

_T = TypeVar("_T")
_CHUNK_BYTES: Final = 65536


async def read_lines(max_bytes: int) -> AsyncIterator[bytes]:
    """The lines of standard input. Handlers and child processes get an empty input instead.

    A line longer than `max_bytes` loses its middle: only `max_bytes + 1` bytes of its beginning and
    `TAIL_BYTES` of its end are kept. Raises `ConfigurationError` when the input cannot be read.
    """
    wire = os.dup(0)
    _replace(0, os.open(os.devnull, os.O_RDONLY))
    line, cut = bytearray(), slice(max_bytes + 1, -TAIL_BYTES)
    while chunk := await _input(partial(os.read, wire, _CHUNK_BYTES)):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line += end
            del line[cut]
            yield bytes(line)
            line.clear()
        line += rest
        del line[cut]
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
    """Standard output. The output of handlers and child processes goes to standard error instead.

    This is not undone: Python writes buffered output of handlers only when the process ends.
    """

    def __init__(self) -> None:
        self._wire = os.dup(1)
        _replace(1, os.dup(2))

    async def write(self, text: str | bytes) -> None:
        """Write all of `text`.

        Raises `BrokenPipeError` when the host has closed the pipe, and `ConfigurationError` for any
        other failure.
        """
        try:
            data = text.encode() if isinstance(text, str) else text
            await _in_a_thread(partial(_write, self._wire, data))
        except BrokenPipeError:
            raise
        except OSError as error:
            raise ConfigurationError(
                f"standard output cannot be written ({error.strerror}); start it from an MCP host"
            ) from None

    async def flush(self) -> None:
        """Do nothing: `write` has no buffer."""


def _replace(number: int, by: int) -> None:
    os.dup2(by, number)
    os.close(by)


def _write(wire: int, rest: bytes) -> None:
    while rest:
        rest = rest[os.write(wire, rest) :]


async def _in_a_thread(call: Callable[[], _T]) -> _T:
    """Run `call` in a daemon thread and return its result. Cancelling does not stop the thread.

    A read of a pipe cannot be cancelled. When the process ends, it would wait for threads of
    asyncio and anyio, until the host closes the pipe. It does not wait for a daemon thread.
    """
    outcome: Future[_T] = Future()
    Thread(target=_settle, args=(outcome, call), daemon=True).start()
    return await asyncio.wrap_future(outcome)


def _settle(outcome: Future[_T], call: Callable[[], _T]) -> None:
    # After this call the future cannot be cancelled, so setting its result cannot fail.
    if not outcome.set_running_or_notify_cancel():
        return
    try:
        outcome.set_result(call())
    except OSError as error:
        outcome.set_exception(error)
