"""The proof that a contract asks for, whichever it is."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from gateway.contract.webhook import (
    BasicCredentials,
    HmacSignature,
    Profile,
    Proof,
    StandardSignature,
)
from gateway.signatures import basic, hmac_header, standard
from gateway.signatures.headers import Fields

Verify: TypeAlias = Callable[[Fields, bytes, float], bool]
"""From header fields, raw body and the time in seconds since 1970 to whether it is genuine."""


def key_of(proof: Proof, secret: str) -> bytes:
    """The key that `secret` stands for. Raises `UnfitSecret`, which says what it must be."""
    match proof:
        case StandardSignature():
            return standard.key_of(secret)
        case HmacSignature():
            return hmac_header.key_of(secret)
        case BasicCredentials():
            return basic.key_of(secret)


def new_secret(proof: Proof) -> str:
    """A fresh secret of the form that `proof` asks for."""
    secret = standard.new_secret()
    return f"gateway:{secret}" if isinstance(proof, BasicCredentials) else secret


def verifier_of(proof: Proof, keys: Sequence[bytes]) -> Verify:
    """What tells whether a message is from the owner of one of `keys`; it never raises."""
    match proof:
        case StandardSignature(tolerance_seconds=tolerance):
            return partial(_verify_standard, tuple(keys), tolerance)
        case HmacSignature():
            return partial(hmac_header.is_genuine, proof, tuple(keys))
        case BasicCredentials():
            return partial(_verify_basic, tuple(keys))


def replayable(profile: Profile, fields: Fields, body: bytes) -> bytes | None:
    """The bytes that the proof covers, where the message's id is not among them; else None.

    Whoever has seen such a message can send it again under another id, with the same proof: it is
    these bytes by which it is known. An id in the body is covered by every signature; a header is
    covered only where the scheme says so. HTTP Basic covers nothing.
    """
    place = profile.message_id
    if place is not None and place.pointer is not None:
        return None
    match profile.proof:
        case HmacSignature() as rule:
            return hmac_header.signed_content(rule, fields, body)
        case StandardSignature() if place is None or place.header != standard.ID:
            return standard.signed_content(fields, body)
        case _:
            return None


def proven_fields(
    proof: Proof, key: bytes, message_id: str, timestamp: int, body: bytes
) -> dict[str, str]:
    """The header fields by which a sender proves itself: what `verifier_of` takes for genuine."""
    match proof:
        case StandardSignature():
            return standard.signed_fields([key], message_id, timestamp, body)
        case HmacSignature():
            return hmac_header.signed_fields(proof, key, timestamp, body)
        case BasicCredentials():
            return basic.signed_fields(key)


def _verify_standard(
    keys: Sequence[bytes], tolerance_seconds: int, fields: Fields, body: bytes, now: float
) -> bool:
    return standard.is_genuine(keys, fields, body, now, tolerance_seconds)


def _verify_basic(keys: Sequence[bytes], fields: Fields, _body: bytes, _now: float) -> bool:
    return basic.is_genuine(keys, fields)
