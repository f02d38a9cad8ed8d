"""What stands inside a backup: named pieces of content, and last a manifest that vouches for them.

An entry is the length of its name (2 bytes) and of its content (8 bytes), both big-endian, the
name, the content. The manifest is the entry with the empty name, and nothing follows it. Nothing is
compressed, so a file can bring no more than its own size.
"""

import struct
from collections.abc import Iterator
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
    """A piece of content, as the manifest knows it."""

    bytes: _Count
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class DatabaseFacts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a backup holds of one database."""

    engine: str
    """`sqlite` or `postgresql`."""
    revisions: dict[str, str]
    """By the table that counts them: the newest one that had been applied."""
    columns: dict[str, list[str]] = {}
    """Of PostgreSQL, by table, in the order of the tables and of the values in each row."""
    sequences: dict[str, dict[str, int]] = {}
    """Of PostgreSQL, by table and column: the next number."""


class Manifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a backup holds, and of which gateway."""

    version: str
    """Of the gateway that wrote it."""
    created_at: str
    databases: dict[str, DatabaseFacts]
    """By what the database is for: `gateway` or `workspace`."""
    entries: dict[str, ArchiveEntry]


class Stream(Protocol):
    """Where the bytes of an archive go."""

    def write(self, data: bytes, /) -> Any:
        """Append `data`."""
        ...


class ArchiveWriter:
    """Puts entries into a stream, and keeps the account for the manifest."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.entries: dict[str, ArchiveEntry] = {}

    def add(self, name: str, content: bytes) -> None:
        """An entry that is in memory already."""
        self._begin(name, len(content))
        self._stream.write(content)
        self.entries[name] = ArchiveEntry(len(content), sha256(content).hexdigest())

    def add_file(self, name: str, file: BinaryIO, size: int) -> None:
        """An entry of the next `size` bytes of `file`.

        Raises `StoreError` when it is shorter, or cannot be read.
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
        """Write the manifest, after which nothing may come."""
        content = msgspec.json.encode(manifest)
        self._stream.write(_SIZES.pack(0, len(content)) + content)

    def _begin(self, name: str, size: int) -> None:
        if name in self.entries or not is_safe(name):
            raise StoreError(f"{name!r} cannot be the name of an entry; rename the file")
        encoded = name.encode()
        self._stream.write(_SIZES.pack(len(encoded), size) + encoded)


class Content:
    """One entry of an archive, to be read once, in blocks."""

    def __init__(self, name: str, size: int, file: BinaryIO) -> None:
        self.name = name
        self.size = size
        self._file = file

    def blocks(self) -> Iterator[bytes]:
        """The content. Raises `StoreError` when the archive ends within it."""
        left = self.size
        while left:
            block = _exactly(self._file, min(left, _BLOCK))
            left -= len(block)
            yield block


class ArchiveReader:
    """Reads entries in order; the `manifest` is there once they have all been read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.manifest: Manifest | None = None

    def entries(self) -> Iterator[Content]:
        """Each entry, to be read before the next. Raises `StoreError` for a name with tricks."""
        seen = set()
        while True:
            name_bytes, size = _SIZES.unpack(_exactly(self._file, _SIZES.size))
            if name_bytes == 0:
                self.manifest = self._read_manifest(size)
                return
            name = _decoded(_exactly(self._file, min(name_bytes, _NAME_BYTES + 1)))
            if name in seen or not is_safe(name):
                raise StoreError(
                    f"the backup holds the entry {name[:200]!r}, which none may have; "
                    "use another backup"
                )
            seen.add(name)
            yield Content(name, size, self._file)

    def _read_manifest(self, size: int) -> Manifest:
        if size > _MANIFEST_BYTES:
            raise StoreError(
                f"the backup's manifest has {size} bytes, at most {_MANIFEST_BYTES} are read; "
                "use another backup"
            )
        text = _exactly(self._file, size)
        if self._file.read(1):
            raise StoreError("the backup continues after its manifest; use another copy")
        try:
            return msgspec.json.decode(text, type=Manifest)
        except msgspec.MsgspecError as error:
            raise StoreError(f"the backup's manifest is not one of this version: {error}") from None


def is_safe(name: str) -> bool:
    """Whether `name` is a relative path that leads nowhere else, in a few plain segments."""
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
