"""Caches texts by the digest of everything that determines them.

The cache never changes a result. A damaged cache file is ignored, so it may be deleted, truncated
or edited at any time.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

import msgspec

from gateway.contracts.sealed import read_sealed, write_sealed

RENDERINGS: Final = "renderings"
CHECKS: Final = "checks"


class Remember(Protocol):
    """Returns the text that `make` makes from `basis`, from a cache if it is there."""

    def __call__(self, kind: str, basis: str, make: Callable[[], str]) -> str: ...


def uncached(kind: str, basis: str, make: Callable[[], str]) -> str:  # noqa: ARG001 - a `Remember`
    """Calls `make` every time."""
    return make()


class Cache:
    """The cached texts of one file of `.gateway-cache/`. `save` keeps those that this run used."""

    def __init__(self, file: Path, version: str) -> None:
        self._file = file
        self._version = version
        self._found = _read(self._file)
        self._used: dict[str, str] = {}

    def remember(self, kind: str, basis: str, make: Callable[[], str]) -> str:
        """The text that `make` makes from `basis`. `kind` and the version are parts of the key."""
        key = self._key(kind, basis)
        text = self._found.get(key)
        if text is None:
            text = make()
        self._used[key] = text
        return text

    def holds(self, kind: str, basis: str) -> bool:
        """Whether the text is in the cache file, so that `remember` does not call `make`."""
        return self._key(kind, basis) in self._found

    def save(self) -> None:
        """Write the texts that this run used, if they differ from the file."""
        if self._used.keys() != self._found.keys():
            write_sealed(self._file, msgspec.msgpack.encode(self._used))

    def _key(self, kind: str, basis: str) -> str:
        return hashlib.sha256(f"{self._version}\0{kind}\0{basis}".encode()).hexdigest()


def _read(path: Path) -> dict[str, str]:
    try:
        return msgspec.msgpack.decode(read_sealed(path) or b"\x80", type=dict[str, str])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}
