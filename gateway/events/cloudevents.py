"""Published events in the form of CloudEvents 1.0, and which of them a client wants by type."""

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Final

from msgspec import Struct

from gateway.contract.event import SPEC_VERSION, TRACEPARENT, is_type_meant
from gateway.contract.values import hidden, jsontext
from gateway.errors import MalformedRequest
from gateway.store.records import StoredEvent

CLOUD_EVENT: Final = "application/cloudevents+json"
"""The media type of one event."""
CLOUD_EVENTS: Final = "application/cloudevents-batch+json"
"""The media type of a list of events."""
MAX_TYPES: Final = 50
_TYPE: Final = re.compile(r"[a-z0-9_.]{1,200}\*?|\*")
_CURSOR: Final = re.compile(r"(0|[1-9][0-9]{0,17})\.([0-9a-f]{16})")


def cloud_event(event: StoredEvent) -> dict[str, Any]:
    """The event's attributes and data (CloudEvents 1.0 §3, JSON format §3).

    An event that belongs to a trace has the `traceparent` of CloudEvents' Distributed Tracing
    extension. The stream, the MCP resource and deliveries all contain this same object.
    """
    subject = {"subject": event.subject} if event.subject else {}  # §3.1: never empty
    traced = {TRACEPARENT: event.trace} if event.trace else {}
    return {
        "specversion": SPEC_VERSION,
        "id": event.id,
        "source": event.source,
        "type": event.type,
        **subject,
        "time": event.time,
        "datacontenttype": "application/json",
        **traced,
        "data": event.data,
    }


def encode_event(event: StoredEvent) -> bytes:
    """The event as JSON text on one line, without hidden characters: the same bytes each time."""
    text = jsontext.encode(cloud_event(event))
    if not hidden.may_hide(text):
        return text
    return jsontext.encode(hidden.visible(jsontext.decode(text))[0])


class TypeFilter(Struct, frozen=True):
    """Types of events, or prefixes that end with `*`. Empty means all types."""

    types: tuple[str, ...] = ()
    """Sorted, each once."""

    @classmethod
    def of(cls, types: Sequence[str]) -> "TypeFilter":
        """The filter for `types`. Raises `MalformedRequest` for one that cannot be a type."""
        if len(types) > MAX_TYPES:
            raise MalformedRequest(f"At most {MAX_TYPES} types can be named.")
        for each in types:
            if not _TYPE.fullmatch(each):
                raise MalformedRequest(
                    "A type is written like `gateway.quote.received.v1`, or as a prefix with `*` "
                    "at its end; several are separated by commas."
                )
        return cls(tuple(sorted(set(types))))

    def admits(self, event_type: str) -> bool:
        """Whether an event of this type is wanted."""
        return not self.types or any(is_type_meant(each, event_type) for each in self.types)


class LogPosition(Struct, frozen=True):
    """A follower's position in the log: after this event."""

    position: int
    """0 is before the first event."""
    event_id: str = ""
    """Of the event at this position; empty before the first."""

    def cursor(self, wanted: TypeFilter) -> str:
        """The position as text for its follower. It is only valid for the same filter and log.

        It contains the event's id. So the gateway recognises a cursor from another database, or
        from before a restored backup.
        """
        digest = blake2b(digest_size=8)
        for part in (self.event_id, *wanted.types):
            encoded = part.encode()
            digest.update(b"%d:%b" % (len(encoded), encoded))
        return f"{self.position}.{digest.hexdigest()}"


def position_in(cursor: str) -> int | None:
    """The position in a cursor, or None if the gateway has not made the cursor."""
    match = _CURSOR.fullmatch(cursor)
    return None if match is None else int(match[1])
