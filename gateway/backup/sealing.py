"""A stream that only its passphrase opens, in pieces that cannot be changed, cut off or moved.

The file begins with MAGIC (its last byte is the version of the form) and a salt of 16 bytes. The
key is scrypt's (n = 2^17, r = 8, p = 1) of the passphrase and the salt. Pieces of 64 KiB follow,
each sealed with AES-256-GCM: the nonce is the piece's number and one byte that marks the last one,
and the head of the file is authenticated with each (the STREAM construction).
"""

import io
import secrets
from typing import BinaryIO, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from gateway.errors import StoreError

FORM: Final = 1
_NAME: Final = b"contract-gateway backup"
MAGIC: Final = _NAME + bytes([FORM])
_SALT_BYTES: Final = 16
_PIECE_BYTES: Final = 64 * 1024
_TAG_BYTES: Final = 16
_COST: Final = 2**17


class Sealed:
    """Writes what it is given into `file`, sealed; whole only after `finish`."""

    def __init__(self, file: BinaryIO, passphrase: str) -> None:
        salt = secrets.token_bytes(_SALT_BYTES)
        self._head = MAGIC + salt
        self._cipher = _cipher(passphrase, salt)
        self._file = file
        self._waiting = bytearray()
        self._number = 0
        file.write(self._head)

    def write(self, data: bytes) -> None:
        """Seal `data` as soon as there is more than a piece of it."""
        self._waiting += data
        while len(self._waiting) > _PIECE_BYTES:
            self._put(bytes(self._waiting[:_PIECE_BYTES]), is_last=False)
            del self._waiting[:_PIECE_BYTES]

    def finish(self) -> None:
        """Write the last piece, which says that it is the last."""
        self._put(bytes(self._waiting), is_last=True)

    def _put(self, piece: bytes, *, is_last: bool) -> None:
        nonce = _nonce(self._number, is_last=is_last)
        self._file.write(self._cipher.encrypt(nonce, piece, self._head))
        self._number += 1


class Unsealed(io.RawIOBase):
    """Reads what was sealed into `file`, and nothing that was changed since."""

    def __init__(self, file: io.BufferedReader, passphrase: str, place: str) -> None:
        """Raises `StoreError`, which names the `place`, when the file is no backup."""
        self._place = place
        self._file = file
        self._head = file.read(len(MAGIC) + _SALT_BYTES)
        self._refuse_other_forms()
        self._cipher = _cipher(passphrase, self._head[len(MAGIC) :])
        self._open = b""
        self._number = 0
        self._is_ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed's name for it is newer than 3.11
        """Raises `StoreError` for a piece that the passphrase does not open."""
        while not self._open and not self._is_ended:
            self._open = self._next()
        taken = self._open[: len(buffer)]
        buffer[: len(taken)] = taken
        self._open = self._open[len(taken) :]
        return len(taken)

    def _next(self) -> bytes:
        piece = self._file.read(_PIECE_BYTES + _TAG_BYTES)
        self._is_ended = not self._file.peek(1)
        nonce = _nonce(self._number, is_last=self._is_ended)
        try:
            opened = self._cipher.decrypt(nonce, piece, self._head)
        except InvalidTag:
            raise StoreError(self._reason()) from None
        self._number += 1
        return opened

    def _reason(self) -> str:
        if self._number == 0:
            return (
                f"{self._place} was sealed with another passphrase, or changed; "
                "check GATEWAY_BACKUP_PASSPHRASE"
            )
        return f"{self._place} was changed or truncated; use another copy"

    def _refuse_other_forms(self) -> None:
        if not self._head.startswith(_NAME) or len(self._head) < len(MAGIC) + _SALT_BYTES:
            raise StoreError(
                f"{self._place} is not a backup; name a file of `gateway backup create`"
            )
        form = self._head[len(_NAME)]
        if form != FORM:
            raise StoreError(
                f"{self._place} has form {form}, and this version reads form {FORM}; "
                "install the version that wrote it"
            )


def is_backup(head: bytes) -> bool:
    """Whether a file that begins like this is a backup, of whichever form."""
    return head.startswith(_NAME)


def _cipher(passphrase: str, salt: bytes) -> AESGCM:
    # The costs belong to the form: a file must not choose how much memory its reader takes.
    derivation = Scrypt(salt=salt, length=32, n=_COST, r=8, p=1)
    return AESGCM(derivation.derive(passphrase.encode()))


def _nonce(number: int, *, is_last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([is_last])
