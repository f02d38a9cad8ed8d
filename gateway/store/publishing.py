"""The seam of what is published and read: the event log, endpoints, and the rows of entities."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from gateway.contract.rows.rows import Shape
from gateway.contract.rows.tables import Tables
from gateway.store.records import Delivery, Endpoint, JobState, NewEvent, Page, StoredEvent


class EventLog(Protocol):
    """What was published, in one order."""

    async def append(self, events: Sequence[NewEvent]) -> None:
        """Publish what no job causes. An id that is there is left as it is."""
        ...

    async def sequence(self, limit: int) -> int:
        """Give committed events their positions, and active endpoints their deliveries.

        One transaction, one process at a time; how many events got a position.
        """
        ...

    async def after(
        self, position: int, limit: int, types: Sequence[str] = ()
    ) -> list[StoredEvent]:
        """In order of position. `types` are types, or prefixes that end with `*`."""
        ...

    async def bounds(self) -> tuple[int, int]:
        """Oldest and newest position that are kept; (1, 0) when there is none yet."""
        ...

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        """Remove events that old, none of which is still to be delivered; how many."""
        ...


class Endpoints(Protocol):
    """Subscribers' URLs, and what is delivered to them."""

    async def add(self, endpoint: Endpoint) -> None: ...

    async def find(self, endpoint_id: str) -> Endpoint | None: ...

    async def all(self) -> list[Endpoint]: ...

    async def change(
        self, endpoint_id: str, values: Mapping[str, Any], given: Mapping[str, Any] = {}
    ) -> bool:
        """Set members of the record; False when there is no such endpoint.

        Also False where it no longer has the values of `given`: somebody else changed it. The
        state `disabled` also cancels what was to be delivered to it.
        """
        ...

    async def remove(self, endpoint_id: str) -> bool:
        """Also cancels what was to be delivered to it."""
        ...

    async def delivery(self, delivery_id: str) -> Delivery | None: ...

    async def deliveries(
        self, endpoint_id: str, page: Page, *, state: JobState | None = None
    ) -> list[Delivery]:
        """The newest first."""
        ...


class Entities(Protocol):
    """Rows that webhooks wrote."""

    async def page(
        self, kind: str, filters: Mapping[str, Any], limit: int, cursor: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Rows equal in `filters`, the last changed first, and where the next page begins.

        Raises `InvalidArguments` for a cursor that it did not give for this kind and these filters.
        """
        ...

    async def get(self, kind: str, entity_id: str) -> dict[str, Any] | None: ...

    def tables(self, shape: Shape) -> Tables:
        """The rows of `shape.entity` as the table `shape`."""
        ...
