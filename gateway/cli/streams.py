"""The process's standard streams: there from the start, and known when they fail."""

import os
import sys
from typing import Any, Final, TextIO, cast

_MODES: Final = {"stdin": "r", "stdout": "w", "stderr": "w"}
"""The streams in the order of their numbers."""


class Unwritable(OSError):
    """Standard output could not be written. What else is written to it goes nowhere."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(cause.strerror)
        self.reason = cause.strerror
        self.is_unread = isinstance(cause, BrokenPipeError)
        """Whether its reader has left, who thus has had enough."""


def prepare() -> None:
    """Open the streams that are missing, and let standard output raise `Unwritable`.

    Standard error just goes nowhere when it fails: nobody is left to read it. Without its standard
    streams, the next socket or file that a process opens takes the number of one, and gets what is
    printed.
    """
    for number, (name, mode) in enumerate(_MODES.items()):
        if getattr(sys, name) is None:
            _to_null(number)
            # Open as long as the process.
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
    sys.stdout = cast("TextIO", _Guarded(sys.stdout, is_silent=False))
    sys.stderr = cast("TextIO", _Guarded(sys.stderr, is_silent=True))


class _Guarded:
    """A text stream that distinguishes its own failures from all other errors of the system."""

    def __init__(self, stream: TextIO, *, is_silent: bool) -> None:
        self._stream = stream
        self._is_silent = is_silent
        self._failure: OSError | None = None

    def write(self, text: str) -> int:
        try:
            # Who tries out what a stream can do, as click does, hides the first failure.
            if self._failure is not None:
                raise self._failure
            self._stream.write(text)
        except OSError as error:
            self._fail(error)
        return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._fail(error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _fail(self, error: OSError) -> None:
        self._failure = error
        # What is left in its buffer would fail once more when the process ends.
        _to_null(self._stream.fileno())
        if not self._is_silent:
            raise Unwritable(error) from None


def _to_null(number: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    if null == number:
        os.set_inheritable(null, True)
    else:
        os.dup2(null, number)
        os.close(null)
