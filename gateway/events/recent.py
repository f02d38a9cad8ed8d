"""The newest events of the log in memory, encoded once for all followers."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from gateway.events.cloudevents import encode_event
from gateway.events.filters import LogPosition
from gateway.store.records import StoredEvent

KEPT_EVENTS: Final = 1000
KEPT_BYTES: Final = 8 * 1024 * 1024


class Published(Struct, frozen=True):
    """An event in its published form."""

    place: LogPosition
    type: str
    text: bytes
    """The CloudEvent as JSON, on one line."""


def as_published(event: StoredEvent) -> Published:
    """The event, encoded."""
    return Published(LogPosition(event.position, event.id), event.type, encode_event(event))


class RecentEvents:
    """The last part of the log, without gaps. Its number of events and bytes is limited."""

    def __init__(
        self, end: LogPosition, *, kept_events: int = KEPT_EVENTS, kept_bytes: int = KEPT_BYTES
    ) -> None:
        self.end = end
        """The position after the newest known event."""
        self._events: list[Published] = []
        self._bytes = 0
        self._kept_events = kept_events
        self._kept_bytes = kept_bytes

    @property
    def begin(self) -> int:
        """The position after which all events are here."""
        return self.end.position - len(self._events)

    def append(self, events: Sequence[StoredEvent]) -> None:
        """Add the next events. If some are missing in between, the older ones are dropped."""
        for event in events:
            if event.position != self.end.position + 1:
                self._events.clear()
                self._bytes = 0
            published = as_published(event)
            self._events.append(published)
            self._bytes += len(published.text)
            self.end = published.place
        self._trim()

    def since(self, position: int, limit: int) -> list[Published] | None:
        """At most `limit` events after `position`. None if they are no longer all here."""
        first = position - self.begin
        return None if first < 0 else self._events[first : first + limit]

    def _trim(self) -> None:
        """Remove the oldest half of the events at once, so that removing costs little."""
        while len(self._events) > self._kept_events or (
            self._bytes > self._kept_bytes and len(self._events) > 1
        ):
            cut = self._events[: (len(self._events) + 1) // 2]
            del self._events[: len(cut)]
            self._bytes -= sum(len(event.text) for event in cut)
