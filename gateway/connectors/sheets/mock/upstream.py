"""The behaviour of the Sheets mock: spreadsheets that store what is written to them.

Each spreadsheet id is a separate client database. Ids that begin with `missing` do not exist, and
those with `private` are not shared. Those with `blank` are like a new spreadsheet of Google, and
those with `bare` have no tab for flights. Errors are Google's, without the older `errors` list.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.connectors.sheets.mock.cells import shown
from gateway.connectors.sheets.mock.grid import Area, Tab, find_area
from gateway.connectors.sheets.mock.seed import seeded
from gateway.contract.connector import mock_behaviours
from gateway.contract.mock import MockRefusal, MockReply, MockRequest, MockState

__all__ = ["BEHAVIOURS", "finish", "refuse"]

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
    if isinstance(area, MockReply):
        return area
    query = request.query
    values = _values(
        area,
        query.get("valueRenderOption", "FORMATTED_VALUE"),
        query.get("dateTimeRenderOption", "SERIAL_NUMBER"),
    )
    return MockReply(body=_value_range(area, values))


def update_values(request: MockRequest, state: MockState) -> MockReply:
    area = _area(request, state)
    if isinstance(area, MockReply):
        return area
    rows = request.body.get("values", [])
    height, width = len(rows), max(map(len, rows), default=0)
    if area.top + height - 1 > area.last_row or area.left + width - 1 > area.last_column:
        title = f"Requested writing within range [{area}], but tried writing outside of it"
        return _refused(400, title)
    updates = _written(area, rows, request)
    _keep(area, request, state)
    if request.query.get("includeValuesInResponse", False):
        render = request.query.get("responseValueRenderOption", "FORMATTED_VALUE")
        values = _values(area, render, "SERIAL_NUMBER")
        updates["updatedData"] = _value_range(area, values)
    return MockReply(body=updates)


def append_values(request: MockRequest, state: MockState) -> MockReply:
    area = _area(request, state)
    if isinstance(area, MockReply):
        return area
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


def _area(request: MockRequest, state: MockState) -> Area | MockReply:
    """The area of the request's range, or the refusal."""
    book = request.path["spreadsheetId"]
    if book.startswith("missing"):
        return _refused(404, "Requested entity was not found.")
    if book.startswith("private"):
        return _refused(403, "The caller does not have permission")
    asked = request.path["range"]
    area = find_area(asked, _tabs(book, state))
    if area is None:
        return _refused(400, f"Unable to parse range: {asked}")
    if not area.is_inside:
        tab = area.tab
        limits = f"Max rows: {tab.row_count}, max columns: {tab.column_count}"
        return _refused(400, f"Range ({asked}) exceeds grid limits. {limits}")
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


def _refused(status: int, title: str) -> MockReply:
    return MockReply(status=status, body=refuse(MockRefusal(status=status, title=title)))
