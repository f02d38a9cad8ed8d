"""The interfaces of published data: the event log, endpoints, and the rows of entities."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from gateway.contract.rows.rows import Shape
from gateway.contract.rows.tables import Tables
from gateway.store.records import Delivery, Endpoint, JobState, NewEvent, Page, StoredEvent


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
        """Events in order of position. `types` are types, or prefixes that end with `*`."""
        ...

    async def bounds(self) -> tuple[int, int]:
        """The oldest and the newest position in the log. (1, 0) if there is none yet."""
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
    ) -> list[Delivery]:
        """Deliveries, newest first."""
        ...


class Entities(Protocol):
    """Rows that webhooks wrote."""

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
