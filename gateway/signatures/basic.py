"""HTTP Basic (RFC 7617) for senders that do not sign."""

import base64
import re
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, Final

from gateway.signatures.received import Received, only_value
from gateway.signatures.scheme import InvalidSecret, SignatureScheme, Verify, is_one_of, random_text

AUTHORIZATION: Final = "authorization"
_MIN_PASSWORD: Final = 16
_PASSWORD: Final = f"the password of at least {_MIN_PASSWORD} characters"
_RULE: Final = f"must be <user>:<password>, {_PASSWORD}"
_SECURITY: Final[Mapping[str, Any]] = {
    "type": "http",
    "scheme": "basic",
    "description": "The user and the password that the operator has agreed with the sender.",
}
_NO_HEADERS: Final[Mapping[str, str]] = {}
_BASIC: Final = re.compile(rb"basic +([A-Za-z0-9+/]{1,1024}={0,2})", re.IGNORECASE)


class BasicCredentials(SignatureScheme, frozen=True, kw_only=True, tag="basic"):
    """HTTP Basic (RFC 7617); the secret is `<user>:<password>`. Nothing is signed."""

    title = "HTTP Basic"
    headers = _NO_HEADERS
    security = _SECURITY
    challenge = "Basic"
    credential_headers = frozenset({AUTHORIZATION})
    signed_headers = frozenset[str]()
    secret_form = f"`<user>:<password>`, {_PASSWORD}"

    def key_of(self, secret: str) -> bytes:
        """The encoded `<user>:<password>`, as a sender presents it. Raises `InvalidSecret`."""
        user, _, password = secret.partition(":")
        if not user or len(password) < _MIN_PASSWORD or not secret.isprintable():
            raise InvalidSecret(_RULE)
        return base64.b64encode(secret.encode("utf-8"))

    def new_secret(self) -> str:
        """A new random password for the user `gateway`."""
        return f"gateway:{random_text()}"

    def spellings(self, secret: str) -> tuple[str, ...]:
        """The secret, its password, and its encoded form."""
        encoded = base64.b64encode(secret.encode("utf-8")).decode("ascii")
        return secret, secret.partition(":")[2], encoded

    def id_refusal(self, message_id: str) -> str | None:  # noqa: ARG002 - the signature of `SignatureScheme`
        """None, because any id is allowed."""
        return None

    def signed_content(self, received: Received) -> bytes | None:  # noqa: ARG002 - the signature of `SignatureScheme`
        """None, because nothing is signed: with the credentials, a client can send any message."""
        return None

    def verifier(self, keys: Sequence[bytes]) -> Verify:
        """The check that the request has the credentials of one of `keys`."""
        return partial(_is_authentic, tuple(sha256(key).digest() for key in keys))

    def signed_fields(
        self,
        keys: Sequence[bytes],
        message_id: str,  # noqa: ARG002 - the signature of `SignatureScheme`
        timestamp: int,  # noqa: ARG002 - the signature of `SignatureScheme`
        body: bytes,  # noqa: ARG002 - the signature of `SignatureScheme`
        request: Received | None = None,  # noqa: ARG002 - the signature of `SignatureScheme`
    ) -> dict[str, str]:
        """The header field with the credentials."""
        return {AUTHORIZATION: f"Basic {keys[0].decode('ascii')}"}


def _is_authentic(digests: Sequence[bytes], received: Received, _now: float) -> bool:
    match = _BASIC.fullmatch(only_value(received.fields, AUTHORIZATION) or b"")
    if match is None:
        return False
    return is_one_of(digests, match[1])
