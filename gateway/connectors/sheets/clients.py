"""The client sheet of the connector `sheets`: its columns and the meaning of its cells.

A row has fourteen columns, A to N. Google omits empty cells at the end of a row and empty rows at
the end of a range. People can type anything: a value that is invalid for its column is omitted,
never guessed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final

from msgspec import Struct

from gateway.connectors.places import without_accents
from gateway.errors import ToolFailed

SHEET: Final = "Clients"
COLUMNS: Final = (
    "client_id",
    "name",
    "email",
    "phone",
    "company",
    "aircraft_preference",
    "catering_preference",
    "special_needs",
    "vip_status",
    "total_flights",
    "last_flight_date",
    "preferred_operators",
    "created_at",
    "updated_at",
)
VIP_STATUSES: Final = frozenset({"standard", "silver", "gold", "platinum"})
MAX_OPERATORS: Final = 100

_EPOCH: Final = datetime(1899, 12, 30)  # noqa: DTZ001 - a sheet's dates have no time zone
"""Day 0 of the dates of a spreadsheet."""

_DAY_SECONDS: Final = 86_400
Cells = Sequence[Sequence[Any]]
"""The values of a range. A row ends with its last cell that is not empty."""


class ClientRow(Struct, frozen=True):
    """One client's row."""

    number: int
    """The row's number in the sheet; the header is row 1."""
    cells: Sequence[Any]

    @property
    def client_id(self) -> str:
        """The client's id; an empty text if there is none."""
        return self.text("client_id") or ""

    def cell(self, column: str) -> Any:
        """The value of the cell; None if it is empty."""
        index = COLUMNS.index(column)
        value = self.cells[index] if index < len(self.cells) else None
        return None if value == "" else value

    def text(self, column: str) -> str | None:
        """The text of the cell, trimmed; None if it is empty."""
        return as_text(self.cell(column))

    def holds(self, column: str, wanted: str) -> bool:
        """Whether the text of the cell is `wanted`. Case is ignored."""
        folded = wanted.strip().casefold()
        return bool(folded) and _folded(self.cell(column)) == folded


def client_rows(cells: Cells | None) -> Iterator[ClientRow]:
    """The rows with a client id, in the order of the sheet. `cells` starts with the header.

    Raises `ToolFailed` (`client_sheet_unusable`) if the header does not have the column names in
    order, because a moved column would be read and written as another one.
    """
    for number, row in enumerate(_checked(cells), start=1):
        found = ClientRow(number, row)
        if number > 1 and found.client_id:
            yield found


def as_text(value: Any) -> str | None:
    """A cell as text, whole numbers without a fraction; None for an empty cell."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return None if value is None else str(value).strip() or None


def as_count(value: Any) -> int | None:
    """A cell as a whole number of at least 0; None for anything else."""
    text = as_text(value)
    is_count = text is not None and text.isascii() and text.isdigit() and len(text) <= 9
    return int(text) if is_count and text is not None else None


def as_day(value: Any) -> str | None:
    """A cell as a date, YYYY-MM-DD: a date of the spreadsheet, or a text that begins with one."""
    moment = _moment(value)
    if moment is not None:
        return moment.date().isoformat()
    try:
        return date.fromisoformat(str(value)[:10]).isoformat()
    except ValueError:
        return None


def as_moment(value: Any) -> str | None:
    """A cell as a date and time: a spreadsheet's date, without time zone, or the unchanged text."""
    moment = _moment(value)
    return as_text(value) if moment is None else moment.isoformat(timespec="seconds")


def as_operators(value: Any) -> list[str]:
    """The ids of a comma-separated cell."""
    ids = (part.strip() for part in (as_text(value) or "").split(","))
    return list(dict.fromkeys(filter(None, ids)))[:MAX_OPERATORS]


def profile(row: ClientRow) -> dict[str, Any]:
    """The client in the tools' output format. Values that the sheet does not have are absent."""
    status = (row.text("vip_status") or "").casefold()
    members = {
        **{name: row.text(name) for name in ("client_id", "name", "email", "phone", "company")},
        "preferences": _said(
            aircraft_category=row.text("aircraft_preference"),
            catering=row.text("catering_preference"),
            special_needs=row.text("special_needs"),
        ),
        "history": _said(
            total_flights=as_count(row.cell("total_flights")),
            last_flight_date=as_day(row.cell("last_flight_date")),
            preferred_operators=as_operators(row.cell("preferred_operators")) or None,
        ),
        "vip_status": status if status in VIP_STATUSES else None,
    }
    return _said(**members)


def found_one(cells: Cells | None, inputs: Mapping[str, Any]) -> ClientRow:
    """The only client with this `client_id`, or with this `identifier` in `search_field`.

    Raises `ToolFailed` (`client_not_found`, `client_ambiguous`, or as `client_rows` does).
    """
    column = inputs.get("search_field", "email") if "identifier" in inputs else "client_id"
    wanted = str(inputs.get("identifier") or inputs["client_id"]).strip().casefold()
    index = COLUMNS.index(column)
    only: ClientRow | None = None
    # Called for every member of a profile, so it reads only one cell of each row.
    for number, row in enumerate(_checked(cells), start=1):
        if wanted and len(row) > index and _folded(row[index]) == wanted:
            found = ClientRow(number, row)
            if number > 1 and found.client_id:
                if only is not None:
                    raise ToolFailed("client_ambiguous")
                only = found
    if only is None:
        raise ToolFailed("client_not_found")
    return only


def matches(row: ClientRow, query: str, columns: Sequence[str]) -> bool:
    """Whether every word of `query` occurs in one of the columns. Case and accents are ignored."""
    text = _searched("\n".join(filter(None, map(row.text, columns))))
    return all(word in text for word in _searched(query).split())


def _searched(text: str) -> str:
    return without_accents(text).casefold()


def passes(row: ClientRow, filters: Mapping[str, Any]) -> bool:
    """Whether the client has the status and the minimum number of flights."""
    status = filters.get("vip_status")
    flights = as_count(row.cell("total_flights")) or 0
    return (status is None or row.holds("vip_status", status)) and flights >= filters.get(
        "min_flights", 0
    )


def where(cells: Cells | None, keep: Callable[[ClientRow], bool]) -> list[ClientRow]:
    """The clients for which `keep` is true."""
    return [row for row in client_rows(cells) if keep(row)]


def _checked(cells: Cells | None) -> Cells:
    header = [_folded(cell).replace(" ", "_") for cell in cells[0]] if cells else []
    if cells is None or tuple(header[: len(COLUMNS)]) != COLUMNS:
        raise ToolFailed("client_sheet_unusable")
    return cells


def _folded(value: Any) -> str:
    """The text of a cell for comparison, without case."""
    text = value.strip() if isinstance(value, str) else as_text(value) or ""
    return text.casefold()


def _said(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _moment(value: Any) -> datetime | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        # The fraction of a day is binary: cut, half of all times would be a second early.
        return _EPOCH + timedelta(seconds=round(value * _DAY_SECONDS))
    except OverflowError:
        return None
