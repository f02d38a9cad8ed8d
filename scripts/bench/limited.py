"""Runs a program with limits of time and memory, and measures it."""

import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

_KIBIBYTES: Final = 1024


class Limits(Struct, frozen=True, kw_only=True):
    """The limits of one program."""

    seconds: float
    memory_mb: int


class Finished(Struct, frozen=True, kw_only=True):
    """A program that ended, or was stopped at its time limit."""

    status: int
    """The exit status, or the negative number of the signal that ended it."""
    is_late: bool
    seconds: float
    peak_mb: float
    """Peak resident memory, in megabytes."""
    output: bytes
    errors: str

    @property
    def last_error(self) -> str:
        """The last line on standard error."""
        return self.errors.strip().rpartition("\n")[2]


def finished(command: Sequence[str], folder: Path, limits: Limits) -> Finished:
    """Run `command` in `folder` to its end."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env=_environment(),
        )
        _limit_memory(process.pid, limits.memory_mb)
        late = threading.Event()
        timer = threading.Timer(limits.seconds, _stop, (process, late))
        timer.start()
        # `subprocess` does not return the resources of one process.
        _, status, used = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - started
        output.seek(0)
        errors.seek(0)
        return Finished(
            status=process.returncode,
            is_late=late.is_set(),
            seconds=seconds,
            peak_mb=used.ru_maxrss / _KIBIBYTES,
            output=output.read(),
            errors=errors.read().decode(errors="replace"),
        )


def _environment() -> dict[str, str]:
    """The caller's environment without settings of a gateway, and with this checkout."""
    own = {name: text for name, text in os.environ.items() if not name.startswith("GATEWAY_")}
    return own | {"PYTHONPATH": str(Path(__file__).parents[2])}


def _stop(process: subprocess.Popen[bytes], late: threading.Event) -> None:
    late.set()
    process.kill()


def _limit_memory(pid: int, megabytes: int) -> None:
    """Limit the address space of a process. Only Linux can limit that of another process."""
    size = megabytes * _KIBIBYTES * _KIBIBYTES
    if sys.platform == "linux":
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_AS, (size, size))
