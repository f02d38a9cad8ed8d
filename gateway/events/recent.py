"""The newest events of the log in memory, written out once for everybody who follows."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from gateway.events.cloudevents import encode_event
from gateway.events.filters import LogPosition
from gateway.store.records import StoredEvent

KEPT_EVENTS: Final = 1000
KEPT_BYTES: Final = 8 * 1024 * 1024


class Published(Struct, frozen=True):
    """An event as it goes out."""

    place: LogPosition
    type: str
    text: bytes
    """The CloudEvent as JSON, on one line."""


def as_published(event: StoredEvent) -> Published:
    """The event, written out."""
    return Published(LogPosition(event.position, event.id), event.type, encode_event(event))


class RecentEvents:
    """A stretch of the log without gaps, up to its newest event. Bounded in number and in bytes."""

    def __init__(
        self, end: LogPosition, *, kept_events: int = KEPT_EVENTS, kept_bytes: int = KEPT_BYTES
    ) -> None:
        self.end = end
        """After the newest event that is known."""
        self._events: list[Published] = []
        self._bytes = 0
        self._kept_events = kept_events
        self._kept_bytes = kept_bytes

    @property
    def begin(self) -> int:
        """The position after which everything is here."""
        return self.end.position - len(self._events)

    def append(self, events: Sequence[StoredEvent]) -> None:
        """Take what follows. Where something is missing between, the stretch begins again."""
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
        """At most `limit` events after `position`; None where the stretch does not reach back."""
        first = position - self.begin
        return None if first < 0 else self._events[first : first + limit]

    def _trim(self) -> None:
        """Cut off the oldest, half of what is kept at once, so that cutting costs little."""
        while len(self._events) > self._kept_events or (
            self._bytes > self._kept_bytes and len(self._events) > 1
        ):
            cut = self._events[: (len(self._events) + 1) // 2]
            del self._events[: len(cut)]
            self._bytes -= sum(len(event.text) for event in cut)
