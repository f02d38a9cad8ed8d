"""A secret that the sender presents as it is: in a header, the address, or the body."""

from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Final

from msgspec.structs import replace

from gateway.signatures.received import (
    Received,
    RequestPlace,
    identity_of,
    parsed,
    value_at,
    with_member,
)
from gateway.signatures.scheme import SignatureScheme, Verify, checked, is_one_of, random_text

_NO_HEADERS: Final[Mapping[str, str]] = {}


class SharedSecret(SignatureScheme, frozen=True, kw_only=True, tag="shared_secret"):
    """A shared secret that each message contains. Nothing is signed.

    Raises `ValueError` if it has no place or more than one.
    """

    header: str | None = None
    query: str | None = None
    path: bool = False
    """The rest of the path: `/webhooks/<provider>/<secret>`."""
    pointer: str | None = None
    """JSON Pointer into the body or, with `each`, into each of its messages."""
    each: str | None = None
    """JSON Pointer to the list of messages in the body. Each must present the secret."""
    prefix: str = ""
    """The text before the secret, such as `Bearer `."""

    title = "shared secret"
    security = None
    challenge = None
    signed_headers = frozenset[str]()

    def __post_init__(self) -> None:
        _ = self._place
        if self.each is not None and self.pointer is None:
            raise ValueError("each needs a pointer")

    @property
    def _place(self) -> RequestPlace:
        return RequestPlace(
            header=self.header, query=self.query, pointer=self.pointer, path=self.path
        )

    @property
    def secret_form(self) -> str:
        """Any text."""
        return "the secret that the sender presents"

    @property
    def reads_path(self) -> bool:
        """Whether the secret is there."""
        return self.path

    @property
    def headers(self) -> Mapping[str, str]:
        """The header, if the secret is in one."""
        if self.header is None:
            return _NO_HEADERS
        prefix = f"`{self.prefix}` and the" if self.prefix else "The"
        return {self.header: f"{prefix} secret that was agreed with the sender."}

    @property
    def credential_headers(self) -> frozenset[str]:
        """The header, if the secret is in one."""
        return frozenset({self.header.lower()} if self.header else ())

    def key_of(self, secret: str) -> bytes:
        """The secret, after its prefix. Raises `InvalidSecret` if it is empty."""
        return self.prefix.encode() + checked(secret.encode())

    def new_secret(self) -> str:
        """A new random text, which an address may contain."""
        return random_text().translate(_IN_ADDRESSES)

    def spellings(self, secret: str) -> tuple[str, ...]:
        """The secret alone."""
        return (secret,)

    def id_refusal(self, message_id: str) -> str | None:  # noqa: ARG002 - the signature of `SignatureScheme`
        """None, because any id is allowed."""
        return None

    def signed_content(self, received: Received) -> bytes | None:  # noqa: ARG002 - the signature of `SignatureScheme`
        """None, because nothing is signed: with the secret, a client can send any message."""
        return None

    def verifier(self, keys: Sequence[bytes]) -> Verify:
        """The check that the request presents one of `keys`."""
        return partial(self._is_authentic, tuple(sha256(key).digest() for key in keys))

    def signed_fields(
        self,
        keys: Sequence[bytes],
        message_id: str,  # noqa: ARG002 - the signature of `SignatureScheme`
        timestamp: int,  # noqa: ARG002 - the signature of `SignatureScheme`
        body: bytes,  # noqa: ARG002 - the signature of `SignatureScheme`
        request: Received | None = None,  # noqa: ARG002 - the signature of `SignatureScheme`
    ) -> dict[str, str]:
        """The header with the secret. Raises `ValueError` if its place is not a header."""
        if self.header is None:
            raise ValueError("the secret is not in a header")
        return {self.header: keys[0].decode()}

    def authenticated(
        self,
        keys: Sequence[bytes],
        received: Received,
        message_id: str,  # noqa: ARG002 - the signature of `SignatureScheme`
        timestamp: int,  # noqa: ARG002 - the signature of `SignatureScheme`
    ) -> Received:
        """See `SignatureScheme`."""
        secret = keys[0].decode()
        if self.each is not None:
            listed = value_at(parsed(received.body), self.each)
            messages = listed if isinstance(listed, list) else []
            for each in messages:
                each[(self.pointer or "").removeprefix("/")] = secret
            return replace(received, body=with_member(received.body, self.each, messages))
        return self._place.with_text(received, secret)

    def _is_authentic(self, digests: Sequence[bytes], received: Received, now: float) -> bool:  # noqa: ARG002 - the signature of `Verify`
        presented = self._presented(received)
        return bool(presented) and all(
            is_one_of(digests, text.encode("utf-8", "surrogatepass")) for text in presented
        )

    def _presented(self, received: Received) -> list[str]:
        """What the request presents: one text or, with `each`, one per message."""
        if self.each is None:
            text = self._place.text(received)
            return [] if text is None else [text]
        messages = value_at(parsed(received.body), self.each)
        if not isinstance(messages, list):
            return []
        found = (identity_of(value_at(each, self.pointer or "")) for each in messages)
        return ["" if text is None else text for text in found]


_IN_ADDRESSES: Final = str.maketrans({"+": "-", "/": "_", "=": ""})
