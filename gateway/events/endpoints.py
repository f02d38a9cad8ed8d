"""Subscribers' endpoints: added, tested, rotated, disabled, and sent past events again.

Their filters by content are JSON Schemas for the data of events. A filter has only keywords that
describe one value or its members, so that the schemas of a filter and of a contract are compared in
a moment. Alternatives (`anyOf`) and patterns could take minutes.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import uuid4

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from gateway.clock import Clock
from gateway.contract.event import ENDPOINT_TESTED, is_type_meant
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.values.nearest import hint
from gateway.contract.values.schema import Validator
from gateway.errors import InvalidArguments, StateConflict
from gateway.events.address import read_url
from gateway.events.cloudevents import TypeFilter
from gateway.events.deliver import SOURCE, DeliverySender, OutboundSender
from gateway.events.secrets import Keyring, open_headers, read_headers, seal_headers
from gateway.signatures.registry import DELIVERIES
from gateway.store.publishing import Endpoints, EventLog, Replay, Replayed, ReplayPoint
from gateway.store.records import Endpoint, StoredEvent

MAX_FILTER_BYTES: Final = 4096
_FILTER: Final = "/filter"
_TYPES: Final = ("null", "boolean", "integer", "number", "string", "array", "object")
_INNER: Final = {"$ref": "#/$defs/filter"}
_NUMBER: Final = {"type": "number"}
_FORM: Final = Validator(
    {
        **_INNER,
        "$defs": {
            "filter": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "description": {"type": "string"},
                    "type": {
                        "oneOf": [
                            {"enum": [*_TYPES]},
                            {"type": "array", "items": {"enum": [*_TYPES]}, "minItems": 1},
                        ]
                    },
                    "const": True,
                    "enum": {"type": "array", "minItems": 1},
                    "not": _INNER,
                    "minimum": _NUMBER,
                    "maximum": _NUMBER,
                    "exclusiveMinimum": _NUMBER,
                    "exclusiveMaximum": _NUMBER,
                    "properties": {"type": "object", "additionalProperties": _INNER},
                    "required": {"type": "array", "items": {"type": "string"}},
                    "contains": _INNER,
                },
            }
        },
    }
)

Schema = Mapping[str, Any]
GRACE_SECONDS: Final = 24 * 3600.0
"""How long deliveries are signed with the previous secret too after a rotation."""
MAX_GRACE_SECONDS: Final = 7 * GRACE_SECONDS
MAX_DESCRIPTION: Final = 200


def check_filter(content: Schema, types: Sequence[str], published: Mapping[str, Schema]) -> None:
    """Refuse a filter that cannot be used, that no event meets, or that every event meets.

    `types` are the types that the endpoint wants, or their prefixes. `published` are the schemas of
    data by type. Raises `InvalidArguments`.
    """
    from gateway.contract.schemas.algebra import (  # noqa: PLC0415 - few gateways have filters
        both,
        covers,
        is_empty,
    )

    if len(msgspec.json.encode(content)) > MAX_FILTER_BYTES:
        raise _refused("maxLength", f"filter must have at most {MAX_FILTER_BYTES} bytes as JSON")
    schema = dict(content)
    if violations := _FORM.violations(schema):
        raise InvalidArguments([replace(v, pointer=f"{_FILTER}{v.pointer}") for v in violations])
    restricts = False
    for each in types or ("*",):
        meant = [dict(data) for known, data in published.items() if is_type_meant(each, known)]
        if all(is_empty(both(data, schema)) for data in meant):
            of = f" of the type {each}" if types else ""
            raise _refused("contains", f"no event{of} has such data; {_why_none(schema, meant)}")
        restricts |= not all(covers(schema, data) for data in meant)
    if not restricts:
        detail = "every event of the endpoint has such data, so this excludes nothing"
        raise _refused("not", f"{detail}: name what an event must have under required too")


def _why_none(content: Schema, meant: Iterable[Schema]) -> str:
    """What helps to correct the filter: the first member that none of the schemas has."""
    known = {name for data in meant for name in data.get("properties", ())}
    wanted = (*content.get("properties", ()), *content.get("required", ()))
    unknown = next((name for name in wanted if name not in known), None)
    if unknown is None:
        return "/asyncapi.json has the schemas of events"
    return f"there is no {unknown[:64]}: {hint(unknown, known, 'see /asyncapi.json')}"


def _refused(keyword: str, detail: str) -> InvalidArguments:
    return InvalidArguments.at(_FILTER, keyword, detail)


class NewSecret(Struct, frozen=True, kw_only=True):
    """An endpoint with its new signing secret, which is shown only once."""

    secret: str
    endpoint: Endpoint

    def __repr__(self) -> str:
        return f"NewSecret({self.endpoint.id})"


class EndpointRegistry:
    """All endpoints. Secrets are stored encrypted."""

    def __init__(
        self,
        endpoints: Endpoints,
        keyring: Keyring,
        sender: OutboundSender,
        clock: Clock,
        published: Mapping[str, Schema],
    ) -> None:
        """`published`: the schema of the data of each type of event that the gateway publishes."""
        self._endpoints = endpoints
        self._keyring = keyring
        self._sender = sender
        self._delivery_sender = DeliverySender(sender, keyring, clock)
        self._clock = clock
        self._published = published

    async def add(
        self,
        url: str,
        description: str = "",
        event_types: Sequence[str] = (),
        content: Schema | None = None,
        headers: Mapping[str, str] = {},
    ) -> NewSecret:
        """Deliver events of these types, or with these prefixes, to `url` from now on.

        `content` is a JSON Schema for the data of the events: see `check_filter`. `headers` are
        sent with each: see `read_headers`.

        Raises `InvalidArguments` for a URL that may not or cannot be reached now, for a type or
        data that are never published, and for headers that it may not have. Raises
        `MalformedRequest` for an invalid type.
        """
        plain = read_url(url)
        _refuse_unreadable(description)
        wanted = self._wanted(event_types)
        if content is not None:
            check_filter(content, wanted, self._published)
        own = read_headers(headers)
        refusal = await self._sender.refusal(plain)
        if refusal is not None:
            raise InvalidArguments.at("/url", "format", f"url cannot be used: {refusal.detail}")
        now = self._clock.now()
        endpoint_id = str(uuid4())
        secret = DELIVERIES.new_secret()
        endpoint = Endpoint(
            id=endpoint_id,
            url=plain,
            description=description,
            event_types=wanted,
            secret=self._keyring.seal(secret, endpoint_id),
            previous_secret=None,
            previous_until=None,
            state="active",
            disabled_because=None,
            failing_since=None,
            created_at=now,
            updated_at=now,
            filter=content,
            headers=seal_headers(self._keyring, endpoint_id, own),
        )
        await self._endpoints.add(endpoint)
        return NewSecret(secret=secret, endpoint=endpoint)

    async def find(self, endpoint_id: str) -> Endpoint | None:
        """The endpoint with this id."""
        return await self._endpoints.find(endpoint_id)

    async def list(self) -> list[Endpoint]:
        """All endpoints."""
        return await self._endpoints.all()

    async def rotate(
        self, endpoint_id: str, grace_seconds: float = GRACE_SECONDS
    ) -> NewSecret | None:
        """Make a new secret. For `grace_seconds`, deliveries are signed with the previous one too.

        None if there is no such endpoint. Raises `InvalidArguments` for more than seven days.
        """
        if not 0 <= grace_seconds <= MAX_GRACE_SECONDS:
            detail = f"grace_seconds must be from 0 to {MAX_GRACE_SECONDS:g}"
            raise InvalidArguments.at("/grace_seconds", "maximum", detail)
        # If two rotations run at once, the second keeps the secret of the first as the previous
        # one: the first caller has received it already, so it must sign.
        while endpoint := await self._endpoints.find(endpoint_id):
            new = self._rotated(endpoint, grace_seconds)
            if await self._replace_secret(endpoint, new.endpoint):
                return new
        return None

    def _rotated(self, endpoint: Endpoint, grace_seconds: float) -> NewSecret:
        secret = DELIVERIES.new_secret()
        kept = endpoint.secret if grace_seconds else None
        until = self._clock.now() + timedelta(seconds=grace_seconds) if grace_seconds else None
        sealed = self._keyring.seal(secret, endpoint.id)
        new = replace(endpoint, secret=sealed, previous_secret=kept, previous_until=until)
        return NewSecret(secret=secret, endpoint=new)

    async def _replace_secret(self, old: Endpoint, new: Endpoint) -> bool:
        """Store the secret of `new`. False if the secret of `old` has changed meanwhile."""
        names = ("secret", "previous_secret", "previous_until")
        values = {name: getattr(new, name) for name in names}
        return await self._endpoints.change(old.id, values, {"secret": old.secret})

    async def change(
        self,
        endpoint_id: str,
        *,
        content: Schema | UnsetType | None = UNSET,
        headers: Mapping[str, str] | UnsetType = UNSET,
    ) -> bool:
        """Set which events and which headers are sent from now on; see `add`. `UNSET`: as before.

        False if there is no such endpoint. Raises `InvalidArguments` as `add` does.
        """
        endpoint = await self._endpoints.find(endpoint_id)
        if endpoint is None:
            return False
        values: dict[str, Any] = {}
        if content is not UNSET:
            if content is not None:
                check_filter(content, endpoint.event_types, self._published)
            values["filter"] = content
        if headers is not UNSET:
            values["headers"] = seal_headers(self._keyring, endpoint_id, read_headers(headers))
        return not values or await self._endpoints.change(endpoint_id, values)

    async def disable(self, endpoint_id: str) -> bool:
        """Stop deliveries and cancel waiting ones. False if there is no such endpoint."""
        values = {"state": "disabled", "disabled_because": "operator"}
        return await self._endpoints.change(endpoint_id, values)

    async def enable(self, endpoint_id: str) -> bool:
        """Start deliveries again and reset its failures. False if there is no such endpoint."""
        values = {"state": "active", "disabled_because": None, "failing_since": None}
        return await self._endpoints.change(endpoint_id, values)

    async def remove(self, endpoint_id: str) -> bool:
        """Remove it and cancel its deliveries. False if there is no such endpoint."""
        return await self._endpoints.remove(endpoint_id)

    async def test(self, endpoint_id: str) -> str | None:
        """Send one signed event to it now. Returns `2xx` to `5xx`, or why there is no answer.

        It does not return the body or the exact status, so that a test cannot be used to explore
        other networks. None if there is no such endpoint. A test does not change the endpoint.
        """
        endpoint = await self._endpoints.find(endpoint_id)
        if endpoint is None:
            return None
        event = StoredEvent(
            position=0,
            id=str(uuid4()),
            type=ENDPOINT_TESTED,
            subject=endpoint_id,
            source=SOURCE,
            time=self._clock.now(),
            data={"endpoint_id": endpoint_id},
            webhook_id=None,
        )
        return (await self._delivery_sender.carry(event, endpoint)).answer

    async def reseal(self) -> int:
        """Encrypt secrets of older keys with the newest key, so that older keys can be removed.

        Returns how many.
        """
        count = 0
        for endpoint in await self._endpoints.all():
            values = self._resealed(endpoint)
            if values:
                # If the secret was rotated meanwhile, it already uses the newest key.
                given = {name: getattr(endpoint, name) for name in values}
                count += await self._endpoints.change(endpoint.id, values, given)
        return count

    def _resealed(self, endpoint: Endpoint) -> dict[str, Any]:
        sealed = {"secret": endpoint.secret, "previous_secret": endpoint.previous_secret}
        values: dict[str, Any] = {
            name: self._keyring.seal(self._keyring.open(text, endpoint.id), endpoint.id)
            for name, text in sealed.items()
            if text is not None and not self._keyring.is_newest(text)
        }
        if not all(map(self._keyring.is_newest, endpoint.headers.values())):
            own = open_headers(self._keyring, endpoint)
            values["headers"] = seal_headers(self._keyring, endpoint.id, own)
        return values

    def _wanted(self, event_types: Sequence[str]) -> tuple[str, ...]:
        wanted = TypeFilter.of(event_types).types
        for each in wanted:
            if not any(is_type_meant(each, known) for known in self._published):
                detail = f"{each} is not an event that this gateway publishes"
                raise InvalidArguments.at("/event_types", "enum", detail)
        return wanted


def _refuse_unreadable(description: str) -> None:
    if len(description) > MAX_DESCRIPTION or not description.isprintable():
        detail = f"description must be one line of at most {MAX_DESCRIPTION} characters"
        raise InvalidArguments.at("/description", "maxLength", detail)


class ReplaySpan(Struct, frozen=True):
    """A page of a replay, as an operator asks for it."""

    since: datetime
    until: datetime | None
    """Events at this time are not meant. None: no end."""
    after: str | None
    """`ReplayPage.next` of the page before. None begins a replay."""


class ReplayPage(Struct, frozen=True, kw_only=True):
    """What a page of a replay has done."""

    replay: str
    """The id of the replay, which all its pages have."""
    started: int
    """Events that are delivered again."""
    skipped: int
    """Events whose delivery waits or runs, or was made since the replay began."""
    next: str | None
    """Where the next page goes on. None: this was the last one."""


async def replay_events(
    log: EventLog, endpoint_id: str, span: ReplaySpan, actor: str
) -> ReplayPage | None:
    """Deliver a limited number of the events in `span` again that the endpoint wants.

    No event is delivered twice by one replay, also if a page is asked for again. None if there is
    no such endpoint. Raises `InvalidArguments` for a span that is empty or begins before the log,
    and `StateConflict` for an endpoint that is disabled.
    """
    if span.until is not None and span.since >= span.until:
        raise InvalidArguments.at(
            "/until", "minimum", "until must be later than since, or left out"
        )
    point = None if span.after is None else _point_in(span.after)
    if point is None:
        await _refuse_forgotten(log, span.since)
    asked = Replay(
        endpoint_id=endpoint_id, since=span.since, until=span.until, actor=actor, point=point
    )
    found = await log.replay(asked)
    if found is None:
        return None
    if not found.is_active:
        raise StateConflict("The endpoint is disabled: enable it, and replay then.")
    return _page(found)


async def _refuse_forgotten(log: EventLog, since: datetime) -> None:
    """Raise `InvalidArguments` if events since then may have been removed from the log."""
    oldest, _ = await log.bounds()
    first = await log.after(oldest - 1, 1) if oldest > 1 else ()
    for each in first:
        # As precise as it is written.
        beginning = each.time - timedelta(microseconds=each.time.microsecond % 1000)
        if since < beginning:
            detail = f"older events are no longer kept; the log begins at {rfc3339(beginning)}"
            raise InvalidArguments.at("/since", "minimum", detail)


def _page(found: Replayed) -> ReplayPage:
    encoded = None if found.next is None else base64.b64encode(msgspec.json.encode(found.next))
    return ReplayPage(
        replay=found.replay,
        started=found.started,
        skipped=found.skipped,
        next=None if encoded is None else encoded.decode(),
    )


def _point_in(cursor: str) -> ReplayPoint:
    try:
        return msgspec.json.decode(base64.b64decode(cursor, validate=True), type=ReplayPoint)
    except (binascii.Error, ValueError, msgspec.DecodeError):
        detail = "is no `next` of a page of a replay"
        raise InvalidArguments.at("/after", "pattern", detail) from None
