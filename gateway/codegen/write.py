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
_DATA: Final = (
    "asyncapi.json",
    "entities.json",
    "events.json",
    "handlers.json",
    "openapi.json",
    "tools.json",
    "upstreams/*.json",
    "webhooks.json",
)
"""What the generator writes that cannot hold the mark."""
_DRAFT_SUFFIX: Final = ".gateway-draft"
"""Of no file that a person would name."""
_OPENING: Final = 200
"""Characters in which the mark stands."""


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
    is_data: bool = False
    """Whether its place alone says that the generator wrote what is there."""

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
    there = {path for folder in folders for path in _files(folder)}
    data = {path for folder in folders for path in _data(folder)}
    found = (
        _compared(path, files.get(path), is_data=path in data)
        for path in sorted(there | files.keys())
    )
    return tuple(change for change in found if change)


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
    draft = change.path.with_name(f".{change.path.name}{_DRAFT_SUFFIX}")
    draft.write_bytes(change.new.encode())
    draft.replace(change.path)


def _remove_if_empty(folder: Path) -> None:
    """Remove `folder` when only compiled leftovers of removed modules are in it."""
    with contextlib.suppress(OSError):
        for leftover in folder.glob("__pycache__/*.pyc"):
            leftover.unlink()
        (folder / "__pycache__").rmdir()
    with contextlib.suppress(OSError):
        folder.rmdir()


def _compared(path: Path, new: str | None, *, is_data: bool) -> Change | None:
    old = _read(path)
    if old == (None if new is None else new.encode()):
        return None
    return Change(
        path=path,
        difference=_difference(old, new),
        old=_text(old),
        new=new or "",
        is_data=is_data,
    )


def _difference(old: bytes | None, new: str | None) -> Difference:
    if old is None:
        return Difference.MISSING
    return Difference.EXTRA if new is None else Difference.CHANGED


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def _data(folder: Path) -> Iterator[Path]:
    """The data in `folder`, when it is a package that the generator wrote."""
    if _is_marked(_text(_read(folder / "__init__.py"))):
        for pattern in _DATA:
            yield from folder.glob(pattern)


def _read(path: Path) -> bytes | None:
    """What the file holds; None when there is no file."""
    try:
        return path.read_bytes() if path.is_file() else None
    except OSError as error:
        raise ContractError(f"{path} cannot be read: {error.strerror}") from error


def _text(content: bytes | None) -> str:
    return (content or b"").decode(errors="replace")


def _is_ours(change: Change) -> bool:
    """Whether the file on disk is the generator's to replace: marked, data, a draft, or empty."""
    is_draft = change.path.suffix == _DRAFT_SUFFIX
    return change.is_data or is_draft or _is_marked(change.old) or not change.old.strip()


def _is_marked(text: str) -> bool:
    return MARK in text[:_OPENING]
