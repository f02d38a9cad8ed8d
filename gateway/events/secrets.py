"""Endpoints' signing secrets at rest: AES-256-GCM, each ciphertext naming the key that opens it."""

import base64
import binascii
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from gateway.errors import ConfigurationError, StoreError

FILE: Final = "secrets-key"
_FORM: Final = b"\x01"
_KEY_BYTES: Final = 32
_ID_BYTES: Final = 4
_NONCE_BYTES: Final = 12
_RULE: Final = "must be base64 of 32 bytes, such as `openssl rand -base64 32` prints"


class Keyring:
    """Seals secrets with the newest key, and opens what any of its keys has sealed."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        """`keys`, newest first, have 32 bytes each."""
        self._keys = {_id_of(key): key for key in keys}
        self._newest = _id_of(keys[0])

    def seal(self, secret: str, owner: str) -> bytes:
        """`secret` as it may be stored, to be opened for the same `owner` only."""
        from cryptography.hazmat.primitives.ciphers.aead import (  # noqa: PLC0415 - 6 MB that most do without
            AESGCM,
        )

        head = _FORM + self._newest
        nonce = secrets.token_bytes(_NONCE_BYTES)
        cipher = AESGCM(self._keys[self._newest])
        return head + nonce + cipher.encrypt(nonce, secret.encode(), head + owner.encode())

    def open(self, sealed: bytes, owner: str) -> str:
        """The secret. Raises `StoreError` where its key is missing, or it is another owner's."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - as in `seal`
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - as in `seal`

        head, rest = sealed[: 1 + _ID_BYTES], sealed[1 + _ID_BYTES :]
        key = self._keys.get(head[1:]) if head[:1] == _FORM else None
        if key is None:
            raise StoreError(
                f"the secret of {owner} was sealed with a key that is not here; "
                "add that key to GATEWAY_SECRETS_KEY"
            )
        nonce, text = rest[:_NONCE_BYTES], rest[_NONCE_BYTES:]
        try:
            return AESGCM(key).decrypt(nonce, text, head + owner.encode()).decode()
        except (InvalidTag, ValueError):
            raise StoreError(f"the secret of {owner} was changed; rotate it") from None

    def is_newest(self, sealed: bytes) -> bool:
        """Whether the newest key has sealed it."""
        return sealed.startswith(_FORM + self._newest)


def open_keyring(configured: str | None, folder: Path) -> Keyring:
    """The keys that are configured (newest first, separated by commas), else those of the folder.

    Without either one is made, in the file `secrets-key` of `folder`, for its owner only to read.
    Raises `ConfigurationError` for a key that is none, `StoreError` for a file that cannot be used.
    """
    if configured is not None:
        return Keyring(_keys(configured.split(","), "GATEWAY_SECRETS_KEY"))
    path = folder / FILE
    try:
        text = path.read_text("ascii") if path.exists() else _made(path)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise StoreError(f"{path} cannot be used: {reason}; fix it") from None
    return Keyring(_keys(text.split(), str(path)))


def _made(path: Path) -> str:
    """What the file holds once it is there: of two processes that begin at once, one makes it."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(6)}")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(base64.b64encode(secrets.token_bytes(_KEY_BYTES)) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            path.hardlink_to(draft)
    finally:
        draft.unlink()
    return path.read_text("ascii")


def _keys(texts: Sequence[str], origin: str) -> list[bytes]:
    try:
        keys = [base64.b64decode(text.strip(), validate=True) for text in texts]
    except (binascii.Error, ValueError):
        keys = []
    if not keys or any(len(key) != _KEY_BYTES for key in keys):
        raise ConfigurationError(f"{origin}: {_RULE}; several are separated, the newest first")
    return keys


def _id_of(key: bytes) -> bytes:
    return sha256(b"gateway key id\x00" + key).digest()[:_ID_BYTES]
