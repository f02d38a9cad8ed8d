"""Creates files that are complete, durable and private, and never replaces a file."""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from gateway.backup.state import DRAFT
from gateway.errors import StoreError

_NO_HARD_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
"""The errors of file systems without hard links."""


@contextmanager
def atomic_file(target: Path) -> Iterator[BinaryIO]:
    """A file to write. It gets the name `target` if the block ends without an error.

    Otherwise it is removed. Raises `StoreError` when the name exists by then.
    """
    draft = target.with_name(f"{DRAFT}{secrets.token_hex(6)}")
    try:
        with new_file(draft) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _rename(draft, target)
        sync_folder(target.parent)
    finally:
        draft.unlink(missing_ok=True)


def new_file(path: Path) -> BinaryIO:
    """A new file to write, with mode 600."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable, if the system supports this."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class NewFiles:
    """Adds files under new names, and removes them again if the block ends with an error."""

    def __init__(self) -> None:
        self._files: list[Path] = []
        self._folders: list[Path] = []

    def __enter__(self) -> "NewFiles":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            return
        for file in self._files:
            file.unlink(missing_ok=True)
        for folder in reversed(self._folders):
            # Another program may have put a file into it.
            with suppress(OSError):
                folder.rmdir()

    def add(self, staged: Path, target: Path) -> None:
        """Give `staged`, a file that is synced to the disk, the name `target`.

        It is copied if `target` is on another file system. Raises `StoreError` when the name
        exists.
        """
        self._make(target.parent)
        try:
            _rename(staged, target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            with staged.open("rb") as source, atomic_file(target) as file:
                shutil.copyfileobj(source, file)
        self._files.append(target)
        sync_folder(target.parent)

    def _make(self, folder: Path) -> None:
        if not folder.is_dir():
            self._make(folder.parent)
            folder.mkdir(mode=0o700)
            self._folders.append(folder)
            sync_folder(folder.parent)


def _rename(file: Path, target: Path) -> None:
    """Give the file a new name. A link never replaces a file, unlike `rename`."""
    try:
        os.link(file, target)
    except FileExistsError:
        raise _already_exists(target) from None
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        if target.exists():
            raise _already_exists(target) from None
        file.rename(target)


def _already_exists(target: Path) -> StoreError:
    return StoreError(
        f"{target} already exists: it was created in the meantime; name another file or folder"
    )
