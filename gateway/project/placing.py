"""Writes several files into a folder: all of them, or none."""

import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path, PurePosixPath
from typing import Final

from gateway.errors import ConfigurationError

Files = Mapping[PurePosixPath, bytes]
"""Contents by path, relative to the project's folder."""
_DRAFTS: Final = ".gateway-draft-"
"""How the names of folders begin that hold files which are being written."""


def occupied(folder: Path, paths: Iterable[PurePosixPath]) -> list[PurePosixPath]:
    """Those of `paths` that cannot be created in `folder` without replacing something."""
    return sorted(path for path in paths if _is_occupied(folder, path))


def place(folder: Path, files: Files, removed: Iterable[PurePosixPath] = ()) -> None:
    """Write `files` into `folder`, which is made if it does not exist. Existing files are replaced.

    The files `removed` are removed, with the folders that are empty then. Raises
    `ConfigurationError` if something cannot be written. Then everything is as before.
    """
    try:
        with ExitStack() as undo_folder:
            _make_folder(folder, undo_folder)
            drafts = tempfile.TemporaryDirectory(prefix=_DRAFTS, dir=folder)
            # Replaced files come back from the drafts' folder, so it is removed after that.
            with drafts, ExitStack() as undo:
                _write_drafts(Path(drafts.name) / "new", files)
                for path in files:
                    _put(Path(drafts.name), folder, path, undo)
                for path in removed:
                    _take_out(Path(drafts.name), folder, path, undo)
                undo.pop_all()
            undo_folder.pop_all()
            for path in removed:
                _remove_empty(folder, path.parent)
    except OSError as error:
        at = error.filename or folder
        raise ConfigurationError(
            f"{at} cannot be written ({error.strerror}), and nothing has changed; "
            "change its owner or permissions, or choose another folder"
        ) from None


def _is_occupied(folder: Path, path: PurePosixPath) -> bool:
    target = folder / path
    if target.is_symlink() or target.exists():
        return True
    above = (folder / parent for parent in path.parents)
    return any(each.exists() and not each.is_dir() for each in above)


def _write_drafts(drafts: Path, files: Files) -> None:
    for path, content in files.items():
        draft = drafts / path
        draft.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(content)


def _put(drafts: Path, folder: Path, path: PurePosixPath, undo: ExitStack) -> None:
    """Move the draft of `path` to its place. `undo` gets what reverts that."""
    target = folder / path
    _make_folder(target.parent, undo)
    if target.exists():
        old = drafts / "old" / path
        old.parent.mkdir(parents=True, exist_ok=True)
        target.replace(old)
        undo.callback(old.replace, target)
    else:
        undo.callback(target.unlink, missing_ok=True)
    (drafts / "new" / path).replace(target)


def _take_out(drafts: Path, folder: Path, path: PurePosixPath, undo: ExitStack) -> None:
    """Move `path` to the drafts. `undo` gets what reverts that."""
    if (folder / path).exists():
        old = drafts / "old" / path
        old.parent.mkdir(parents=True, exist_ok=True)
        (folder / path).replace(old)
        undo.callback(old.replace, folder / path)


def _remove_empty(folder: Path, path: PurePosixPath) -> None:
    """Remove the folder `path` and those above it in `folder`, while they are empty."""
    for each in (path, *path.parents):
        if (
            each == PurePosixPath()
            or not (folder / each).is_dir()
            or any((folder / each).iterdir())
        ):
            return
        _remove(folder / each)


def _make_folder(folder: Path, undo: ExitStack) -> None:
    if folder.is_dir():
        return
    _make_folder(folder.parent, undo)
    folder.mkdir()
    undo.callback(_remove, folder)


def _remove(folder: Path) -> None:
    # Another program may have put something into it.
    with suppress(OSError):
        folder.rmdir()
