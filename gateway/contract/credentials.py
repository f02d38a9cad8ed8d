"""Keys, certificates, key files, token grants and scopes, as settings and contracts write them."""

import re
import ssl
import tempfile
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from gateway.contract.upstream import TokenGrant, TokenRule

# The form of a key, which is sent as `Authorization: Bearer <key>` (RFC 6750 §2.1, b64token).

TOKEN: Final = r"[A-Za-z0-9._~+/-]+=*"  # noqa: S105 - the form of a token
LENGTHS: Final = range(16, 513)
RULE: Final = "16 to 512 characters, all of them letters, digits or -._~+/ (and = at the end)"
"""The form in words, for error messages."""

MIN_LENGTH: Final = 20
MIN_DISTINCT: Final = 8
CHOSEN_RULE: Final = (
    f"{MIN_LENGTH} to {LENGTHS[-1]} characters, all of them letters, digits or -._~+/ (and = at the"
    f" end), at least {MIN_DISTINCT} different ones, and no simple pattern"
)
"""What a key must be that an operator chooses, in words."""

_is_token: Final = re.compile(TOKEN).fullmatch


def is_key(text: str) -> bool:
    """Whether a request can carry `text` as its key."""
    return len(text) in LENGTHS and _is_token(text) is not None


# The certificate of a client for mutual TLS (RFC 8446 §4.4.2), as PEM text (RFC 7468).


class NotACertificate(ValueError):
    """The texts are not a certificate and its key. The message never repeats any of them."""


def load_client_certificate(context: ssl.SSLContext, certificate: str, key: str) -> None:
    """Present the certificate on the connections of `context`. Raises `NotACertificate`."""
    try:
        # The library reads files only. This one can be read by this user only, and is removed.
        with tempfile.NamedTemporaryFile(mode="w", prefix="gateway-", encoding="utf-8") as file:
            file.write(f"{certificate}\n{key}\n")
            file.flush()
            context.load_cert_chain(file.name, password=_none)
    except ssl.SSLError as error:
        raise NotACertificate(_reason(error)) from None
    except OSError as error:
        reason = f"cannot be read ({error.strerror}); make the folder for temporary files writable"
        raise NotACertificate(reason) from None


def _none() -> str:
    """The password of the key. Without this, the library asks for it at the terminal."""
    return ""


def _reason(error: ssl.SSLError) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return "do not belong together; use the key that the certificate was issued for"
    return "are not a certificate and its key in PEM without a password; convert them"


# The credentials that are needed to get an access token.

GRANT_CREDENTIALS: Final[Mapping[TokenGrant, tuple[str, ...]]] = {
    "refresh_token": ("client_id", "client_secret", "refresh_token"),
    "client_credentials": ("client_id", "client_secret"),
    "jwt_bearer": ("service_account_key",),
}
"""The credentials that each grant needs."""


def usable_rule(rules: Sequence[TokenRule], given: Collection[str]) -> TokenRule | None:
    """The first rule whose credentials are all in `given`, or None."""
    return next((rule for rule in rules if not missing_for(rule, given)), None)


def missing_for(rule: TokenRule, given: Collection[str]) -> tuple[str, ...]:
    """The credentials that `rule` needs and that are not in `given`."""
    return tuple(name for name in GRANT_CREDENTIALS[rule.grant] if name not in given)


# The key file of a Google service account: the members that a JWT assertion needs.

_Text = Annotated[str, Meta(min_length=1)]


class NotAKeyFile(ValueError):
    """The text is not a service account's key file. The message never repeats any of the text."""


class KeyFile(Struct, frozen=True, kw_only=True):
    """A service account and its private key."""

    client_email: _Text
    private_key: _Text
    """PEM."""
    token_uri: _Text
    private_key_id: str = ""

    def __repr__(self) -> str:
        return "KeyFile(***)"


def read_key_file(text: str) -> KeyFile:
    """The key file in `text`. Raises `NotAKeyFile`."""
    try:
        return msgspec.json.decode(text, type=KeyFile)
    except msgspec.ValidationError:
        members = ", ".join(KeyFile.__struct_fields__[:3])
        raise NotAKeyFile(f"is not a service account's key file: it needs {members}") from None
    except (msgspec.DecodeError, UnicodeError):
        raise NotAKeyFile("is not JSON: give the complete key file") from None


# The scopes: what `schemas/policies/` may grant an agent besides tools.

EVENTS: Final = "gateway.events"
"""Allows to follow the events that the gateway publishes."""
OPERATE: Final = "gateway.operate"
"""Allows to see and redrive webhooks and dead letters, and to manage endpoints."""

SCOPES: Final = frozenset({EVENTS, OPERATE})
