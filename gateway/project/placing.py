"""Writes several files into a project: all of them, or none, and over nothing that it did not read.

Every command that changes a project holds it meanwhile. What a command left that was interrupted is
undone first.
"""

import errno
import fcntl
import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Final

from gateway.errors import ConfigurationError
from gateway.project import journal
from gateway.project_folder import is_unfinished

Files = Mapping[PurePosixPath, bytes]
"""Contents by path, relative to the project's folder."""

_State = Mapping[PurePosixPath, tuple[int, int, int]]
"""What tells of each file whether it was saved again: its inode, size and time of change."""
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
PATIENCE: Final = 60.0
"""The seconds that a command waits for another one."""
_POLL_SECONDS: Final = 0.05


class HeldProject:
    """A project that no other command changes."""

    def __init__(self, folder: Path, parts: Collection[PurePosixPath]) -> None:
        """Raises `ConfigurationError` if what an interrupted command left cannot be undone."""
        self._folder = folder
        self.undone = journal.undo(folder)
        """The files that an interrupted command had changed. They are what they were before it."""
        self._parts = parts
        self._before = _state(folder, parts)

    def place(self, files: Files, removed: Collection[PurePosixPath] = ()) -> None:
        """Write `files`, and remove `removed` with the folders that are empty then.

        Raises `ConfigurationError` if something cannot be written, or was saved by another program
        since the project is held. Then everything is as before.
        """
        if not files and not removed:
            return
        self._refuse_edited([*files, *removed])
        try:
            self._change(files, removed)
        except OSError as error:
            raise _unwritable(self._folder, error) from None
        for path in removed:
            _remove_empty(self._folder, path.parent)

    def _change(self, files: Files, removed: Collection[PurePosixPath]) -> None:
        try:
            plan = journal.prepare(self._folder, files, removed)
            journal.carry_out(self._folder, plan)
            journal.finish(self._folder)
        except BaseException:
            journal.undo(self._folder)
            raise

    def _refuse_edited(self, paths: Iterable[PurePosixPath]) -> None:
        now = _state(self._folder, self._parts)
        if found := [str(each) for each in paths if now.get(each) != self._before.get(each)]:
            raise journal.edited(found)


@contextmanager
def holding(folder: Path, parts: Collection[PurePosixPath]) -> Iterator[HeldProject]:
    """The project in `folder`, which is made if it does not exist, for a command that changes it.

    `parts` are the files and folders in it that the command may change, read or not. What it reads
    of them has to be read in the block. Raises `ConfigurationError` when another command holds the
    project, or when `folder` cannot be used.
    """
    with ExitStack() as stack:
        try:
            for each in _make_folder(folder):
                stack.callback(_remove, each)
            stack.enter_context(locked(folder))
            held = HeldProject(folder, parts)
        except OSError as error:
            raise _unwritable(folder, error) from None
        yield held


@contextmanager
def locked(folder: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of the project in `folder` during a block. Waits up to `patience` seconds.

    The lock is on the folder itself, so that no file is needed. The system releases it when the
    process ends, also when it is killed. A file system without locks is used without one. Raises
    `ConfigurationError` when another process holds the lock for longer, and `OSError` if the folder
    cannot be opened.
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


def occupied(folder: Path, paths: Iterable[PurePosixPath]) -> list[PurePosixPath]:
    """Those of `paths` that cannot be created in `folder` without replacing something."""
    return sorted(path for path in paths if _is_occupied(folder, path))


def place(folder: Path, files: Files, removed: Collection[PurePosixPath] = ()) -> None:
    """Hold the project in `folder`, and place these files. Existing ones are replaced."""
    with holding(folder, [*files, *removed]) as project:
        project.place(files, removed)


def _state(folder: Path, parts: Iterable[PurePosixPath]) -> _State:
    found = {}
    for path in (path for part in parts for path in _files(folder / part)):
        # Another program may remove it at this moment.
        with suppress(FileNotFoundError, NotADirectoryError):
            status = path.stat()
            name = PurePosixPath(path.relative_to(folder).as_posix())
            found[name] = (status.st_ino, status.st_size, status.st_mtime_ns)
    return found


def _files(part: Path) -> Iterable[Path]:
    return (path for path in part.rglob("*") if path.is_file()) if part.is_dir() else (part,)


def _unwritable(folder: Path, error: OSError) -> ConfigurationError:
    fix = "change its owner or permissions, or choose another folder"
    if error.errno in _FULL:
        fix = "free some space, or choose another folder"
    at = error.filename2 or error.filename or folder
    left = "nothing has changed"
    if is_unfinished(folder):
        left = "the next command that writes undoes what has changed"
    return ConfigurationError(f"{at} cannot be written ({error.strerror}), and {left}; {fix}")


def _is_occupied(folder: Path, path: PurePosixPath) -> bool:
    target = folder / path
    if target.is_symlink() or target.exists():
        return True
    above = (folder / parent for parent in path.parents)
    return any(each.exists() and not each.is_dir() for each in above)


def _remove_empty(folder: Path, path: PurePosixPath) -> None:
    """Remove the folder `path` and those above it in `folder`, while they are empty."""
    for each in (path, *path.parents):
        if each == PurePosixPath():
            return
        # A folder with what Python compiled of removed modules is still a package.
        for compiled in (folder / each).glob("__pycache__/*.pyc"):
            if not (folder / each / f"{compiled.name.partition('.')[0]}.py").exists():
                compiled.unlink(missing_ok=True)
        _remove(folder / each / "__pycache__")
        _remove(folder / each)


def _make_folder(folder: Path) -> tuple[Path, ...]:
    """Make `folder` and those above it. Returns the folders that are new."""
    if folder.is_dir():
        return ()
    above = _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    return (*above, folder)


def _remove(folder: Path) -> None:
    # It may hold something, also of another program.
    with suppress(OSError):
        folder.rmdir()
