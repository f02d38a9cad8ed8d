"""The interfaces of published data: the event log, endpoints, subscriptions, rows of entities."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Protocol, TypeVar

from msgspec import Meta, Struct

from gateway.contract.rows.rows import Shape
from gateway.contract.rows.tables import Tables
from gateway.store.records import (
    Delivery,
    Endpoint,
    EntityChange,
    JobState,
    NewEvent,
    Page,
    StoredEvent,
)

_T = TypeVar("_T")
LOOKED_AT: Final = 20_000
"""At how many events one read with types looks. Types have no index."""


def looked_up_to(position: int, bounds: tuple[int, int]) -> int:
    """The position up to which `EventLog.after` has looked if it found fewer than `limit`.

    `bounds` are those of the log, read before.
    """
    oldest, newest = bounds
    return max(position, min(newest, max(position, oldest - 1) + LOOKED_AT))


class Listed(list[_T]):
    """The items of a page of a list.

    A page reads a limited number of rows. So it can be short, or empty, and have a next one.
    """

    def __init__(self, items: Iterable[_T], next_after: str | None) -> None:
        super().__init__(items)
        self.next_after = next_after
        """`Page.after` of the next page. None if there is none."""


class ReplayPoint(Struct, frozen=True, kw_only=True):
    """A replay, and the last event that it has looked at."""

    replay: Annotated[str, Meta(max_length=64)]
    """Its id. Jobs with a smaller one are older than the replay."""
    time: Annotated[datetime, Meta(tz=True)]
    position: Annotated[int, Meta(ge=0, le=2**63 - 1)]


class Replay(Struct, frozen=True, kw_only=True):
    """Which events to deliver to an endpoint again."""

    endpoint_id: str
    since: datetime
    until: datetime | None
    """Events at this time are not meant. None: no end."""
    actor: str
    """Who replays them."""
    point: ReplayPoint | None = None
    """Where to go on. None begins a replay."""


class Replayed(Struct, frozen=True, kw_only=True):
    """What a part of a replay has done."""

    replay: str
    is_active: bool = True
    """False for an endpoint that is disabled: nothing was done."""
    started: int = 0
    """Deliveries that have new jobs."""
    skipped: int = 0
    """Events whose delivery waits or runs, or has a job that is not older than the replay."""
    next: ReplayPoint | None = None
    """Where to go on. None if it was all."""


class EventLog(Protocol):
    """The published events, in one order."""

    async def append(self, events: Sequence[NewEvent]) -> None:
        """Publish events that no job causes. An event whose id exists already is not changed."""
        ...

    async def sequence(self, limit: int) -> int:
        """Give committed events their positions, and active endpoints their deliveries.

        It uses one transaction, and only one process does it at a time. Returns how many events got
        a position.
        """
        ...

    async def after(
        self, position: int, limit: int, types: Sequence[str] = ()
    ) -> list[StoredEvent]:
        """Events in order of position. `types` are types, or prefixes that end with `*`.

        With `types`, it looks only at the next `LOOKED_AT` events: see `looked_up_to`.
        """
        ...

    async def announced(self) -> StoredEvent | None:
        """The last event of the type `CONTRACT_CHANGED`."""
        ...

    async def bounds(self) -> tuple[int, int]:
        """The oldest and the newest position in the log. (1, 0) if there is none yet."""
        ...

    async def replay(self, asked: Replay) -> Replayed | None:
        """Give an endpoint new jobs for some of the events that it wants, in the order of time.

        It looks at a limited number of events. Each event gets one job at most in one replay. None
        if there is no such endpoint.
        """
        ...

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        """Remove events of that age that have no pending delivery. Returns how many."""
        ...


class Endpoints(Protocol):
    """Subscribers' URLs and their deliveries."""

    async def add(self, endpoint: Endpoint) -> None: ...

    async def find(self, endpoint_id: str) -> Endpoint | None: ...

    async def all(self) -> list[Endpoint]: ...

    async def change(
        self, endpoint_id: str, values: Mapping[str, Any], expected: Mapping[str, Any] = {}
    ) -> bool:
        """Set members of the record. False if there is no such endpoint.

        It is also False if the endpoint does not have the values in `expected`, because it was
        changed meanwhile. The state `disabled` also cancels the pending deliveries.
        """
        ...

    async def remove(self, endpoint_id: str) -> bool:
        """Remove an endpoint and cancel its pending deliveries."""
        ...

    async def delivery(self, delivery_id: str) -> Delivery | None: ...

    async def deliveries(
        self, endpoint_id: str, page: Page, *, state: JobState | None = None
    ) -> Listed[Delivery]:
        """Deliveries, newest first."""
        ...


MAX_SESSIONS: Final = 256
"""The most sessions of one key that have subscriptions. The one seen longest ago is forgotten."""
MAX_URIS: Final = 64
"""The most subscriptions of one session."""


class SubscribedSession(Struct, frozen=True):
    """A session of an MCP client at one endpoint. Another key has other sessions of this name."""

    subject: str
    """The key."""
    session: str
    connector: str = ""
    """That of the endpoint. Empty: the endpoint of all connectors."""


class SubscriptionStore(Protocol):
    """The resources whose changes MCP clients of the handshake revisions are notified of."""

    async def add(self, session: SubscribedSession, uri: str) -> bool:
        """Subscribe to `uri`, durably. Returns False if the session has `MAX_URIS` others.

        Above `MAX_SESSIONS`, the key's session that was seen longest ago is forgotten. Raises
        `StoreError`.
        """
        ...

    async def remove(self, session: SubscribedSession, uri: str) -> None:
        """End a subscription, durably. Does nothing if there is none. Raises `StoreError`."""
        ...

    async def of(
        self, sessions: Collection[SubscribedSession]
    ) -> Mapping[SubscribedSession, Sequence[str]]:
        """The URIs of those of the sessions that have subscriptions. Raises `StoreError`."""
        ...

    async def see(self, session: SubscribedSession) -> None:
        """Store that the session, if it has subscriptions, is in use now. Raises `StoreError`."""
        ...

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        """Forget at most `limit` sessions that were last seen that long ago. Returns how many."""
        ...


class Entities(Protocol):
    """Rows that webhooks and calls wrote."""

    async def write(self, changes: Sequence[EntityChange]) -> None:
        """Merge `changes` into the rows, in one transaction."""
        ...

    async def page(
        self, kind: str, filters: Mapping[str, Any], limit: int, cursor: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Rows that equal `filters`, the last changed first, and the cursor of the next page.

        Raises `InvalidArguments` for a cursor that was not made for this kind and these filters.
        """
        ...

    async def get(self, kind: str, entity_id: str) -> dict[str, Any] | None: ...

    def tables(self, shape: Shape) -> Tables:
        """The rows of `shape.entity` as the table `shape`."""
        ...
