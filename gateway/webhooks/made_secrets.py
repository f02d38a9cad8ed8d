"""Secrets for sources that are only mocked. They are made once, so that a first start needs no
setup."""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from gateway.contract.webhook import Profile
from gateway.errors import StoreError
from gateway.signatures.secret_rules import MIN_KEY_BYTES, InvalidSecret

FOLDER: Final = "webhook-secrets"
_MAX_BYTES: Final = 4096
"""A private RSA key in base64 has 1,624."""


def made_secret(data: Path, provider: str, profile: Profile) -> str:
    """The secret of this profile in `data`. It is made if it does not exist, with mode 600.

    It is only for a mock of the provider: a real provider does not know this secret. Raises
    `StoreError` when the file cannot be read or written, or contains an invalid secret.
    """
    path = data / FOLDER / f"{provider}-{profile.name}"
    try:
        if not path.exists():
            _write_once(path, profile.authentication.new_secret())
        secret = path.read_text("utf-8")[:_MAX_BYTES].strip()
        _refuse_short(profile.authentication.key_of(secret))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise StoreError(
            f"{path} cannot be used ({reason}); make its folder writable, or remove the file"
        ) from None
    except InvalidSecret as error:
        raise StoreError(
            f"{path} contains an invalid secret, which {error}; remove the file and start the"
            " gateway again, which makes a new secret"
        ) from None
    return secret


def _refuse_short(key: bytes) -> None:
    """The gateway makes no short secret: somebody has edited the file."""
    if len(key) < MIN_KEY_BYTES:
        raise InvalidSecret(f"must have at least {MIN_KEY_BYTES} bytes")


def _write_once(path: Path, secret: str) -> None:
    """Write the file once. If two processes start together, one writes it and both read it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"{secret}\n")
        with suppress(FileExistsError):
            path.hardlink_to(draft)
    finally:
        draft.unlink()
