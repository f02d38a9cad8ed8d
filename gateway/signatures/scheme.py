"""The interface of all signature schemes, and the rules for their secrets."""

import base64
import hmac
import secrets
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, TypeAlias

from msgspec import Struct, StructMeta
from msgspec.structs import replace

from gateway.signatures.received import Received

# Rules for secrets, and new random secrets.

MIN_KEY_BYTES: Final = 24
"""Standard Webhooks requires 24 to 64 bytes. A vendor's shorter secret gets a warning."""
_NEW_KEY_BYTES: Final = 32


class InvalidSecret(ValueError):
    """A secret is invalid. The message says what it must be, and never contains it."""


def checked(key: bytes) -> bytes:
    """`key`. Raises `InvalidSecret` if it is empty. A vendor chooses how long its secrets are."""
    if not key:
        raise InvalidSecret("must not be empty")
    return key


def is_one_of(digests: Sequence[bytes], secret: bytes) -> bool:
    """Whether a secret has one of these SHA-256 digests."""
    # Digests have equal lengths. A comparison of the secrets would reveal their length.
    presented, found = sha256(secret).digest(), False
    for digest in digests:
        found |= hmac.compare_digest(digest, presented)
    return found


def random_text() -> str:
    """32 random bytes in base64."""
    return base64.b64encode(secrets.token_bytes(_NEW_KEY_BYTES)).decode("ascii")


# The interface of all signature schemes. Other code uses it, and depends on no single scheme.

Verify: TypeAlias = Callable[[Received, float], bool]
"""Returns whether a message is authentic, at the current time in seconds since 1970."""


class _AbstractStruct(StructMeta, ABCMeta):
    """A struct that cannot be instantiated while it has abstract members."""


class SignatureScheme(
    Struct,
    frozen=True,
    kw_only=True,
    metaclass=_AbstractStruct,
    tag_field="scheme",
    rename="camel",
    forbid_unknown_fields=True,
):
    """How a sender is authenticated.

    The members of the struct are the members of `authentication` in a contract. Its tag is the
    `scheme`.
    """

    @property
    def name(self) -> str:
        """The name of the scheme in contracts."""
        return str(type(self).__struct_config__.tag)

    @property
    @abstractmethod
    def title(self) -> str:
        """The name of the scheme for people, as plain text."""

    @property
    @abstractmethod
    def headers(self) -> Mapping[str, str]:
        """The header fields with the signature or the credentials, with their meaning in Markdown.

        Empty if `security` describes them.
        """

    @property
    @abstractmethod
    def security(self) -> Mapping[str, Any] | None:
        """The Security Scheme Object of OpenAPI. None if `headers` describe it."""

    @property
    @abstractmethod
    def challenge(self) -> str | None:
        """The authentication scheme for `WWW-Authenticate` (RFC 9110), or None if there is none."""

    @property
    @abstractmethod
    def credential_headers(self) -> frozenset[str]:
        """Lower-case names of the header fields with the signature or the credentials.

        They are never stored.
        """

    @property
    @abstractmethod
    def signed_headers(self) -> frozenset[str]:
        """Lower-case names of the header fields that the signature covers."""

    @property
    def signed_settings(self) -> frozenset[str]:
        """The names of the source's settings that the signature covers."""
        return frozenset()

    @property
    def reads_path(self) -> bool:
        """Whether it reads the rest of the path after the provider's name."""
        return False

    @property
    @abstractmethod
    def secret_form(self) -> str:
        """The required form of a secret, in Markdown."""

    @abstractmethod
    def key_of(self, secret: str) -> bytes:
        """The key of `secret`. Raises `InvalidSecret`, which says what the secret must be."""

    @abstractmethod
    def new_secret(self) -> str:
        """A new secret, of 256 random bits."""

    @abstractmethod
    def spellings(self, secret: str) -> tuple[str, ...]:
        """Every text in which `secret` may occur, so that it can be masked in logs."""

    @abstractmethod
    def id_refusal(self, message_id: str) -> str | None:
        """Why a message may not have this id, or None if it may."""

    def signs_member(self, pointer: str) -> bool:  # noqa: ARG002 - for the schemes that sign members
        """Whether the signature covers what a body has at `pointer`."""
        return True

    def sent_at(self, received: Received) -> float | None:  # noqa: ARG002 - for the schemes with a time
        """When a message says that it was sent, in seconds since 1970. None if it does not."""
        return None

    @abstractmethod
    def signed_content(self, received: Received) -> bytes | None:
        """The bytes that the signature of an authentic message covers. None without a signature."""

    @abstractmethod
    def verifier(self, keys: Sequence[bytes]) -> Verify:
        """The check that a message is from the owner of one of `keys`, and is recent.

        It never raises: a malformed message is not authentic.
        """

    @abstractmethod
    def signed_fields(
        self,
        keys: Sequence[bytes],
        message_id: str,
        timestamp: int,
        body: bytes,
        request: Received | None = None,
    ) -> dict[str, str]:
        """The header fields that authenticate exactly these bytes.

        `timestamp` is in seconds since 1970. `request` has the address and the settings, for the
        schemes that sign them. Raises `InvalidSecret` if the key only verifies, and `ValueError` if
        header fields cannot authenticate a message of this scheme.

        The first key is used. The other keys are used too, if the scheme allows several signatures.
        """

    def authenticated(
        self, keys: Sequence[bytes], received: Received, message_id: str, timestamp: int
    ) -> Received:
        """The request as its sender would send it, with what authenticates it.

        Raises as `signed_fields`.
        """
        fields = self.signed_fields(keys, message_id, timestamp, received.body, received)
        added = [(name.lower().encode(), value.encode()) for name, value in fields.items()]
        return replace(received, fields=[*received.fields, *added])
