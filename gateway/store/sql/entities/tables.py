"""The key and the filters of entities' tables, and the conversion of their values."""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, TypeVar

from sqlalchemy import Column, Table

from gateway.contract.fields.conversion import as_date_time
from gateway.contract.rows.entity import TIMES

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_T = TypeVar("_T")


def kept(table: Table, name: str, make: Callable[[], _T]) -> _T:
    """What `make` returns. Made once for `table`, and gone with it: each reload has others."""
    known: dict[str, _T] = table.info.setdefault("kept", {})
    if name not in known:
        known[name] = make()
    return known[name]


def key_of(table: Table) -> tuple[str, ...]:
    """The columns of the key by which messages identify a row."""
    names: tuple[str, ...] = table.info["key"]
    return names


def filters_of(table: Table) -> frozenset[str]:
    """The columns that a query may filter by."""
    return frozenset(table.info["filters"])


def microseconds(moment: datetime) -> int:
    """The microseconds from 1970 to `moment`, which must be aware. Moments are stored so."""
    return (moment - _EPOCH) // _MICROSECOND


def stored(column: Column[Any], value: Any) -> Any:
    """A canonical value in the form that the database takes."""
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


def canonical_row(table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    """A row in canonical form, without the column that only the store uses."""
    # SQLAlchemy's names are texts of a class of its own, which the validator refuses.
    return {
        str(name): _canonical(table.c[name], value) for name, value in row.items() if name != TIMES
    }


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
