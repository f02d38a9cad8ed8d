"""The standard streams of the process: always open, with failures of stdout detected."""

import errno
import os
import select
import sys
from typing import Any, Final, TextIO, cast

_MODES: Final = {"stdin": "r", "stdout": "w", "stderr": "w"}
"""The streams in the order of their file descriptors."""


class Unwritable(OSError):
    """Standard output could not be written. Later output is discarded."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(cause.strerror)
        self.reason = cause.strerror
        self.is_unread = isinstance(cause, BrokenPipeError)
        """Whether the reader closed the pipe, which is not an error."""


def prepare() -> None:
    """Open missing streams, and make standard output raise `Unwritable` if it fails.

    If the reader of standard output has left, the rest is discarded, and the command goes on to its
    verdict. If standard error fails, its output is discarded, because nobody can read it. If a
    standard stream were missing, the next opened socket or file would get its file descriptor, and
    receive the output.
    """
    for number, (name, mode) in enumerate(_MODES.items()):
        if getattr(sys, name) is None:
            _to_null(number)
            # Stays open until the process ends.
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
    sys.stdout = cast("TextIO", _Guarded(sys.stdout, is_silent=False))
    sys.stderr = cast("TextIO", _Guarded(sys.stderr, is_silent=True))


def require_reader() -> None:
    """Raise `Unwritable` if standard output cannot be written, or its reader has left.

    It is for output without an end, and for what somebody must have seen.
    """
    stdout: Any = sys.stdout
    if isinstance(stdout, _Guarded):
        stdout.require_reader()


class _Guarded:
    """A text stream whose failures are distinct from other `OSError`s."""

    def __init__(self, stream: TextIO, *, is_silent: bool) -> None:
        self._stream = stream
        self._is_silent = is_silent
        self._failure: OSError | None = None

    def write(self, text: str) -> int:
        try:
            # click probes streams and would hide the first failure.
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

    def require_reader(self) -> None:
        self.flush()
        if self._failure is None and self._has_no_reader():
            self._failure = BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
        if self._failure is not None:
            raise Unwritable(self._failure)

    def _has_no_reader(self) -> bool:
        """Whether the other end of a pipe is closed. What was written may still be in the pipe."""
        state = select.poll()
        state.register(self._stream.fileno(), 0)
        return any(event & select.POLLERR for _, event in state.poll(0))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _fail(self, error: OSError) -> None:
        self._failure = error
        # The rest of the buffer would fail again when the process ends.
        _to_null(self._stream.fileno())
        if not self._is_silent and not isinstance(error, BrokenPipeError):
            raise Unwritable(error) from None


def _to_null(number: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    if null == number:
        os.set_inheritable(null, True)
    else:
        os.dup2(null, number)
        os.close(null)
