"""The behaviour of the Sheets mock: spreadsheets that store what is written to them.

Each spreadsheet id is a separate client database. Ids that begin with `missing` do not exist, and
those with `private` are not shared. Those with `blank` are like a new spreadsheet of Google, and
those with `bare` have no tab for flights. Errors are Google's, without the older `errors` list.

RAW stores an input unchanged. USER_ENTERED parses it like text typed in the editor: numbers,
booleans and dates are converted, and a text that begins with `=`, `+` or `-` becomes a formula.
Sums of two whole numbers are calculated; any other formula gives an error.

The first rows are like those that people type: different lengths, dates as text or as dates,
numbers as text, extra spaces, and texts that look like formulas.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final, Self

from msgspec import Struct
from msgspec.structs import astuple

from gateway.connectors.sheets.clients import COLUMNS
from gateway.contract.connector import mock_behaviours
from gateway.contract.mock import MockRefusal, MockRefused, MockReply, MockRequest, MockState

__all__ = ["BEHAVIOURS", "finish", "refuse"]

_FORMULA: Final = re.compile(r"[=+-].*", re.DOTALL)
_SUM: Final = re.compile(r"[=+]([0-9]{1,9})\+([0-9]{1,9})")
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_EPOCH: Final = date(1899, 12, 30)
_TRUTHS: Final = {"TRUE": True, "FALSE": False}


class Cell(Struct, frozen=True):
    """A cell that is not empty."""

    value: str | int | float | bool
    formula: str | None = None
    """The formula of the value."""
    is_date: bool = False
    """Whether the number is displayed as a date."""


def stored(value: Any, option: str) -> Cell | None:
    """The cell for an input; None if the input clears the cell."""
    if value == "":
        return None
    if option == "RAW" or not isinstance(value, str):
        return Cell(value)
    return _typed(value)


def shown(cell: Cell | None, render: str, render_dates: str) -> Any:
    """The cell as in a reply; an empty text for an empty cell."""
    if cell is None:
        return ""
    if render == "FORMULA" and cell.formula is not None:
        return cell.formula
    if render == "FORMATTED_VALUE":
        return _day(cell.value) if cell.is_date else _formatted(cell.value)
    is_text = cell.is_date and render_dates == "FORMATTED_STRING" and render != "FORMULA"
    return _day(cell.value) if is_text else cell.value


def day(text: str) -> Cell:
    """The cell for the date `text`, as if a user had typed it."""
    return Cell((date.fromisoformat(text) - _EPOCH).days, is_date=True)


def _typed(text: str) -> Cell:
    if text.upper() in _TRUTHS:
        return Cell(_TRUTHS[text.upper()])
    if _NUMBER.fullmatch(text):
        number = float(text)
        return Cell(int(number) if number.is_integer() else number)
    if _DATE.fullmatch(text):
        return _date_or_text(text)
    if _FORMULA.fullmatch(text):
        return Cell(_calculated(text), formula=f"={text.removeprefix('=')}")
    return Cell(text.removeprefix("'"))


def _date_or_text(text: str) -> Cell:
    try:
        return day(text)
    except ValueError:
        return Cell(text)


def _calculated(formula: str) -> int | str:
    found = _SUM.fullmatch(formula)
    return "#ERROR!" if found is None else int(found[1]) + int(found[2])


def _formatted(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return str(value)


def _day(value: Any) -> str:
    return (_EPOCH + timedelta(days=int(value))).isoformat()


_RANGE: Final = re.compile(
    r"(?:(?:'((?:[^']|'')+)'|([^'!:]+))!)?[$]?([A-Za-z]{0,3})[$]?([0-9]{0,7})"
    r"(?::[$]?([A-Za-z]{0,3})[$]?([0-9]{0,7}))?"
)
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CELL: Final = re.compile(r"[A-Za-z]{1,3}[0-9]{1,7}")


class Tab:
    """One tab: a grid of cells. A row ends with the last cell that was ever written."""

    def __init__(self, title: str, rows: Iterable[Sequence[Cell | None]] = ()) -> None:
        self.title = title
        self.rows: list[list[Cell | None]] = [list(row) for row in rows]
        self.row_count = 1000
        self.column_count = 26

    def data(self) -> dict[str, Any]:
        """The content without the title, as plain data."""
        rows = [[None if cell is None else astuple(cell) for cell in row] for row in self.rows]
        return {"rows": rows, "row_count": self.row_count, "column_count": self.column_count}

    @classmethod
    def restored(cls, title: str, data: Mapping[str, Any]) -> Self:
        """The tab with this content, from `data()`."""
        cells = ([None if cell is None else Cell(*cell) for cell in row] for row in data["rows"])
        tab = cls(title, cells)
        tab.row_count, tab.column_count = data["row_count"], data["column_count"]
        return tab

    def cell(self, row: int, column: int) -> Cell | None:
        """The cell at 0-based indexes; None for an empty cell."""
        cells = self.rows[row] if row < len(self.rows) else []
        return cells[column] if column < len(cells) else None

    def put(self, row: int, column: int, value: Any, option: str) -> None:
        """Store an input. None leaves the cell unchanged."""
        if value is None:
            return
        while len(self.rows) <= row:
            self.rows.append([])
        cells = self.rows[row]
        cells.extend([None] * (column + 1 - len(cells)))
        cells[column] = stored(value, option)

    def is_blank(self, row: int) -> bool:
        """Whether the row is empty."""
        return row >= len(self.rows) or all(cell is None for cell in self.rows[row])

    def insert(self, row: int, count: int) -> None:
        """Insert empty rows before `row`."""
        self.rows[row:row] = [[] for _ in range(count)]
        self.row_count += count


class Area(Struct, frozen=True):
    """A part of a tab: 0-based, inclusive indexes; None is an open end."""

    tab: Tab
    top: int
    left: int
    bottom: int | None
    right: int | None

    @property
    def is_inside(self) -> bool:
        """Whether the start is on the grid."""
        return self.top < self.tab.row_count and self.left < self.tab.column_count

    @property
    def last_row(self) -> int:
        """The last row within the grid."""
        last = self.tab.row_count - 1
        return last if self.bottom is None else min(self.bottom, last)

    @property
    def last_column(self) -> int:
        """The last column within the grid."""
        last = self.tab.column_count - 1
        return last if self.right is None else min(self.right, last)

    def __str__(self) -> str:
        start = f"{_letters(self.left)}{self.top + 1}"
        end = f"{_letters(self.last_column)}{self.last_row + 1}"
        return f"{_quoted(self.tab.title)}!{start if start == end else f'{start}:{end}'}"


def find_area(text: str, tabs: Mapping[str, Tab]) -> Area | None:
    """The area of `text`; None if `text` is invalid or its tab does not exist.

    Without a tab, the area is in the first one. A name alone is a whole tab, unless it is a cell.
    """
    whole = text[1:-1].replace("''", "'") if text[:1] == text[-1:] == "'" else text
    if whole in tabs and not _CELL.fullmatch(text):
        return Area(tabs[whole], 0, 0, None, None)
    found = _RANGE.fullmatch(text)
    if found is None:
        return None
    quoted, plain, left, top, right, bottom = found.groups()
    title = quoted.replace("''", "'") if quoted else plain or next(iter(tabs))
    is_named = bool(left or top) and (right is None or bool(right or bottom))
    if title not in tabs or not is_named:
        return None
    if right is None:
        right, bottom = left, top
    return _ordered(tabs[title], (_index(left), _number(top)), (_index(right), _number(bottom)))


def _ordered(
    tab: Tab, start: tuple[int | None, int | None], end: tuple[int | None, int | None]
) -> Area:
    """`B9:A2` means `A2:B9`. An end without row or column is open."""
    left, right = start[0] or 0, end[0]
    top, bottom = start[1] or 0, end[1]
    if right is not None and right < left:
        left, right = right, left
    if bottom is not None and bottom < top:
        top, bottom = bottom, top
    return Area(tab, top, left, bottom, right)


def _index(letters: str) -> int | None:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1 if letters else None


def _number(digits: str) -> int | None:
    return max(int(digits) - 1, 0) if digits else None


def _letters(index: int) -> str:
    text, number = "", index + 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(65 + rest) + text
    return text


def _quoted(title: str) -> str:
    return title if _PLAIN.fullmatch(title) else "'" + title.replace("'", "''") + "'"


Cells = Sequence[Cell | None]

_CREATED: Final = "2024-03-11T09:15:00Z"
_CLIENTS: Final[Sequence[Sequence[Any]]] = (
    ("CL-001", "John Doe", "john.doe@example.com", "+1-555-123-4567", "Tech Corp", "midsize",
     "kosher", "wheelchair accessible", "gold", 12, "2025-09-15", "OP-001, OP-003",
     _CREATED, "2025-09-16T08:00:00Z"),
    ("CL-002", "Jane Smith", "jane.smith@example.com", "+1-555-201-8890", "Smith & Partners",
     "heavy", "", "", "platinum", 47, day("2026-10-02"), "OP-002,OP-004,OP-006", _CREATED),
    ("client-456", "John Smith", "john@example.com", "+1-555-456-7890", "Smith Holdings",
     "light", "vegetarian", "", "silver", 5, "2026-01-20", "OP-005", _CREATED),
    ("CL-003", "María José Fernández", "maria.fernandez@example.es", "+34 91 555 01 02",
     "Inversiones Ñandú", "midsize", "sin gluten", "", "Gold", "19", day("2026-06-30"), "OP-008"),
    ("CL-004", "李小龍", "li.xiaolong@example.hk", "+852 5555 0104", "龍門集團", "heavy", "素食"),
    ("CL-005", "Zoë O'Brien-Łukasiewicz", "zoe@example.ie", "+353 1 555 0105"),
    ("CL-006", "=SUM(A1:A9) Ltd", "accounts@example.com", "+1-555-0106", "=1+1", "light", "@none",
     "-", "standard", 0),
    ("CL-007", "Ahmed Al-Mansouri", "ahmed@example.ae", "+971 4 555 0107", "Al-Mansouri Group",
     "heavy", "halal", "prayer mat on board", "platinum", 88, "2026-11-01", "OP-007,OP-002"),
    ("CL-008", "Grace Hopper", "grace@example.com", "+1-555-0108", "", "", "", "", "vip", "many"),
    ("CL-009", "  Padded Name  ", " Padded@Example.com ", 15550109, "", "", "", "",
     " silver ", 3.0),
    ("CL-010", "Nils Ångström", "nils@example.se", "+46 8 555 01 10", "Ångström AB", "midsize",
     "laktosfri"),
    (),
    ("CL-011", "Olga Петрова", "olga@example.org", "", "", "light", "", "two dogs in the cabin",
     "standard", 2, "last summer"),
    ("CL-012", "Tane Mahuta", "tane@example.nz", "+64 9 555 0112", "Kauri Ltd", "midsize", "", "",
     "silver", 7, day("2025-12-24"), "OP-003,,OP-001, OP-003"),
    ("", "A note of somebody, not a client"),
    ("CL-013", "Priya Raghunathan", "priya@example.in", "+91 22 5550 113", "Raghu Textiles",
     "heavy", "jain", "", "gold", 31, "2026-08-08", "OP-006"),
    ("CL-014", "Émile Dubois", "emile.dubois@example.fr", "+33 1 55 50 01 14", "Dubois & Fils",
     "light", "", "", "standard", 1, "2026-02-14", "OP-005"),
    ("CL-015", "Kwame Mensah", "kwame@example.gh", "+233 30 255 0115", "Volta Energy", "midsize",
     "", "", "gold", 22, "2026-07-19", "OP-004"),
    ("CL-016", "Sofia Rossi", "sofia.rossi@example.it", "+39 02 5550 116", "Rossi Design", "light",
     "pescatarian", "", "silver", 9, "2026-05-05"),
    ("CL-017", "Hans Müller", "hans@example.de", "+49 89 5550 117", "Müller Maschinenbau GmbH",
     "midsize", "", "extra legroom", "gold", 28, "2026-09-09", "OP-001"),
    ("CL-018", "Aiko Tanaka", "aiko@example.jp", "+81 3 5550 0118", "田中商事", "heavy",
     "no shellfish", "", "platinum", 63, "2026-10-30", "OP-007"),
    ("CL-019", "Liam Murphy", "liam@example.ie"),
    ("CL-020", "Beatriz Souza", "beatriz@example.com.br", "+55 11 5550 0120", "Souza Café",
     "light", "", "", "standard", 4, "2026-03-03", "OP-005"),
    ("CL-021", "Test 👩‍✈️ Pilot", "pilot@example.com", "", "", "midsize"),
    ("CL-022", "Noor Jansen", "noor@example.nl", "+31 20 555 0122", "Jansen Bloemen", "light",
     "vegan", "", "silver", 6, "2026-04-27", "OP-008"),
    ("CL-023", "Chiara Bianchi", "chiara@example.ch", "+41 22 555 01 23", "Bianchi SA", "heavy",
     "", "", "platinum", 54, "2026-11-11", "OP-002"),
    ("CL-024", "Samuel Green", "samuel@example.com", "+1-555-0124", "Green Energy", "midsize",
     "nut allergy", "", "standard", 2, "2025-11-30", "OP-001"),
    ("CL-025", "Ingrid Hansen", "ingrid@example.no", "+47 22 55 01 25", "Fjord Shipping", "heavy",
     "", "", "gold", 17, "2026-06-21", "OP-004,OP-006"),
)  # fmt: skip
_PREFERENCES: Final[Sequence[Sequence[Any]]] = (
    ("client_id", "topic", "preference", "priority", "noted_on", "noted_by"),
    ("CL-001", "catering", "kosher, no onions", 1, day("2025-09-01"), "Mara"),
    ("CL-001", "seating", "forward facing", 2, day("2025-09-01"), "Mara"),
    ("CL-002", "newspapers", "Financial Times", 3, day("2026-02-11")),
    ("client-456", "catering", "vegetarian", 1, day("2026-01-05"), "Jon"),
)
_FLOWN: Final[Sequence[Sequence[Any]]] = (
    ("client_id", "date", "route", "aircraft", "operator", "price", "recorded_at", "call_id"),
    ("CL-001", "2025-09-15", "KTEB-KVNY", "Citation X", "OP-001", 45000,
     "2025-09-16T08:00:00Z", "seed-1"),
    ("CL-002", "2026-10-02", "EGGW-LFMN", "Challenger 350", "OP-004", 28500.5,
     "2026-10-03T07:30:00Z", "seed-2"),
)  # fmt: skip


def seeded() -> Iterator[Tab]:
    """The tabs of a new spreadsheet."""
    yield Tab("Clients", _cells((COLUMNS, *_CLIENTS)))
    yield Tab("Preferences", _cells(_PREFERENCES))
    yield Tab("Flight History", _cells(_FLOWN))
    yield Tab("Operators' Notes")


def _cells(rows: Sequence[Sequence[Any]]) -> Iterator[Cells]:
    for row in rows:
        yield [None if value == "" else _cell(value) for value in row]


def _cell(value: Any) -> Cell:
    return value if isinstance(value, Cell) else Cell(value)


_BOOKS: Final = "spreadsheets"
_FLIGHTS: Final = "Flight History"
_STATUSES: Final[Mapping[int, str]] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    422: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
Values = list[list[Any]]


def refuse(refusal: MockRefusal) -> Any:
    """Google's error. Google uses 400 instead of 422."""
    code = 400 if refusal.status == 422 else refusal.status
    status = _STATUSES.get(code, "UNKNOWN")
    return {"error": {"code": code, "message": refusal.title, "status": status}}


def finish(reply: MockReply) -> MockReply:
    """Change 422 to 400, because Google does not use 422."""
    status = 400 if reply.status == 422 else reply.status
    return MockReply(status=status, headers=reply.headers, body=reply.body)


def read_values(request: MockRequest, state: MockState) -> MockReply:
    area = _area(request, state)
    query = request.query
    values = _values(
        area,
        query.get("valueRenderOption", "FORMATTED_VALUE"),
        query.get("dateTimeRenderOption", "SERIAL_NUMBER"),
    )
    return MockReply(body=_value_range(area, values))


def update_values(request: MockRequest, state: MockState) -> MockReply:
    area = _area(request, state)
    rows = request.body.get("values", [])
    height, width = len(rows), max(map(len, rows), default=0)
    if area.top + height - 1 > area.last_row or area.left + width - 1 > area.last_column:
        title = f"Requested writing within range [{area}], but tried writing outside of it"
        raise _refused(400, title)
    updates = _written(area, rows, request)
    _keep(area, request, state)
    if request.query.get("includeValuesInResponse", False):
        render = request.query.get("responseValueRenderOption", "FORMATTED_VALUE")
        values = _values(area, render, "SERIAL_NUMBER")
        updates["updatedData"] = _value_range(area, values)
    return MockReply(body=updates)


def append_values(request: MockRequest, state: MockState) -> MockReply:
    area = _area(request, state)
    rows = request.body.get("values", [])
    table = _table(area)
    row = area.top if table is None else table.last_row + 1
    tab = area.tab
    if request.query.get("insertDataOption", "OVERWRITE") == "INSERT_ROWS" and row < len(tab.rows):
        tab.insert(row, len(rows))
    tab.row_count = max(tab.row_count, row + len(rows))
    place = Area(tab, row, area.left, None, None)
    body: dict[str, Any] = {"spreadsheetId": request.path["spreadsheetId"]}
    if table is not None:
        body["tableRange"] = str(table)
    updates = _written(place, rows, request)
    _keep(place, request, state)
    return MockReply(body={**body, "updates": updates})


BEHAVIOURS: Final = mock_behaviours(
    __name__,
    {
        "readValues": read_values,
        "updateValues": update_values,
        "appendValues": append_values,
    },
)


def _area(request: MockRequest, state: MockState) -> Area:
    """The area of the request's range. Raises `MockRefused`."""
    book = request.path["spreadsheetId"]
    if book.startswith("missing"):
        raise _refused(404, "Requested entity was not found.")
    if book.startswith("private"):
        raise _refused(403, "The caller does not have permission")
    asked = request.path["range"]
    area = find_area(asked, _tabs(book, state))
    if area is None:
        raise _refused(400, f"Unable to parse range: {asked}")
    if not area.is_inside:
        tab = area.tab
        limits = f"Max rows: {tab.row_count}, max columns: {tab.column_count}"
        raise _refused(400, f"Range ({asked}) exceeds grid limits. {limits}")
    return area


def _tabs(book: str, state: MockState) -> Mapping[str, Tab]:
    """The tabs of a spreadsheet, in order: the initial ones, or those written last."""
    tabs = {}
    for first in _tabs_of(book):
        data = state.find(_BOOKS, _key(book, first))
        tabs[first.title] = first if data is None else Tab.restored(first.title, data)
    return tabs


def _keep(area: Area, request: MockRequest, state: MockState) -> None:
    """Store the tab that was written to."""
    state.add(_BOOKS, _key(request.path["spreadsheetId"], area.tab), area.tab.data())


def _key(book: str, tab: Tab) -> str:
    return f"{book}/{tab.title}"


def _tabs_of(book: str) -> list[Tab]:
    if book.startswith("blank"):
        return [Tab("Sheet1")]
    return [tab for tab in seeded() if tab.title != _FLIGHTS or not book.startswith("bare")]


def _values(area: Area, render: str, render_dates: str) -> Values:
    """The rows of the area, without empty cells and rows at the end."""
    rows = [
        _trimmed(
            [
                shown(area.tab.cell(row, column), render, render_dates)
                for column in range(area.left, area.last_column + 1)
            ]
        )
        for row in range(area.top, min(area.last_row + 1, len(area.tab.rows)))
    ]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _trimmed(cells: list[Any]) -> list[Any]:
    while cells and cells[-1] == "":
        cells.pop()
    return cells


def _value_range(area: Area, values: Values) -> dict[str, Any]:
    """`values` is omitted if there are none."""
    body = {"range": str(area), "majorDimension": "ROWS"}
    return {**body, "values": values} if values else body


def _written(area: Area, rows: Sequence[Sequence[Any]], request: MockRequest) -> dict[str, Any]:
    option = request.query["valueInputOption"]
    for down, row in enumerate(rows):
        for right, value in enumerate(row):
            area.tab.put(area.top + down, area.left + right, value, option)
    touched = [
        (down, right)
        for down, row in enumerate(rows)
        for right, value in enumerate(row)
        if value is not None
    ]
    width = max(map(len, rows), default=1)
    end = area.top + max(len(rows), 1) - 1, area.left + max(width, 1) - 1
    return {
        "spreadsheetId": request.path["spreadsheetId"],
        "updatedRange": str(Area(area.tab, area.top, area.left, *end)),
        "updatedRows": len({down for down, _ in touched}),
        "updatedColumns": len({right for _, right in touched}),
        "updatedCells": len(touched),
    }


def _table(area: Area) -> Area | None:
    """The table that an append finds: from the first row to the last row that is not empty.

    In a range without an end, the whole tab is searched; in any other, up to an empty row.
    """
    tab = area.tab
    filled = [row for row in range(area.top, len(tab.rows)) if not tab.is_blank(row)]
    if area.bottom is not None:
        filled = [row for index, row in enumerate(filled) if row == area.top + index]
    if not filled:
        return None
    width = max(len(tab.rows[row]) for row in filled)
    return Area(tab, filled[0], area.left, filled[-1], max(width - 1, area.left))


def _refused(status: int, title: str) -> MockRefused:
    refusal = MockRefusal(status=status, title=title)
    return MockRefused(MockReply(status=status, body=refuse(refusal)))
