"""The handlers of the read tools that entities declare."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.fields.fieldmap import entity_id
from gateway.contract.rows.entity import EntityPages

NOT_FOUND: Final = "not_found"
"""The error that each generated `get` declares: no row has the key."""
_LIMIT: Final = 50


class NoSuchRow(Exception):
    """No row has the key. The call ends with the declared error `NOT_FOUND`."""


async def get_row(kind: str, arguments: Mapping[str, Any], rows: EntityPages) -> dict[str, Any]:
    """The row of `kind` whose key is `arguments`, as `item`. Raises `NoSuchRow`."""
    # JSON Schema admits 7.0 as an integer. The id is made from 7.
    key = {name: int(v) if isinstance(v, float) else v for name, v in arguments.items()}
    row = await rows.get(kind, entity_id(kind, key))
    if row is None:
        raise NoSuchRow
    return {"item": row}


async def list_rows(kind: str, arguments: Mapping[str, Any], rows: EntityPages) -> dict[str, Any]:
    """One page of the rows of `kind`. All arguments but `limit` and `cursor` are filters.

    Raises `InvalidArguments` for a cursor of another query.
    """
    filters = dict(arguments)
    limit, cursor = int(filters.pop("limit", _LIMIT)), filters.pop("cursor", None)
    items, following = await rows.page(kind, filters, limit, cursor)
    return {"items": items, "next_cursor": following}
