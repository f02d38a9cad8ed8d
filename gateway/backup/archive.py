"""The archive inside a backup, its encryption, and how it is opened and checked."""

import io
import secrets
import struct
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final, Protocol

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from msgspec import Meta, Struct

from gateway.errors import StoreError

# Encrypts a stream with a passphrase. Changed, missing and moved pieces are detected.
#
# The file begins with `MAGIC`, whose last byte is the version of the format, and a salt of 16
# bytes. The key is derived by scrypt (n = 2^17, r = 8, p = 1) from the passphrase and the salt.
# Pieces of 64 KiB follow, each encrypted with AES-256-GCM (the STREAM construction). The nonce is
# the number of the piece and one byte that marks the last piece. The additional data is the
# header: `MAGIC` and the salt.

FORMAT: Final = 1
_NAME: Final = b"contract-gateway backup"
MAGIC: Final = _NAME + bytes([FORMAT])
_SALT_BYTES: Final = 16
_PIECE_BYTES: Final = 64 * 1024
_TAG_BYTES: Final = 16
_COST: Final = 2**17
"""The parameter n of scrypt."""


class EncryptedWriter:
    """Encrypts data and writes it to `file`, which is complete only after `finish`."""

    def __init__(self, file: BinaryIO, passphrase: str) -> None:
        salt = secrets.token_bytes(_SALT_BYTES)
        self._head = MAGIC + salt
        self._cipher = _cipher(passphrase, salt)
        self._file = file
        self._waiting = bytearray()
        self._number = 0
        file.write(self._head)

    def write(self, data: bytes) -> None:
        """Add `data`. Each piece is written when more data follows it."""
        self._waiting += data
        while len(self._waiting) > _PIECE_BYTES:
            self._put(bytes(self._waiting[:_PIECE_BYTES]), is_last=False)
            del self._waiting[:_PIECE_BYTES]

    def finish(self) -> None:
        """Write the last piece, and mark it as the last."""
        self._put(bytes(self._waiting), is_last=True)

    def _put(self, piece: bytes, *, is_last: bool) -> None:
        nonce = _nonce(self._number, is_last=is_last)
        self._file.write(self._cipher.encrypt(nonce, piece, self._head))
        self._number += 1


class EncryptedReader(io.RawIOBase):
    """Decrypts `file`. It never returns data that was changed."""

    def __init__(self, file: io.BufferedReader, passphrase: str, label: str) -> None:
        """Messages call the file `label`. Raises `StoreError` when it is not a backup."""
        self._label = label
        self._file = file
        self._head = file.read(len(MAGIC) + _SALT_BYTES)
        self._refuse_other_formats()
        self._cipher = _cipher(passphrase, self._head[len(MAGIC) :])
        self._decrypted = b""
        self._number = 0
        self._is_ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed's name for it is newer than 3.11
        """See `io.RawIOBase`. Raises `StoreError` for a piece that cannot be decrypted."""
        while not self._decrypted and not self._is_ended:
            self._decrypted = self._next()
        part = self._decrypted[: len(buffer)]
        buffer[: len(part)] = part
        self._decrypted = self._decrypted[len(part) :]
        return len(part)

    def _next(self) -> bytes:
        piece = self._file.read(_PIECE_BYTES + _TAG_BYTES)
        self._is_ended = not self._file.peek(1)
        nonce = _nonce(self._number, is_last=self._is_ended)
        try:
            decrypted = self._cipher.decrypt(nonce, piece, self._head)
        except InvalidTag:
            raise StoreError(self._reason()) from None
        self._number += 1
        return decrypted

    def _reason(self) -> str:
        if self._number == 0:
            return (
                f"{self._label} was encrypted with another passphrase, or changed; "
                "check GATEWAY_BACKUP_PASSPHRASE"
            )
        return f"{self._label} was changed or truncated; use another copy"

    def _refuse_other_formats(self) -> None:
        if not self._head.startswith(_NAME) or len(self._head) < len(MAGIC) + _SALT_BYTES:
            raise StoreError(
                f"{self._label} is not a backup; name a file of `gateway backup create`"
            )
        found = self._head[len(_NAME)]
        if found != FORMAT:
            raise StoreError(
                f"{self._label} has format {found}, and this version reads format {FORMAT}; "
                "install the version that wrote it"
            )


def is_backup(head: bytes) -> bool:
    """Whether a file that begins with `head` is a backup, of any format."""
    return head.startswith(_NAME)


def _cipher(passphrase: str, salt: bytes) -> AESGCM:
    # The cost is a constant of the format: a file must not choose how much memory its reader uses.
    derivation = Scrypt(salt=salt, length=32, n=_COST, r=8, p=1)
    return AESGCM(derivation.derive(passphrase.encode()))


def _nonce(number: int, *, is_last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([is_last])


# The archive inside a backup: named entries, and at the end a manifest with their digests.
#
# An entry is the length of its name (2 bytes, big-endian), the length of its content (8 bytes,
# big-endian), the name, and the content. The manifest is the last entry and has an empty name.
# Nothing is compressed, so the contents are not larger than the file.

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


# Opens backups, and checks them against their manifests.


@contextmanager
def open_archive(path: Path, passphrase: str) -> Iterator[ArchiveReader]:
    """Open the archive in the backup `path`. Raises `StoreError`."""
    try:
        with path.open("rb") as file:
            reader = EncryptedReader(file, passphrase, str(path))
            yield ArchiveReader(io.BufferedReader(reader))
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror}); name another file") from None


def verify(path: Path, passphrase: str, report: Callable[[str], None]) -> Manifest:
    """Read the whole backup and return its manifest.

    Raises `StoreError` when an entry differs from the manifest.
    """
    with open_archive(path, passphrase) as archive:
        found = {}
        for content in archive.entries():
            report(content.name)
            digest = sha256()
            for block in content.blocks():
                digest.update(block)
            found[content.name] = ArchiveEntry(content.size, digest.hexdigest())
        manifest = archive.manifest
    if manifest is None or manifest.entries != found:
        listed = {} if manifest is None else manifest.entries
        name = next((n for n in {**listed, **found} if listed.get(n) != found.get(n)), "manifest")
        raise StoreError(f"{path}: {name} does not match the manifest; use another copy")
    return manifest
