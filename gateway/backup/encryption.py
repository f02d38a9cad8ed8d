"""Encrypts a stream with a passphrase. Changed, missing and moved pieces are detected.

The file begins with `MAGIC`, whose last byte is the version of the format, and a salt of 16 bytes.
The key is derived by scrypt (n = 2^17, r = 8, p = 1) from the passphrase and the salt. Pieces of
64 KiB follow, each encrypted with AES-256-GCM (the STREAM construction). The nonce is the number of
the piece and one byte that marks the last piece. The additional data is the header: `MAGIC` and
the salt.
"""

import io
import secrets
from typing import BinaryIO, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from gateway.errors import StoreError

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
