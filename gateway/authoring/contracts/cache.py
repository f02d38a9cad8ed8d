"""Caches texts by the digest of everything that determines them, in files with a checksum."""

import contextlib
import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

import msgspec

# Files with a checksum: the SHA-256 digest of the content, then the content.
#
# They hold caches, which may be lost, but must not be used when they are damaged.

_DIGEST_BYTES: Final = 32
_IGNORE_ALL: Final = "*\n"


def read_sealed(path: Path) -> bytes | None:
    """The content that `write_sealed` wrote. None if the file is missing or damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, payload = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return payload if hashlib.sha256(payload).digest() == digest else None


def write_sealed(path: Path, payload: bytes) -> None:
    """Replace `path` atomically. A `.gitignore` keeps its folder out of version control.

    Does nothing if the folder cannot be written, because caches are optional.
    """
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / ".gitignore").write_text(_IGNORE_ALL, "utf-8")
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            draft = Path(folder) / path.name
            draft.write_bytes(hashlib.sha256(payload).digest() + payload)
            draft.replace(path)


# Caches texts by the digest of everything that determines them.
#
# The cache never changes a result. A damaged cache file is ignored, so it may be deleted, truncated
# or edited at any time.

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
