"""Answers the requests by which providers ask whether an address is the gateway's."""

import hmac
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

import msgspec
from msgspec import Struct

from gateway.contract.webhook import Challenge
from gateway.errors import MalformedRequest, UnauthenticatedMessage
from gateway.signatures.received import Received

_MAX_TOKEN: Final = 2_000
_ECHOED: Final = "$token"
_ECHOED_HMAC: Final = "$token.hmac"
_JSON: Final = b"application/json"


class ChallengeAnswer(Struct, frozen=True):
    """The answer to a challenge."""

    body: bytes = b""
    content_type: bytes = b"text/plain; charset=utf-8"
    headers: tuple[tuple[bytes, bytes], ...] = ()
    status: int = 200


def is_challenge(challenge: Challenge, received: Received) -> bool:
    """Whether the request is a challenge, by its method and its parts."""
    if received.method != challenge.method:
        return False
    if challenge.when is not None and challenge.when.text(received) != challenge.is_:
        return False
    return challenge.token is None or challenge.token.text(received) is not None


def answer_of(
    challenge: Challenge, received: Received, keys: Sequence[bytes], secrets: Sequence[str]
) -> ChallengeAnswer:
    """The answer. `keys` are the profile's; `secrets` are those that a challenge may present.

    Raises `UnauthenticatedMessage` if it presents none of them, and `MalformedRequest` if its token
    is too long or has control characters.
    """
    if challenge.secret is not None and not _is_one_of(
        secrets, challenge.secret.text(received) or ""
    ):
        raise UnauthenticatedMessage(challenge="Signature")
    token = "" if challenge.token is None else challenge.token.text(received) or ""
    if len(token) > _MAX_TOKEN or not token.isprintable():
        raise MalformedRequest(
            f"The token of a challenge has at most {_MAX_TOKEN} printable characters."
        )
    members = {name: _value(text, token, keys) for name, text in challenge.members}
    if challenge.answer == "json":
        return ChallengeAnswer(msgspec.json.encode(members), _JSON)
    if challenge.answer == "headers":
        return ChallengeAnswer(
            headers=tuple(
                (name.lower().encode("ascii"), value.encode("ascii", "ignore"))
                for name, value in members.items()
            )
        )
    return ChallengeAnswer(token.encode("utf-8", "replace"))


def _value(text: str, token: str, keys: Sequence[bytes]) -> str:
    if text == _ECHOED:
        return token
    if text == _ECHOED_HMAC:
        return hmac.digest(keys[0], token.encode("utf-8", "replace"), "sha256").hex()
    return text


def _is_one_of(secrets: Sequence[str], presented: str) -> bool:
    digest, found = sha256(presented.encode("utf-8", "replace")).digest(), False
    for secret in secrets:
        found |= hmac.compare_digest(sha256(secret.encode()).digest(), digest)
    return found
