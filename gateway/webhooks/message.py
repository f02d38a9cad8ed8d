"""Reads the id, the type and the payload of an authentic message."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final
from uuid import uuid4

from msgspec import Struct

from gateway.contract.values import jsontext
from gateway.contract.values.pointers import NoSuchPlace, follow
from gateway.contract.webhook import MessagePart, Profile
from gateway.errors import MalformedRequest
from gateway.signatures.headers import Fields, only_value
from gateway.store.records import Mismatch
from gateway.webhooks.payload_validator import refusal_at

MAX_ID: Final = 200
MAX_EVENT_TYPE: Final = 200
_NUL_ESCAPED: Final = b"\\u0000"


class Message(Struct, frozen=True, kw_only=True):
    """An authentic message, read."""

    payload: Any
    id: str
    event_type: str
    """The type, cut to `MAX_EVENT_TYPE`. Empty if the message has none."""
    refusals: tuple[Mismatch, ...]
    """Required parts that the message lacks, such as its id."""


def read_message(profile: Profile, fields: Fields, body: bytes) -> Message:
    """Read a message that is authentic by `profile`.

    Raises `MalformedRequest` if it is not strict JSON, has a NUL character (which PostgreSQL cannot
    store), or has an invalid id.
    """
    payload = _payload(body)
    event_type = _text_at(profile.event_type, payload, fields)
    message_id, refusals = _identify(profile, payload, fields, body)
    return Message(
        payload=payload,
        id=message_id,
        event_type=(event_type or "")[:MAX_EVENT_TYPE],
        refusals=refusals,
    )


def replayable(profile: Profile, fields: Fields, body: bytes) -> bytes | None:
    """The signed bytes, if they do not include the message's id; else None.

    Anyone who has seen such a message can send it again under another id with the same signature.
    So these bytes identify it. Every signature covers an id in the body. A header is covered only
    if the scheme defines this.
    """
    place = profile.message_id
    if place is not None and (
        place.header is None or place.header in profile.authentication.signed_headers
    ):
        return None
    return profile.authentication.signed_content(fields, body)


def _payload(body: bytes) -> Any:
    try:
        payload = jsontext.decode(body, jsontext.REQUEST)
    except jsontext.NotJson as error:
        raise MalformedRequest(f"The body is not valid JSON: {error}.") from None
    if _NUL_ESCAPED in body and any("\0" in text for text in _texts(payload)):
        raise MalformedRequest("The body holds a NUL character, which cannot be stored.")
    return payload


def _identify(
    profile: Profile, payload: Any, fields: Fields, body: bytes
) -> tuple[str, tuple[Mismatch, ...]]:
    place = profile.message_id
    if place is None:
        return uuid4().hex, ()
    found = _text_at(place, payload, fields)
    if found is not None:
        _check_id(found, profile)
        return found, ()
    if place.header is not None:
        raise MalformedRequest(f"There must be one header {place.header}.")
    # A body without an id means that the provider has changed its contract. The message is kept,
    # and its digest is used to recognise repetitions.
    missing = refusal_at(place, "must be a text: the message's id")
    return f"sha256:{sha256(body).hexdigest()}", (missing,)


def _text_at(place: MessagePart, payload: Any, fields: Fields) -> str | None:
    if place.pointer is None:
        value = only_value(fields, place.header or "")
        return None if value is None else value.decode("latin-1")
    try:
        found = follow(payload, place.pointer)
    except NoSuchPlace:
        return None
    return found if isinstance(found, str) else None


def _check_id(message_id: str, profile: Profile) -> None:
    if not 0 < len(message_id) <= MAX_ID or not message_id.isprintable():
        raise MalformedRequest(f"A message id is 1 to {MAX_ID} printable characters.")
    refusal = profile.authentication.id_refusal(message_id)
    if refusal is not None:
        raise MalformedRequest(refusal)


def _texts(value: Any) -> Iterator[str]:
    """All names and texts in `value`. It does not recurse, because `value` may be very deep."""
    left = [value]
    while left:
        each = left.pop()
        if type(each) is str:
            yield each
        elif type(each) is dict:
            yield from each
            left.extend(each.values())
        elif type(each) is list:
            left.extend(each)
