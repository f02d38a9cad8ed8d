"""An entity as its contract declares it: a kind of row that webhooks write and callers read."""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from msgspec import Struct

ID: Final = "id"
WEBHOOK_ID: Final = "webhook_id"
OCCURRED_AT: Final = "occurred_at"
CREATED_AT: Final = "created_at"
UPDATED_AT: Final = "updated_at"
ROW_COLUMNS: Final = (ID, WEBHOOK_ID, OCCURRED_AT, CREATED_AT, UPDATED_AT)
"""What every row has besides its own columns; the database alone sets them."""


class Entity(Struct, frozen=True, kw_only=True):
    """A kind of row. One member of `entities.json`."""

    kind: str
    """The table, and the last part of `/v1/entities/<kind>`."""
    key: tuple[str, ...]
    """The columns by which the outside world knows a row. `id` is a UUIDv5 of kind and key, so
    that a reference can be written before the row that it leads to."""
    filters: tuple[str, ...]
    """Columns that a query may filter by."""
    schema: dict[str, Any]
    """Of a row; self-contained. Besides its own properties every row has `id`, `webhook_id` (which
    wrote it last), `occurred_at`, `created_at` and `updated_at`."""


class EntityPages(Protocol):
    """The rows that webhooks wrote, as those who may call see them."""

    async def page(
        self, kind: str, filters: Mapping[str, Any], limit: int, cursor: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Rows equal in `filters`, the last changed first, and where the next page begins.

        Raises `InvalidArguments` for a cursor that was not given for this kind and these filters.
        """
        ...
