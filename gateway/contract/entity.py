"""An entity as its contract declares it: a kind of row that webhooks write and callers read."""

from typing import Any

from msgspec import Struct


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
