"""What every signature scheme answers. Code that handles a proof asks its scheme and names none."""

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, StructMeta

from gateway.signatures.headers import Fields

Verify: TypeAlias = Callable[[Fields, bytes, float], bool]
"""From header fields, raw body and the time in seconds since 1970 to whether it is authentic."""


class _AbstractStruct(StructMeta, ABCMeta):
    """A struct that cannot be made while it lacks an answer."""


class SignatureScheme(
    Struct,
    frozen=True,
    kw_only=True,
    metaclass=_AbstractStruct,
    tag_field="scheme",
    rename="camel",
    forbid_unknown_fields=True,
):
    """How a sender proves who it is.

    Members of the struct are the members of `proof` in a contract; its tag is the `scheme`.
    """

    @property
    def name(self) -> str:
        """The scheme as contracts name it."""
        return str(type(self).__struct_config__.tag)

    @property
    @abstractmethod
    def title(self) -> str:
        """The scheme as people name it; plain text."""

    @property
    @abstractmethod
    def headers(self) -> Mapping[str, str]:
        """The header fields that a sender shows, with their meaning in Markdown.

        Empty where `security` says it all.
        """

    @property
    @abstractmethod
    def security(self) -> Mapping[str, Any] | None:
        """The Security Scheme Object of OpenAPI; None where `headers` say it all."""

    @property
    @abstractmethod
    def challenge(self) -> str | None:
        """The authentication scheme of `WWW-Authenticate` (RFC 9110); None where it has none."""

    @property
    @abstractmethod
    def proof_headers(self) -> frozenset[str]:
        """Lower-case names of the header fields that are never stored: they hold the proof."""

    @property
    @abstractmethod
    def signed_headers(self) -> frozenset[str]:
        """Lower-case names of the header fields that the proof covers."""

    @property
    @abstractmethod
    def secret_form(self) -> str:
        """What a secret must be, in Markdown."""

    @abstractmethod
    def key_of(self, secret: str) -> bytes:
        """The key that `secret` stands for. Raises `InvalidSecret`, which says what it must be."""

    @abstractmethod
    def new_secret(self) -> str:
        """A fresh secret, of 256 random bits."""

    @abstractmethod
    def spellings(self, secret: str) -> tuple[str, ...]:
        """Every text in which `secret` may show itself, for what masks it."""

    @abstractmethod
    def id_refusal(self, message_id: str) -> str | None:
        """Why no message may have this id; None where one may."""

    @abstractmethod
    def signed_content(self, fields: Fields, body: bytes) -> bytes | None:
        """What the proof of an authentic message covers; None where it covers nothing of it."""

    @abstractmethod
    def verifier(self, keys: Sequence[bytes]) -> Verify:
        """The check whether a message is from the owner of one of `keys`, and is not old.

        It never raises: whatever is malformed is not authentic.
        """

    @abstractmethod
    def signed_fields(
        self, keys: Sequence[bytes], message_id: str, timestamp: int, body: bytes
    ) -> dict[str, str]:
        """The header fields that prove exactly these bytes; `timestamp` is in seconds since 1970.

        Of several keys the first one proves, and the others too where the scheme has room for them.
        """
