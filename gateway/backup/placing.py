"""Letting files appear: whole, on the disk, for their owner alone, and in place of no other one."""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from gateway.backup.places import DRAFT
from gateway.errors import StoreError

_NO_SECOND_NAME: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
"""What file systems say on which a file has one name only."""


@contextmanager
def appearing(target: Path) -> Iterator[BinaryIO]:
    """A file to write that has its name once the block has ended well, and else is not there.

    Raises `StoreError` when something has that name by then.
    """
    draft = target.with_name(f"{DRAFT}{secrets.token_hex(6)}")
    try:
        with new_file(draft) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _name(draft, target)
        sync_folder(target.parent)
    finally:
        draft.unlink(missing_ok=True)


def new_file(path: Path) -> BinaryIO:
    """A new file to write, for its owner alone."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def sync_folder(folder: Path) -> None:
    """Let the names in it outlast a power failure, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class Placing:
    """Puts files where nothing is, and takes them back when the block ends by an error."""

    def __init__(self) -> None:
        self._files: list[Path] = []
        self._folders: list[Path] = []

    def __enter__(self) -> "Placing":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            return
        for file in self._files:
            file.unlink(missing_ok=True)
        for folder in reversed(self._folders):
            with suppress(OSError):
                folder.rmdir()

    def place(self, staged: Path, target: Path) -> None:
        """Give the file `staged`, which is on the disk, the name `target`: of another file system,
        too. Raises `StoreError` when something has that name."""
        self._make(target.parent)
        try:
            _name(staged, target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            with staged.open("rb") as source, appearing(target) as file:
                shutil.copyfileobj(source, file)
        self._files.append(target)
        sync_folder(target.parent)

    def _make(self, folder: Path) -> None:
        if not folder.is_dir():
            self._make(folder.parent)
            folder.mkdir(mode=0o700)
            self._folders.append(folder)
            sync_folder(folder.parent)


def _name(file: Path, target: Path) -> None:
    """Unlike a renaming, a second name replaces nothing."""
    try:
        os.link(file, target)
    except FileExistsError:
        raise _taken(target) from None
    except OSError as error:
        if error.errno not in _NO_SECOND_NAME:
            raise
        if target.exists():
            raise _taken(target) from None
        file.rename(target)


def _taken(target: Path) -> StoreError:
    return StoreError(
        f"{target} is there already: it was created in the meantime; name another place"
    )
