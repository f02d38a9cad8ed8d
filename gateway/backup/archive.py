"""The archive inside a backup: named entries, and at the end a manifest with their digests.

An entry is the length of its name (2 bytes, big-endian), the length of its content (8 bytes,
big-endian), the name, and the content. The manifest is the last entry and has an empty name.
Nothing is compressed, so the contents are not larger than the file.
"""

import struct
from collections.abc import AsyncIterator, Iterator
from hashlib import sha256
from typing import Annotated, Any, BinaryIO, Final, Protocol

import msgspec
from msgspec import Meta, Struct

from gateway.errors import StoreError

_SIZES: Final = struct.Struct(">HQ")
_MANIFEST_BYTES: Final = 64 * 1024 * 1024
_NAME_BYTES: Final = 1024
_DEPTH: Final = 10
_BLOCK: Final = 1024 * 1024

_Count = Annotated[int, Meta(ge=0)]


class ArchiveEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """The size and the digest of one entry, in the manifest."""

    bytes: _Count
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class DatabaseFacts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One database in a backup."""

    engine: str
    """`sqlite` or `postgresql`."""
    revisions: dict[str, str]
    """The applied revision by version table."""
    columns: dict[str, list[str]] = {}
    """The columns by table, in the order of the tables and of each row's values (PostgreSQL)."""
    sequences: dict[str, dict[str, int]] = {}
    """The next number by table and column (PostgreSQL)."""


class Manifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The description of a backup's contents."""

    version: str
    """The version of the gateway that wrote the backup."""
    created_at: str
    databases: dict[str, DatabaseFacts]
    """By name: `gateway` or `workspace`."""
    entries: dict[str, ArchiveEntry]


class Stream(Protocol):
    """A stream to which an archive is written."""

    def write(self, data: bytes, /) -> Any:
        """Append `data`."""
        ...


class ArchiveWriter:
    """Writes entries into a stream, and collects them for the manifest."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.entries: dict[str, ArchiveEntry] = {}

    def add(self, name: str, content: bytes) -> None:
        """Write an entry. Raises `StoreError` for an invalid name."""
        self._begin(name, len(content))
        self._stream.write(content)
        self.entries[name] = ArchiveEntry(len(content), sha256(content).hexdigest())

    def add_file(self, name: str, file: BinaryIO, size: int) -> None:
        """Write an entry with the next `size` bytes of `file`.

        Raises `StoreError` for an invalid name, and when the file is shorter or cannot be read.
        """
        self._begin(name, size)
        digest = sha256()
        left = size
        while left:
            try:
                block = file.read(min(left, _BLOCK))
            except OSError as error:
                raise StoreError(f"{name} cannot be read ({error.strerror}); try again") from None
            if not block:
                raise StoreError(f"{name} became shorter while it was read; try again")
            digest.update(block)
            self._stream.write(block)
            left -= len(block)
        self.entries[name] = ArchiveEntry(size, digest.hexdigest())

    def finish(self, manifest: Manifest) -> None:
        """Write the manifest. It must be the last entry."""
        content = msgspec.json.encode(manifest)
        self._stream.write(_SIZES.pack(0, len(content)) + content)

    def _begin(self, name: str, size: int) -> None:
        if name in self.entries or not is_safe(name):
            raise StoreError(f"{name!r} cannot be the name of an entry; rename the file")
        encoded = name.encode()
        self._stream.write(_SIZES.pack(len(encoded), size) + encoded)


class Content:
    """One entry of an archive. Its content can be read once."""

    def __init__(self, name: str, size: int, file: BinaryIO) -> None:
        self.name = name
        self.size = size
        self._file = file

    def blocks(self) -> Iterator[bytes]:
        """The content in blocks. Raises `StoreError` when the archive ends within it."""
        left = self.size
        while left:
            block = _exactly(self._file, min(left, _BLOCK))
            left -= len(block)
            yield block


class ArchiveReader:
    """Reads entries in order. The `manifest` is set when all of them have been read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.manifest: Manifest | None = None

    def entries(self) -> Iterator[Content]:
        """The entries. Read each one before the next. Raises `StoreError` for an unsafe name."""
        seen = set()
        while True:
            name_bytes, size = _SIZES.unpack(_exactly(self._file, _SIZES.size))
            if name_bytes == 0:
                self.manifest = self._read_manifest(size)
                return
            name = _decoded(_exactly(self._file, min(name_bytes, _NAME_BYTES + 1)))
            if name in seen or not is_safe(name):
                raise StoreError(
                    f"the backup contains the entry {name[:200]!r}, whose name is not allowed; "
                    "use another backup"
                )
            seen.add(name)
            yield Content(name, size, self._file)

    def _read_manifest(self, size: int) -> Manifest:
        if size > _MANIFEST_BYTES:
            raise StoreError(
                f"the backup's manifest has {size} bytes, more than {_MANIFEST_BYTES}; "
                "use another backup"
            )
        text = _exactly(self._file, size)
        if self._file.read(1):
            raise StoreError("the backup continues after its manifest; use another copy")
        try:
            return msgspec.json.decode(text, type=Manifest)
        except msgspec.MsgspecError as error:
            raise StoreError(
                f"this version cannot read the backup's manifest ({error}); install the version "
                "that wrote it"
            ) from None


def is_safe(name: str) -> bool:
    """Whether `name` is a relative path that stays in its folder, with few, printable segments."""
    segments = name.split("/")
    return (
        len(name.encode("utf-8", "replace")) <= _NAME_BYTES
        and len(segments) <= _DEPTH
        and name.isprintable()
        and "\\" not in name
        and not any(segment in {"", ".", ".."} for segment in segments)
    )


def _exactly(file: BinaryIO, size: int) -> bytes:
    found = file.read(size)
    if len(found) != size:
        raise StoreError("the backup ends in the middle of an entry; use another copy")
    return found


def _decoded(name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError:
        return repr(name)


class Contents:
    """The entries of an archive, with a lookahead of one."""

    def __init__(self, entries: Iterator[Content]) -> None:
        self._entries = entries
        self._waiting: Content | None = None

    def next(self) -> Content | None:
        """The next entry, or None after the last one."""
        waiting, self._waiting = self._waiting, None
        return waiting or next(self._entries, None)

    async def joined(self, first: Content, prefix: str) -> AsyncIterator[bytes]:
        """The blocks of `first` and of the following entries whose names begin with `prefix`."""
        content: Content | None = first
        while content is not None and content.name.startswith(prefix):
            for block in content.blocks():
                yield block
            content = self.next()
        self._waiting = content
