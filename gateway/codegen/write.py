"""Generated files against the folders they belong in: compared both ways, written, or shown."""

import contextlib
import difflib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

from msgspec import Struct

from gateway.errors import ContractError

MARK: Final = "Generated from schemas/"
_DATA_SUFFIX: Final = ".json"
_PARTIAL_SUFFIX: Final = ".partial"


class Difference(StrEnum):
    """How a file on disk differs from what the contracts say."""

    MISSING = "missing"
    CHANGED = "changed"
    EXTRA = "extra"


class Change(Struct, frozen=True, kw_only=True):
    """One file that is not as it should be."""

    path: Path
    difference: Difference
    old: str = ""
    new: str = ""

    def diff(self, shown: str) -> str:
        """A unified diff from what is on disk to what should be, naming the file `shown`."""
        before = "/dev/null" if self.difference is Difference.MISSING else f"a/{shown}"
        after = "/dev/null" if self.difference is Difference.EXTRA else f"b/{shown}"
        lines = difflib.unified_diff(
            self.old.splitlines(keepends=True),
            self.new.splitlines(keepends=True),
            before,
            after,
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def compare(folders: list[Path], files: Mapping[Path, str]) -> tuple[Change, ...]:
    """Every file that is missing, changed or surplus under `folders`, in order of paths.

    Raises `ContractError` for a file that cannot be read.
    """
    changes = [change for path, text in files.items() if (change := _compared(path, text))]
    extra = {path for folder in folders for path in _files(folder)} - files.keys()
    changes += [Change(path=path, difference=Difference.EXTRA, old=_read(path)) for path in extra]
    return tuple(sorted(changes, key=lambda change: change.path))


def apply(changes: tuple[Change, ...]) -> None:
    """Make the folders what the contracts say; each file is replaced at once, never half.

    Raises `ContractError`, before anything is touched, when that would overwrite or delete a file
    that the generator did not write.
    """
    for change in changes:
        if change.difference is not Difference.MISSING and not _is_ours(change):
            raise ContractError(
                f"{change.path} was not written by the generator and is in its way;"
                " move it elsewhere, or choose another output folder"
            )
    for change in changes:
        try:
            _apply(change)
        except OSError as error:
            raise ContractError(f"{change.path} cannot be written: {error.strerror}") from error


def _apply(change: Change) -> None:
    if change.difference is Difference.EXTRA:
        change.path.unlink()
        _remove_if_empty(change.path.parent)
        return
    change.path.parent.mkdir(parents=True, exist_ok=True)
    partial = change.path.with_name(f".{change.path.name}{_PARTIAL_SUFFIX}")
    partial.write_bytes(change.new.encode())
    partial.replace(change.path)


def _remove_if_empty(folder: Path) -> None:
    """Remove `folder` when only compiled leftovers of removed modules are in it."""
    with contextlib.suppress(OSError):
        for leftover in folder.glob("__pycache__/*.pyc"):
            leftover.unlink()
        (folder / "__pycache__").rmdir()
    with contextlib.suppress(OSError):
        folder.rmdir()


def _compared(path: Path, text: str) -> Change | None:
    if not path.is_file():
        return Change(path=path, difference=Difference.MISSING, new=text)
    if path.read_bytes() == text.encode():
        return None
    return Change(path=path, difference=Difference.CHANGED, old=_read(path), new=text)


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError as error:
        raise ContractError(f"{path} cannot be read: {error.strerror}") from error


def _is_ours(change: Change) -> bool:
    """Whether the file on disk is the generator's to replace: marked, data, or empty."""
    opening = change.old[:200]
    is_data = change.path.suffix in {_DATA_SUFFIX, _PARTIAL_SUFFIX}
    return is_data or MARK in opening or not opening.strip()
