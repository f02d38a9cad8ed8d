"""Compares generated files with the folders on disk, and writes them."""

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
    "grants.json",
    "handlers.json",
    "imported/*.json",
    "offered.json",
    "openapi.json",
    "pages.json",
    "servers.json",
    "tools.json",
    "upstreams/*.json",
    "webhooks.json",
)
"""Generated files that cannot contain the mark."""
_DRAFT_SUFFIX: Final = ".gateway-draft"
"""The suffix of files that are being written."""
_OPENING: Final = 200
"""The number of bytes at the beginning of a file that are searched for the mark."""


class Difference(StrEnum):
    """How a file on disk differs from the generated one."""

    MISSING = "missing"
    CHANGED = "changed"
    EXTRA = "extra"


class Change(Struct, frozen=True, kw_only=True):
    """One file on disk that differs from the generated one."""

    path: Path
    difference: Difference
    old: bytes = b""
    new: bytes = b""
    is_data: bool = False
    """Whether the generator wrote the file on disk, by its path: such files have no mark."""

    def diff(self, name: str) -> str:
        """A unified diff from the file on disk to the generated one. `name` is the file's name."""
        before = "/dev/null" if self.difference is Difference.MISSING else f"a/{name}"
        after = "/dev/null" if self.difference is Difference.EXTRA else f"b/{name}"
        lines = difflib.unified_diff(
            _text(self.old).splitlines(keepends=True),
            _text(self.new).splitlines(keepends=True),
            before,
            after,
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def compare(folders: list[Path], files: Mapping[Path, bytes]) -> tuple[Change, ...]:
    """Every file that is missing, changed or surplus under `folders`, sorted by path.

    An empty file, such as `.gitkeep`, is not surplus.

    Raises `ContractError` for a file that cannot be read.
    """
    existing = {path for folder in folders for path in _files(folder)}
    existing -= {path for path in existing - files.keys() if _is_placeholder(path)}
    data = {path for folder in folders for path in _data(folder)}
    found = (
        _compared(path, files.get(path), is_data=path in data)
        for path in sorted(existing | files.keys())
    )
    return tuple(change for change in found if change)


def apply(changes: tuple[Change, ...]) -> None:
    """Write and delete files as `changes` says. Each file is replaced atomically.

    Raises `ContractError`, and as `refuse_foreign`.
    """
    refuse_foreign(changes)
    for change in changes:
        try:
            _apply(change)
        except OSError as error:
            raise ContractError(f"{change.path} cannot be written: {error.strerror}") from error


def refuse_foreign(changes: tuple[Change, ...]) -> None:
    """Raise `ContractError` if `changes` would overwrite or delete a file that the generator did
    not write."""
    for change in changes:
        if change.difference is not Difference.MISSING and not _is_ours(change):
            raise ContractError(
                f"{change.path} was not written by the generator, which would replace or delete it;"
                " move it elsewhere, or choose another output folder"
            )


def _apply(change: Change) -> None:
    if change.difference is Difference.EXTRA:
        change.path.unlink()
        _remove_if_empty(change.path.parent)
        return
    change.path.parent.mkdir(parents=True, exist_ok=True)
    draft = change.path.with_name(f".{change.path.name}{_DRAFT_SUFFIX}")
    draft.write_bytes(change.new)
    draft.replace(change.path)


def _remove_if_empty(folder: Path) -> None:
    """Remove `folder` if it contains only compiled files of removed modules."""
    # A folder that holds more, or that was never compiled, cannot be removed, and stays.
    with contextlib.suppress(OSError):
        for leftover in folder.glob("__pycache__/*.pyc"):
            leftover.unlink()
        (folder / "__pycache__").rmdir()
    with contextlib.suppress(OSError):
        folder.rmdir()


def _compared(path: Path, new: bytes | None, *, is_data: bool) -> Change | None:
    old = _read(path)
    if old == new:
        return None
    return Change(
        path=path,
        difference=_difference(old, new),
        old=old or b"",
        new=new or b"",
        is_data=is_data,
    )


def _difference(old: bytes | None, new: bytes | None) -> Difference:
    if old is None:
        return Difference.MISSING
    return Difference.EXTRA if new is None else Difference.CHANGED


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def _is_placeholder(path: Path) -> bool:
    return path.suffix != _DRAFT_SUFFIX and not path.stat().st_size


def _data(folder: Path) -> Iterator[Path]:
    """The data files in `folder`, if it is a generated package."""
    if _is_marked(_read(folder / "__init__.py") or b""):
        for pattern in _DATA:
            yield from folder.glob(pattern)


def _read(path: Path) -> bytes | None:
    """The content of the file. None if there is no file."""
    try:
        return path.read_bytes() if path.is_file() else None
    except OSError as error:
        raise ContractError(f"{path} cannot be read: {error.strerror}") from error


def _text(content: bytes) -> str:
    return content.decode(errors="replace")


def _is_ours(change: Change) -> bool:
    """Whether the generator may replace the file on disk: it is marked, data, a draft or empty."""
    is_draft = change.path.suffix == _DRAFT_SUFFIX
    return change.is_data or is_draft or _is_marked(change.old) or not change.old.strip()


def _is_marked(content: bytes) -> bool:
    return MARK.encode() in content[:_OPENING]
