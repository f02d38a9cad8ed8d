"""What a table of entities says of itself, beside what SQLAlchemy knows of every table."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from sqlalchemy import Column, Table

from gateway.contract.fields.conversion import as_date_time
from gateway.contract.rows.entity import TIMES

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def key_of(table: Table) -> tuple[str, ...]:
    """The columns by which the outside world knows a row."""
    names: tuple[str, ...] = table.info["key"]
    return names


def filters_of(table: Table) -> frozenset[str]:
    """The columns that a query may filter by."""
    return frozenset(table.info["filters"])


def microseconds(moment: datetime) -> int:
    """`moment`, which is aware, as microseconds since 1970: how every moment is stored."""
    return (moment - _EPOCH) // _MICROSECOND


def stored(column: Column[Any], value: Any) -> Any:
    """A canonical value as the database takes it."""
    if value is None:
        return None
    match column.info.get("kind"):
        case "moment":
            return microseconds(datetime.fromisoformat(value))
        case "date":
            return date.fromisoformat(value)
        case "number":
            return float(value)
    return value


def answered(table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    """A row in canonical form, without what the store keeps for itself."""
    return {name: _canonical(table.c[name], value) for name, value in row.items() if name != TIMES}


def _canonical(column: Column[Any], value: Any) -> Any:
    if value is None:
        return None
    match column.info.get("kind"):
        case "moment":
            return as_date_time((_EPOCH + value * _MICROSECOND).isoformat())
        case "date":
            return value.isoformat()
        case "number":
            return int(value) if value.is_integer() and abs(value) < 2**53 else value
    return value
