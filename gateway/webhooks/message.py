"""Reads the ids, the types and the payloads of the messages in an authentic request."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final
from uuid import uuid4

from msgspec import Struct

from gateway.contract.values import jsontext
from gateway.contract.values.pointers import NoSuchPlace, follow
from gateway.contract.webhook import TENANT_END, BodyForm, MessagePart, Profile
from gateway.errors import MalformedRequest
from gateway.signatures.received import Fields, Received, form_of, identity_of, only_value
from gateway.store.records import Mismatch
from gateway.webhooks.source import refusal_at

MAX_ID: Final = 200
MAX_EVENT_TYPE: Final = 200
MAX_MESSAGES: Final = 1_000
"""The most messages in one body. Vendors send up to some hundreds."""
_NUL_ESCAPED: Final = b"\\u0000"
_NUL: Final = "holds a NUL character, which cannot be stored outside the body"


class Message(Struct, frozen=True, kw_only=True):
    """An authentic message, read."""

    body: bytes
    """As it is stored: the bytes of the request, or the JSON of one message of a batch."""
    payload: Any
    """None if the body cannot be read."""
    id: str
    event_type: str
    """The type, cut to `MAX_EVENT_TYPE`. Empty if the message has none."""
    refusals: tuple[Mismatch, ...]
    """Why it cannot be read, or required parts that it lacks, such as its id."""
    is_readable: bool = True


def read_messages(profile: Profile, received: Received, tenant: str = "") -> list[Message]:
    """The messages of a request that is authentic by `profile`, in their order.

    A body that cannot be read is one message: it is authentic, so it is kept for an operator. Ids
    of messages of a `tenant` begin with its name. Raises `MalformedRequest` if an id is one that
    the signature does not protect.
    """
    try:
        payload = read_body(profile.body, received.body)
        batch = _batch(profile.body, payload)
    except jsontext.NotJson as error:
        detail = f"is not the JSON that is read: {error}"
        return [_unreadable(profile, received, tenant, detail)]
    if _NUL_ESCAPED in received.body and any("\0" in text for text in _texts(payload)):
        return [_unreadable(profile, received, tenant, _NUL)]
    if batch is None:
        return [_message(profile, received.fields, received.body, payload, tenant)]
    return [
        _message(profile, received.fields, jsontext.encode(each), each, tenant) for each in batch
    ]


def read_body(form: BodyForm, body: bytes) -> Any:
    """The value of a body. Raises `NotJson`."""
    if not form.is_form:
        return jsontext.decode(body, jsontext.WEBHOOK)
    pairs = form_of(body.decode("ascii", "replace"))
    if form.field is None:
        return _as_object(pairs)
    texts = [value for name, value in pairs if name == form.field]
    if len(texts) != 1:
        raise jsontext.NotJson(f"the form has no field {form.field}, or several")
    return jsontext.decode(texts[0].encode("utf-8"), jsontext.WEBHOOK)


def replayable(profile: Profile, received: Received, tenant: str = "") -> bytes | None:
    """The signed bytes, after the name of a tenant, if they do not include the message's id.

    None if they include it.

    Anyone who has seen such a message can send it again under another id with the same signature.
    So these bytes identify it. Most signatures cover an id in the body. A header is covered only if
    the scheme or the contract says so.
    """
    place = profile.message_id
    if profile.same_bytes == "new" or (
        place is not None
        and (
            profile.authentication.signs_member(place.pointer or "")
            if place.header is None
            else place.header in profile.authentication.signed_headers
        )
    ):
        return None
    signed = profile.authentication.signed_content(received)
    return None if signed is None else id_of_tenant(tenant, "").encode() + signed


def id_of_tenant(tenant: str, message_id: str) -> str:
    """The id as it is stored. It begins with the tenant, if there is one."""
    return f"{tenant}{TENANT_END}{message_id}" if tenant else message_id


def _as_object(pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """The fields of a form by name. A repeated name has the list of its values."""
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _batch(form: BodyForm, payload: Any) -> list[Any] | None:
    """The messages in `payload`, or None if it is one. Raises `NotJson` if there is no list."""
    if form.batch is None:
        return None
    try:
        found = follow(payload, form.batch)
    except NoSuchPlace:
        found = None
    if not isinstance(found, list) or not 0 < len(found) <= MAX_MESSAGES:
        place = form.batch or "the body"
        raise jsontext.NotJson(f"{place} is not a list of 1 to {MAX_MESSAGES} messages")
    return found


def _unreadable(profile: Profile, received: Received, tenant: str, detail: str) -> Message:
    event_type = profile.event_type.const
    if profile.event_type.header is not None:
        event_type = _text_at(profile.event_type, None, received.fields)
    return Message(
        body=received.body,
        payload=None,
        id=id_of_tenant(tenant, _digest(received.body)),
        event_type=_stored_type(event_type),
        refusals=(Mismatch(pointer="", detail=detail[:300]),),
        is_readable=False,
    )


def _message(profile: Profile, fields: Fields, body: bytes, payload: Any, tenant: str) -> Message:
    message_id, refusals = _identify(profile, payload, fields, body)
    return Message(
        body=body,
        payload=payload,
        id=id_of_tenant(tenant, message_id),
        event_type=_stored_type(_text_at(profile.event_type, payload, fields)),
        refusals=refusals,
    )


def _stored_type(event_type: str | None) -> str:
    return (event_type or "")[:MAX_EVENT_TYPE]


def _identify(
    profile: Profile, payload: Any, fields: Fields, body: bytes
) -> tuple[str, tuple[Mismatch, ...]]:
    """The id, and why it is a digest of the body where the contract wants one of the provider.

    A body without an id means that the provider has changed its contract. The message is kept, and
    its digest recognises repetitions.
    """
    place = profile.message_id
    if place is None:
        is_part = profile.body.batch is not None and profile.same_bytes == "duplicate"
        return _digest(body) if is_part else uuid4().hex, ()
    found = _text_at(place, payload, fields)
    if found is not None and 0 < len(found) <= MAX_ID and found.isprintable():
        if refusal := profile.authentication.id_refusal(found):
            raise MalformedRequest(refusal)
        return found, ()
    wanted = f"must be a text of 1 to {MAX_ID} printable characters: the message's id"
    return _digest(body), (refusal_at(place, wanted),)


def _digest(body: bytes) -> str:
    return f"sha256:{sha256(body).hexdigest()}"


def _text_at(place: MessagePart, payload: Any, fields: Fields) -> str | None:
    if place.const is not None:
        return place.const
    if place.pointer is None:
        value = only_value(fields, place.header or "")
        return None if value is None else value.decode("latin-1")
    try:
        return identity_of(follow(payload, place.pointer))
    except NoSuchPlace:
        return None


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
