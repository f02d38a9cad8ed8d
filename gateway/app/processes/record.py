"""What a process that serves a data folder records about itself, so that commands find it."""

import fcntl
import logging
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from gateway.app.reloading import ReloadVerdict

_log: Final = logging.getLogger(__name__)
PROCESSES: Final = "processes"
"""The folder in the data folder. Nothing in it needs a backup."""
_LOCK: Final = ".lock"
_RECORD: Final = ".json"
_NAMESPACE: Final = "/proc/self/ns/pid"


class ProcessRecord(Struct, frozen=True, kw_only=True):
    """A process that serves."""

    pid: int
    place: str
    """The machine, and the container if it is in one: the pid has a meaning only there."""
    url: str
    verdict: ReloadVerdict | None = None
    """The result of its latest reload."""

    @property
    def is_here(self) -> bool:
        """Whether its pid is one of this machine and this container."""
        return self.place == _place()


class RecordFile:
    """The record of this process."""

    def __init__(self, path: Path, url: str) -> None:
        self._path = path
        self._record = ProcessRecord(pid=os.getpid(), place=_place(), url=url)

    def write(self, verdict: ReloadVerdict | None = None) -> None:
        """Record `verdict` as the latest one. A full disk does not stop the process."""
        self._record = msgspec.structs.replace(self._record, verdict=verdict)
        draft = self._path.with_suffix(".draft")
        try:
            draft.write_bytes(msgspec.json.encode(self._record))
            draft.replace(self._path)
        except OSError as error:
            _log.warning("`gateway reload` cannot find this process: %s", error.strerror)


@contextmanager
def recorded(data: Path, url: str) -> Iterator[RecordFile]:
    """Record that this process serves `data`, until the block ends."""
    folder, pid = data / PROCESSES, os.getpid()
    path = folder / f"{pid}{_RECORD}"
    file = RecordFile(path, url)
    lock = None
    # A gateway on a server's database needs no folder that it can write.
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(path.with_suffix(_LOCK), os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    file.write()
    try:
        yield file
    finally:
        # A process that this one has started may leave the block too.
        if os.getpid() == pid:
            _remove(path)
        if lock is not None:
            os.close(lock)


def running_processes(data: Path) -> list[ProcessRecord]:
    """The processes that serve `data` now. Removes the records of those that were killed."""
    found = []
    for path in sorted((data / PROCESSES).glob(f"*{_RECORD}")):
        if not _is_held(path.with_suffix(_LOCK)):
            _remove(path)
            continue
        with suppress(OSError, msgspec.DecodeError):
            found.append(msgspec.json.decode(path.read_bytes(), type=ProcessRecord))
    return found


def _is_held(lock: Path) -> bool:
    try:
        descriptor = os.open(lock, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
        path.with_suffix(_LOCK).unlink(missing_ok=True)
        for each in path.parent.glob(f"{path.stem}-*"):
            each.unlink(missing_ok=True)


def _place() -> str:
    # The processes of two containers can have the same number.
    namespace = os.readlink(_NAMESPACE) if sys.platform == "linux" else ""  # noqa: PTH115 - a link that is no file
    return f"{socket.gethostname()} {namespace}".strip()
