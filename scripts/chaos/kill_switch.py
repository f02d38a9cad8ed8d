"""Kills this process before its n-th change of a file or a folder, found by Python's audit events.

Python reports each such change before it makes it. The event has the name of the file. Only changes
in one folder count.
"""

import os
import signal
import sys
from collections.abc import Collection
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any, Final

_CHANGES: Final = {
    "os.remove": (0, 1),
    "os.rmdir": (0, 1),
    "os.mkdir": (0, 2),
    "os.link": (1, 3),
    "os.symlink": (1, 2),
    "os.rename": (1, 3),
    "os.chmod": (0, 2),
    "os.chown": (0, 3),
    "os.truncate": (0, None),
}
"""The arguments of each event that name the file and the folder which it is in."""
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Switch:
    """Counts the changes, and kills before the change `at`. 0: never."""

    def __init__(self, at: int, changes: "Synchronized[int]") -> None:
        self._at = at
        self._changes = changes
        self._root = ""
        self._ignored: Collection[str] = ()

    def arm(self, folder: Path, ignored: Collection[str]) -> None:
        """Count from now on, in `folder` without its folders with the names `ignored`."""
        self._root, self._ignored = f"{folder}/", ignored
        sys.addaudithook(self._hear)

    def disarm(self) -> None:
        """Count no more."""
        self._root = ""

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._root or not self._is_counted(event, arguments):
            return
        self._changes.value += 1
        if self._changes.value == self._at:
            os.kill(os.getpid(), signal.SIGKILL)

    def _is_counted(self, event: str, arguments: tuple[Any, ...]) -> bool:
        if event == "open":
            path, _, flags = arguments
            return bool(flags & _WRITING) and self._is_inside(path, None)
        if event not in _CHANGES:
            return False
        name, folder = _CHANGES[event]
        return self._is_inside(arguments[name], None if folder is None else arguments[folder])

    def _is_inside(self, path: Any, descriptor: int | None) -> bool:
        if isinstance(path, int):
            return False
        above = Path.cwd()
        if descriptor is not None and descriptor >= 0:
            above = Path(f"/proc/self/fd/{descriptor}").readlink()
        place = above / os.fsdecode(path)
        return f"{place}/".startswith(self._root) and not any(
            f"/{name}/" in f"{place}/" for name in self._ignored
        )
