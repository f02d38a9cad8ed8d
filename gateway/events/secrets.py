"""Encrypts the secrets of endpoints with AES-256-GCM. Each ciphertext names its key.

Secrets are also the values of header fields that an endpoint has of its own, such as
`Authorization` for its edge: they are stored encrypted, and sent with each delivery.
"""

import base64
import binascii
import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from gateway.contract.event import TRACEPARENT
from gateway.contract.outbound import header_refusal
from gateway.contract.values.pointers import pointer_of
from gateway.errors import ConfigurationError, InvalidArguments, StoreError
from gateway.signatures.registry import DELIVERIES
from gateway.store.records import Endpoint
from gateway.trace_context import TRACESTATE

FILE: Final = "secrets-key"
_VERSION: Final = b"\x01"
"""The version of the format: this byte, the id of the key, the nonce, and the ciphertext."""
_KEY_BYTES: Final = 32
_ID_BYTES: Final = 4
_NONCE_BYTES: Final = 12
_RULE: Final = "must be base64 of 32 bytes, such as `openssl rand -base64 32` prints"
MAX_HEADERS: Final = 10
MAX_VALUE: Final = 2048
"""The most characters of a value. Most servers accept 8 KB of header fields."""
_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")
_VALUE: Final = re.compile(rf"(?! )[\x20-\x7e]{{1,{MAX_VALUE}}}(?<! )")
_SET: Final = frozenset(
    {"user-agent", TRACEPARENT, TRACESTATE}
    | DELIVERIES.signed_headers
    | DELIVERIES.credential_headers
)
"""What the gateway sets, besides the fields of the connection."""
_SET_FAMILIES: Final = ("content-", "webhook-")


class Keyring:
    """Seals secrets with the newest key, and opens secrets that any of its keys sealed."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        """`keys` have 32 bytes each. The newest is the first."""
        self._keys = {_id_of(key): key for key in keys}
        self._newest = _id_of(keys[0])

    def seal(self, secret: str, owner: str) -> bytes:
        """`secret`, encrypted for storage. It can be opened only for the same `owner`."""
        from cryptography.hazmat.primitives.ciphers.aead import (  # noqa: PLC0415 - few need these 6 MB
            AESGCM,
        )

        head = _VERSION + self._newest
        nonce = secrets.token_bytes(_NONCE_BYTES)
        cipher = AESGCM(self._keys[self._newest])
        return head + nonce + cipher.encrypt(nonce, secret.encode(), head + owner.encode())

    def open(self, sealed: bytes, owner: str) -> str:
        """The secret. Raises `StoreError` if its key is missing, or it is changed or of another
        owner."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - as in `seal`
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - as in `seal`

        head, rest = sealed[: 1 + _ID_BYTES], sealed[1 + _ID_BYTES :]
        key = self._keys.get(head[1:]) if head[:1] == _VERSION else None
        if key is None:
            raise StoreError(
                f"the secret of {owner} was sealed with a key that is not configured; "
                "add that key to GATEWAY_SECRETS_KEY"
            )
        nonce, text = rest[:_NONCE_BYTES], rest[_NONCE_BYTES:]
        try:
            return AESGCM(key).decrypt(nonce, text, head + owner.encode()).decode()
        except (InvalidTag, ValueError):
            raise StoreError(f"the secret of {owner} was changed; set a new one") from None

    def is_newest(self, sealed: bytes) -> bool:
        """Whether the newest key sealed this secret."""
        return sealed.startswith(_VERSION + self._newest)


def open_keyring(configured: str | None, folder: Path) -> Keyring:
    """The configured keys (newest first, separated by commas), else those of the file `secrets-key`
    in `folder`.

    If neither exists, a key is created in that file, which only its owner can read. Raises
    `ConfigurationError` for an invalid key, and `StoreError` if the file cannot be used.
    """
    if configured is not None:
        return Keyring(_keys(configured.split(","), "GATEWAY_SECRETS_KEY"))
    path = folder / FILE
    try:
        text = path.read_text("ascii") if path.exists() else _create_key_file(path)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise StoreError(f"{path} cannot be used: {reason}; fix it") from None
    return Keyring(_keys(text.split(), str(path)))


def _create_key_file(path: Path) -> str:
    """Create the file. Returns its content. If two processes start together, both use one key."""
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


def read_headers(given: Mapping[str, str]) -> dict[str, str]:
    """`given` with the names in lower case.

    Raises `InvalidArguments` for a name that the gateway sets itself or that is none, and for a
    value that is not one short line of ASCII. The error does not contain the value.
    """
    if len(given) > MAX_HEADERS:
        detail = f"an endpoint has at most {MAX_HEADERS} headers of its own"
        raise InvalidArguments.at("/headers", "maxProperties", detail)
    found: dict[str, str] = {}
    for name, value in given.items():
        lowered = name.lower()
        if (why := _refusal(name)) is not None:
            raise _refused(name, "propertyNames", why)
        if lowered in found:
            raise _refused(name, "uniqueItems", "is given twice, in different cases")
        if not _VALUE.fullmatch(value):
            why = f"must be 1 to {MAX_VALUE} printable ASCII characters, without blanks around them"
            raise _refused(name, "pattern", why)
        found[lowered] = value
    return found


def seal_headers(
    keyring: Keyring, endpoint_id: str, headers: Mapping[str, str]
) -> dict[str, bytes]:
    """The values of `headers`, encrypted. Each can be opened only under its name."""
    return {name: keyring.seal(value, _owner(endpoint_id, name)) for name, value in headers.items()}


def open_headers(keyring: Keyring, endpoint: Endpoint) -> dict[str, str]:
    """The headers of `endpoint`. Raises `StoreError` as `Keyring.open` does."""
    return {
        name: keyring.open(sealed, _owner(endpoint.id, name))
        for name, sealed in endpoint.headers.items()
    }


def spellings(value: str) -> Iterator[str]:
    """Every text in which the secret of a header may occur in what a receiver writes."""
    yield value
    _scheme, *words = value.split(" ")
    for word in words or [value]:
        yield word
        try:
            decoded = base64.b64decode(word, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        # HTTP Basic (RFC 7617): the user and the password.
        yield decoded
        yield decoded.partition(":")[2]


def _owner(endpoint_id: str, name: str) -> str:
    return f"{endpoint_id}/{name}"


def _refusal(name: str) -> str | None:
    if not _NAME.fullmatch(name):
        return "is not the name of a header field of at most 64 characters"
    lowered = name.lower()
    if lowered in _SET or lowered.startswith(_SET_FAMILIES) or header_refusal(name):
        return "is set by the gateway or belongs to the connection; use another name"
    return None


def _refused(name: str, keyword: str, why: str) -> InvalidArguments:
    shown = "".join(each for each in name[:64] if each.isprintable())
    return InvalidArguments.at(pointer_of(["headers", shown]), keyword, why)
