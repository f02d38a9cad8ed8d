"""A log of events in memory, which can be made to fail."""

from collections.abc import Sequence

from gateway.contract.event import CONTRACT_CHANGED, is_type_meant
from gateway.errors import StoreError
from gateway.store.publishing import looked_up_to
from gateway.store.records import NewEvent, StoredEvent
from tests.clocks import NOW


class FakeLog:
    """What `EventLog` says, over a list; `reads` and `failures` are for tests."""

    def __init__(self, count: int = 0) -> None:
        self.events = [stored(position) for position in range(1, count + 1)]
        self.unplaced = 0
        self.failures = 0
        self.reads = 0
        self.sequenced = 0

    async def append(self, events: Sequence[NewEvent]) -> None:
        raise NotImplementedError("tests of publishing ask a store that is shipped")

    async def sequence(self, limit: int) -> int:
        self.sequenced += 1
        self._fail()
        placed = min(limit, self.unplaced)
        self.unplaced -= placed
        self.publish(placed)
        return placed

    async def after(
        self, position: int, limit: int, types: Sequence[str] = ()
    ) -> list[StoredEvent]:
        self.reads += 1
        self._fail()
        bounds = self._bounds()
        end = looked_up_to(position, bounds) if types else bounds[1]
        wanted = [
            event
            for event in self.events
            if position < event.position <= end
            and (not types or any(is_type_meant(each, event.type) for each in types))
        ]
        return wanted[:limit]

    async def announced(self) -> StoredEvent | None:
        said = [each for each in self.events if each.type == CONTRACT_CHANGED]
        return said[-1] if said else None

    async def bounds(self) -> tuple[int, int]:
        self._fail()
        return self._bounds()

    def _bounds(self) -> tuple[int, int]:
        if not self.events:
            return 1, 0
        return self.events[0].position, self.events[-1].position

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        del self.events[:limit]
        return limit

    def publish(self, count: int, event_type: str = "a.b.v1") -> None:
        newest = self.events[-1].position if self.events else 0
        self.events += [stored(newest + number, event_type) for number in range(1, count + 1)]

    def _fail(self) -> None:
        if self.failures:
            self.failures -= 1
            raise StoreError("the database is away")


def stored(position: int, event_type: str = "a.b.v1") -> StoredEvent:
    return StoredEvent(
        position=position,
        id=f"event-{position}",
        type=event_type,
        subject="subject",
        source="/webhooks/demo",
        time=NOW,
        data={"position": position},
        webhook_id=None,
    )
