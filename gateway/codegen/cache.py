"""Renderings that need not be made again, by the content they were made from.

A cache is only ever faster, never different: an entry is found by the digest of everything that
decides its text, and is used only while the digest stored with it still proves it whole. The file
may be deleted, truncated or edited at any time.
"""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

import msgspec
from msgspec import Struct

FILE_NAME: Final = "renderings.msgpack"
_IGNORE_ALL: Final = "*\n"


class Remember(Protocol):
    """Gives the text that `make` makes from `basis`, made now or before."""

    def __call__(self, kind: str, basis: str, make: Callable[[], str]) -> str: ...


def make_always(kind: str, basis: str, make: Callable[[], str]) -> str:  # noqa: ARG001  the protocol
    """`Remember` without a memory."""
    return make()


class _Entry(Struct, frozen=True, array_like=True):
    text: str
    proof: bytes


class Cache:
    """The entries of one `.gateway-cache/` folder; `save` keeps those that this run used."""

    def __init__(self, folder: Path, version: str) -> None:
        self._folder = folder
        self._version = version
        self._found = _read(folder / FILE_NAME)
        self._used: dict[str, _Entry] = {}
        self.hits = 0
        self.misses = 0

    def remember(self, kind: str, basis: str, make: Callable[[], str]) -> str:
        """The text made from `basis`; `kind` and the generator's version keep bases apart."""
        key = self._key(kind, basis)
        entry = self._used.get(key) or self._whole(key)
        if entry is None:
            self.misses += 1
            text = make()
            entry = _Entry(text, _proof(key, text))
        else:
            self.hits += 1
        self._used[key] = entry
        return entry.text

    def holds(self, kind: str, basis: str) -> bool:
        """Whether `remember` would not call its `make`."""
        key = self._key(kind, basis)
        return key in self._used or self._whole(key) is not None

    def save(self) -> None:
        """Write the entries that were used. A folder that cannot be written costs time, no more."""
        if self._used.keys() == self._found.keys() and not self.misses:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / ".gitignore").write_text(_IGNORE_ALL, "utf-8")
            _replace(self._folder / FILE_NAME, msgspec.msgpack.encode(self._used))

    def _key(self, kind: str, basis: str) -> str:
        return hashlib.sha256(f"{self._version}\0{kind}\0{basis}".encode()).hexdigest()

    def _whole(self, key: str) -> _Entry | None:
        entry = self._found.get(key)
        return entry if entry is not None and entry.proof == _proof(key, entry.text) else None


def _proof(key: str, text: str) -> bytes:
    return hashlib.sha256(f"{key}\0{text}".encode()).digest()


def _read(path: Path) -> dict[str, _Entry]:
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=dict[str, _Entry])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}


def _replace(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    Path(name).replace(path)
