"""Lets one command at a time change a project, by a lock of the operating system.

The lock is on the project's folder itself, so that no file is needed. The system releases it when
the process ends, also when it is killed.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gateway.errors import ConfigurationError

PATIENCE: Final = 60.0
"""The seconds that a command waits for another one."""
_POLL_SECONDS: Final = 0.05


@contextmanager
def locked(folder: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of the project in `folder` during a block. Waits up to `patience` seconds.

    A file system without locks is used without one. Raises `ConfigurationError` when another
    process holds the lock for longer, and `OSError` if the folder cannot be opened.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _take(descriptor, folder, time.monotonic() + patience)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, folder: Path, until: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _wait(folder, until)
        except OSError:
            # Network file systems lock files only. What is placed is compared all the same.
            return
        else:
            return


def _wait(folder: Path, until: float) -> None:
    if time.monotonic() >= until:
        raise ConfigurationError(
            f"another command is changing the project in {folder}; run this again when it has "
            "ended, or stop it"
        )
    time.sleep(_POLL_SECONDS)
