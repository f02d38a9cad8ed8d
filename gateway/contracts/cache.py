"""Texts that need not be made again, by the content they were made from.

A cache is only ever faster, never different: an entry is found by the digest of everything that
decides its text, and the file is used only while it proves to be whole. It may be deleted,
truncated or edited at any time.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

import msgspec

from gateway.contracts.sealed import read_sealed, write_sealed

RENDERINGS: Final = "renderings"
VERDICTS: Final = "verdicts"


class Remember(Protocol):
    """Gives the text that `make` makes from `basis`, made now or before."""

    def __call__(self, kind: str, basis: str, make: Callable[[], str]) -> str: ...


def afresh(kind: str, basis: str, make: Callable[[], str]) -> str:  # noqa: ARG001 - is a `Remember`
    """Remembers nothing."""
    return make()


class Cache:
    """The texts of one file of `.gateway-cache/`; `save` keeps those that this run used."""

    def __init__(self, file: Path, version: str) -> None:
        self._file = file
        self._version = version
        self._found = _read(self._file)
        self._used: dict[str, str] = {}

    def remember(self, kind: str, basis: str, make: Callable[[], str]) -> str:
        """The text made from `basis`; `kind` and the generator's version keep bases apart."""
        key = self._key(kind, basis)
        text = self._found.get(key)
        if text is None:
            text = make()
        self._used[key] = text
        return text

    def holds(self, kind: str, basis: str) -> bool:
        """Whether `remember` would not call its `make`."""
        return self._key(kind, basis) in self._found

    def save(self) -> None:
        """Write the texts that were used, when they are not what the file holds already."""
        if self._used.keys() != self._found.keys():
            write_sealed(self._file, msgspec.msgpack.encode(self._used))

    def _key(self, kind: str, basis: str) -> str:
        return hashlib.sha256(f"{self._version}\0{kind}\0{basis}".encode()).hexdigest()


def _read(path: Path) -> dict[str, str]:
    try:
        return msgspec.msgpack.decode(read_sealed(path) or b"\x80", type=dict[str, str])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}
