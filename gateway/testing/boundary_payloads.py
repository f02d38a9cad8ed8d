"""Payloads of webhooks at each boundary of their schema and beyond it, signed and posted."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

import httpx
from msgspec import Struct

from gateway.catalogue import DeclaredSource
from gateway.cli.operating.webhooks import signed_request, signing_secret, unsigned_request
from gateway.contract.rows.rows import holds_nul
from gateway.contract.values.pointers import NoSuchPlace, follow
from gateway.contract.webhook import Profile, WebhookEvent
from gateway.signatures.received import Received, identity_of, with_member
from gateway.testing.authority import Authority
from gateway.testing.gateways import Site
from gateway.testing.generation import covering_values, few_of, refused_beyond
from gateway.webhooks.message import MAX_ID

LET_IN: Final = "stored"
QUARANTINED: Final = "quarantined"
_MOST: Final = 2**31


class BoundaryPayload(Struct, frozen=True):
    """A payload, and whether its message can be processed."""

    value: Any
    is_valid: bool


def boundary_payloads(
    profile: Profile, source: DeclaredSource, event: WebhookEvent, schemas: Mapping[str, Any]
) -> list[BoundaryPayload]:
    """Few of them, unless the run is thorough. `schemas`: those of the source, by event.

    Each has an id of its own, or bytes that no earlier event of the source has.
    """
    known: set[bytes] = set()
    if not _has_own_id(profile):
        events = [each.type for each in source.source.events]
        for each in source.source.events[: events.index(event.type)]:
            known.update(_texts(profile, each, schemas[each.type]))
    schema = schemas[event.type]
    texts = [text for text in _texts(profile, event, schema) if text not in known]
    found = list(_judged(profile, source, event, (schema, texts)))
    return [
        chosen
        for is_valid in (True, False)
        for chosen in few_of([each for each in found if each.is_valid is is_valid])
    ]


def _has_own_id(profile: Profile) -> bool:
    return profile.message_id is not None and profile.message_id.pointer is not None


def _texts(profile: Profile, event: WebhookEvent, schema: Mapping[str, Any]) -> Iterator[bytes]:
    pointer = None if profile.message_id is None else profile.message_id.pointer
    for text in covering_values(event.type, schema):
        own = uuid5(NAMESPACE_URL, f"{event.type} {text.decode()}")
        found = None if pointer is None else _at(json.loads(text), pointer)
        if pointer is not None and type(found) is int:
            yield with_member(text, pointer, own.int % _MOST)
        elif pointer is not None and _is_id(found):
            yield with_member(text, pointer, str(own))
        else:
            yield text


def _at(value: Any, pointer: str) -> Any:
    try:
        return follow(value, pointer)
    except NoSuchPlace:
        return None


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_ID and value.isprintable()


def _judged(
    profile: Profile,
    source: DeclaredSource,
    event: WebhookEvent,
    made: tuple[Mapping[str, Any], Sequence[bytes]],
) -> Iterator[BoundaryPayload]:
    schema, texts = made
    authority, gate = Authority(schema), source.validators[event.type]
    for text in texts:
        value = json.loads(text)
        said, kind = authority.says(value), _kind(profile, event, value)
        if kind is not None and kind != event.type and _is_known(source, kind):
            continue
        is_whole = kind == event.type and _has_id(profile, value) and not holds_nul(value)
        if not is_whole or said == "invalid":
            yield BoundaryPayload(value, False)
        elif said == "valid" and not refused_beyond(gate, value):
            yield BoundaryPayload(value, True)


def _kind(profile: Profile, event: WebhookEvent, value: Any) -> str | None:
    """The type of event that the message has."""
    pointer = profile.event_type.pointer
    return event.type if pointer is None else identity_of(_at(value, pointer))


def _is_known(source: DeclaredSource, kind: str) -> bool:
    """Whether messages of this type are those of an event, or are ignored."""
    return kind in source.events or any(re.fullmatch(each, kind) for each in source.source.ignored)


def _has_id(profile: Profile, value: Any) -> bool:
    place = profile.message_id
    if place is None or place.pointer is None:
        return True
    return _is_id(identity_of(_at(value, place.pointer)))


def signed(site: Site, source: DeclaredSource, event: WebhookEvent, payload: Any) -> Received:
    """A message as its sender signs it. Raises `ConfigurationError` where only the sender can."""
    profile, secret, tenant = signing_secret(site.settings, source.source, event, None)
    bare = unsigned_request(
        site.settings, source.source, event, profile, payload, "http://localhost"
    )
    return signed_request(bare, profile, secret, tenant)


async def posted(site: Site, message: Received) -> httpx.Response:
    """The answer to a message."""
    parts = urlsplit(message.url)
    fields = [(name.decode(), value.decode("latin-1")) for name, value in message.fields]
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    return await site.client.post(target, content=message.body, headers=fields)


async def fate(site: Site, message: Received) -> str:
    """What comes of an authentic message: `LET_IN`, `QUARANTINED`, or what neither should be."""
    reply = await posted(site, message)
    if reply.status_code not in (httpx.codes.OK, httpx.codes.ACCEPTED):
        return f"{reply.status_code} {reply.text[:200]}"
    stored = await site.gateway.parts.store.inbox.find(reply.json()["id"])
    if stored is None or stored.body is None or stored.body not in message.body:
        return f"{reply.status_code} {reply.text[:200]}, but it is not stored"
    kept = QUARANTINED if stored.job.state == "quarantined" else LET_IN
    said = reply.json()["outcome"]
    # Of a body without an id, such as `null`, the events of a source have the same one.
    is_same = (said, kept) == ("duplicate", QUARANTINED)
    return kept if is_same or said == kept else f"{reply.status_code} {said}, but it is {kept}"
