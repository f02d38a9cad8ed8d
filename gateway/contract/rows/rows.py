"""The rows of a table as its contract declares them: their columns and allowed values."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from msgspec import UNSET, Struct, UnsetType

from gateway.contract.fields.conversion import as_date, as_date_time
from gateway.contract.values.pointers import child
from gateway.contract.values.schema import Validator
from gateway.contract.values.violation import Violation

ColumnKind = Literal["text", "integer", "number", "boolean", "date", "moment", "json"]

KEY: Final = "id"
"""The primary key of every table, a text. The database generates it for a row without one."""
CREATED_AT: Final = "created_at"
UPDATED_AT: Final = "updated_at"
_KINDS: Final[Mapping[str, ColumnKind]] = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
}
_FORMATS: Final[Mapping[str, ColumnKind]] = {"date": "date", "date-time": "moment"}
_NUL: Final = "\0"
_INFINITIES: Final = frozenset({"0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"})
"""The limits of Python's calendar. The PostgreSQL driver stores them as infinity."""


class Column(Struct, frozen=True, kw_only=True):
    """One column."""

    name: str
    kind: ColumnKind
    is_nullable: bool
    is_read_only: bool
    """Whether only the database sets it."""
    default: Any | UnsetType = UNSET
    """The value in a new row that does not set the column."""

    def canonical(self, value: Any) -> Any:
        """`value` in canonical form, which is the same for every database.

        Dates and date-times are RFC 3339 text, date-times in UTC with `Z`. Whole numbers have no
        fraction. Raises `ValueError`, whose message never contains the value.
        """
        if value is None:
            return None
        if holds_nul(value):
            raise ValueError("contains the character NUL, which databases do not store")
        return _CANONICAL[self.kind](value)


class Shape(Struct, frozen=True, eq=False):
    """A table: its columns by name, and the schema of a row."""

    table: str
    columns: Mapping[str, Column]
    schema: Mapping[str, Any]
    admits_new: Validator
    """Validates a new row."""
    admits_change: Validator
    """Validates changed columns of rows."""
    admits_stored: Validator
    """Validates a row, or some of its columns, as a database returns it."""
    entity: str | None = None
    """The kind of entity whose rows the table shows. None if the table has its own rows."""
    sources: Mapping[str, str] = {}
    """If the table shows an entity: by column, the entity's column."""
    owners: Mapping[str, str] = {}
    """If the table shows an entity: by column, its owner `webhook`, `agent` or `gateway`."""

    def canonical(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """`row` with every value in canonical form. Raises `InvalidColumnValue`."""
        values: dict[str, Any] = {}
        for name, value in row.items():
            try:
                values[name] = self.columns[name].canonical(value)
            except ValueError as error:
                detail = str(error)
                raise InvalidColumnValue(
                    Violation(pointer=child("", name), keyword="type", detail=detail)
                ) from None
        return values


class InvalidColumnValue(ValueError):
    """A value that its column cannot hold."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(violation.detail)
        self.violation = violation


def shape_of(table: str, schema: Mapping[str, Any]) -> Shape:
    """The shape of `table`. `schema` is the schema of its rows, a closed object."""
    properties: Mapping[str, dict[str, Any]] = schema["properties"]
    required = frozenset(schema.get("required", ()))
    columns = {name: _column(name, facts, required) for name, facts in properties.items()}
    given = {name: facts for name, facts in properties.items() if not columns[name].is_read_only}
    changed = {name: facts for name, facts in given.items() if name != KEY}
    needed = [name for name in changed if name in required and columns[name].default is UNSET]
    return Shape(
        table,
        columns,
        schema,
        Validator(_closed(given, needed)),
        Validator(_closed(changed, [])),
        Validator(_closed(properties, [])),
    )


def holds_nul(value: Any) -> bool:
    """Whether any text in `value`, including names of members, contains the character NUL."""
    match value:
        case str():
            return _NUL in value
        case dict():
            return any(holds_nul(name) or holds_nul(each) for name, each in value.items())
        case list():
            return any(map(holds_nul, value))
    return False


def _column(name: str, facts: Mapping[str, Any], required: frozenset[str]) -> Column:
    kinds = facts["type"] if isinstance(facts["type"], list) else [facts["type"]]
    plain = [kind for kind in kinds if kind != "null"]
    kind: ColumnKind = _KINDS.get(plain[0], "json") if len(plain) == 1 else "json"
    if kind == "text":
        kind = _FORMATS.get(facts.get("format", ""), kind)
    return Column(
        name=name,
        kind=kind,
        is_nullable="null" in kinds and name not in required,
        is_read_only=facts.get("readOnly", False),
        default=facts.get("default", UNSET),
    )


def _closed(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": dict(properties),
        "required": required,
    }


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be text")  # noqa: TRY004 - a wrong value, not a wrong program
    return value


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")  # noqa: TRY004 - a wrong value, as above
    return value


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise ValueError("must be a whole number")
    # Compared as an integer: a double would change numbers above 2**53.
    if not -(2**63) <= int(value) < 2**63:
        raise ValueError("must be a whole number of at most 64 bits")
    return int(value)


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number")  # noqa: TRY004 - a wrong value, as above
    try:
        number = float(value)
    except OverflowError:
        raise ValueError("must be a number that a double can hold") from None
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _moment(value: Any) -> str:
    moment = as_date_time(value)
    if moment in _INFINITIES:
        raise ValueError("is the first or the last time of the calendar, which means infinity")
    return moment


def _json(value: Any) -> Any:
    return value


_CANONICAL: Final[Mapping[ColumnKind, Callable[[Any], Any]]] = {
    "text": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "date": as_date,
    "moment": _moment,
    "json": _json,
}
