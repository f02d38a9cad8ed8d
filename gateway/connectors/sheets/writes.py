"""The tools of the connector `sheets` that write: they find the row first, then change its cells.

Google has no conditional write. So writes to one spreadsheet run one after the other in this
process. Only changed cells are sent: null leaves a cell unchanged, so that edits by people in other
cells stay. The reply shows whether the row is still the client's. Everything is written RAW: a text
that looks like a formula stays text.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from msgspec import UNSET, Struct

from gateway.connectors.days import last_day
from gateway.connectors.sheets.clients import (
    COLUMNS,
    SHEET,
    ClientRow,
    as_count,
    as_day,
    client_rows,
)
from gateway.contract.connector import tool_handler
from gateway.contract.context import CallContext, UpstreamCall, UpstreamReply
from gateway.errors import InvalidArguments, ToolFailed, UpstreamError
from generated.models.sheets.add_flight_history import (
    AddFlightHistoryInput,
    AddFlightHistoryOutput,
)
from generated.models.sheets.update_client import UpdateClientInput, UpdateClientOutput

_UPSTREAM: Final = "sheets"
_LAST_COLUMN: Final = "N"
_HISTORY: Final = "'Flight History'!A:H"
"""Google's error for a range whose tab does not exist; no other request here causes it."""
_MOVED: Final = (
    "The rows of the sheet were moved during the call, "
    "and the change was written to another client."
)


class _Book(Struct, frozen=True):
    """The client database, within one call."""

    context: CallContext
    spreadsheet: str

    async def find(self, client_id: str) -> ClientRow:
        """The only row of the client. Raises `ToolFailed`."""
        reply = await self._send(
            "readValues",
            f"{SHEET}!A1:{_LAST_COLUMN}",
            {"valueRenderOption": "UNFORMATTED_VALUE", "dateTimeRenderOption": "SERIAL_NUMBER"},
        )
        _refuse_missing(reply, "client_sheet_unusable")
        cells = reply.body.get("values")
        found = [row for row in client_rows(cells) if row.holds("client_id", client_id)]
        if len(found) != 1:
            raise ToolFailed("client_ambiguous" if found else "client_not_found")
        return found[0]

    async def write(self, row: ClientRow, changes: Mapping[str, Any]) -> None:
        """Change the cells of `changes` (an empty text clears one), and check the row.

        Raises `ToolFailed` (`client_moved`) if the row now belongs to another client.
        """
        reply = await self._send(
            "updateValues",
            f"{SHEET}!A{row.number}:{_LAST_COLUMN}{row.number}",
            {
                "valueInputOption": "RAW",
                "includeValuesInResponse": "true",
                "responseValueRenderOption": "UNFORMATTED_VALUE",
            },
            [changes.get(column) for column in COLUMNS],
        )
        _refuse_missing(reply, "client_sheet_unusable")
        # Google omits empty cells: an empty row may have no `values` at all.
        rows = reply.body.get("updatedData", {}).get("values") or [[]]
        if ClientRow(row.number, rows[0]).client_id != row.client_id:
            raise ToolFailed("client_moved", f"{_MOVED} See row {row.number} of the sheet.")

    async def record(self, cells: list[Any]) -> str:
        """Append a row to the flight history and return its range. Raises `ToolFailed`."""
        options = {"valueInputOption": "RAW", "insertDataOption": "INSERT_ROWS"}
        reply = await self._send("appendValues", _HISTORY, options, cells)
        _refuse_missing(reply, "history_sheet_missing")
        place: str = reply.body["updates"]["updatedRange"]
        return place

    async def _send(
        self,
        operation: str,
        place: str,
        query: Mapping[str, str],
        cells: list[Any] | None = None,
    ) -> UpstreamReply:
        body = UNSET if cells is None else {"majorDimension": "ROWS", "values": [cells]}
        path = {"spreadsheetId": self.spreadsheet, "range": place}
        upstream_call = UpstreamCall(_UPSTREAM, operation, path=path, query=query, body=body)
        return await self.context.send(upstream_call, expect={400, 404})


@tool_handler
async def update_client(arguments: UpdateClientInput, context: CallContext) -> UpdateClientOutput:
    """Change cells of a client's row. Raises `ToolFailed`."""
    wanted = arguments.updates.model_dump(mode="json", exclude_unset=True)
    changes = {column: _cell(value) for column, value in wanted.items()}
    book = _book(context)
    async with context.exclusive(_key(book)):
        row = await book.find(arguments.client_id)
        await book.write(row, {**changes, "updated_at": context.call.now})
    written = {
        "client_id": row.client_id,
        "updated_fields": [column for column in COLUMNS if column in changes],
        "updated_at": context.call.now,
    }
    return UpdateClientOutput.model_validate(written)


@tool_handler
async def add_flight_history(
    arguments: AddFlightHistoryInput, context: CallContext
) -> AddFlightHistoryOutput:
    """Record a flight, then count it in the client's row. Raises `ToolFailed`.

    The record is written first: a flight that is recorded but not counted can be found and
    corrected; one that is counted but not recorded cannot.
    """
    flight = arguments.flight_details.model_dump(mode="json", exclude_unset=True)
    if flight["date"] > last_day(datetime.fromisoformat(context.call.now), 0):
        raise InvalidArguments.at("/flight_details/date", "maximum", "is in the future")
    details = [flight.get(name) for name in ("date", "route", "aircraft", "operator", "price")]
    book = _book(context)
    async with context.exclusive(_key(book)):
        row = await book.find(arguments.client_id)
        facts = context.call
        place = await book.record([row.client_id, *details, facts.now, facts.id])
        changes = {**_totals(row, flight["date"]), "updated_at": facts.now}
        try:
            await book.write(row, changes)
        except (ToolFailed, UpstreamError) as error:
            raise ToolFailed("client_not_counted") from error
    totals = {name: value for name, value in changes.items() if name != "updated_at"}
    return AddFlightHistoryOutput(
        client_id=row.client_id, recorded_at=facts.now, recorded_range=place, **totals
    )


def _refuse_missing(reply: UpstreamReply, reason: str) -> None:
    """Raise `ToolFailed` if the spreadsheet or its tab is missing, otherwise the refusal."""
    if reply.is_not_found:
        raise ToolFailed(reason)
    if reply.failure is not None:
        raise reply.failure


def _totals(row: ClientRow, day: str) -> dict[str, Any]:
    """The figures of the row plus one flight. A figure that cannot be read is not changed."""
    changes: dict[str, Any] = {}
    counted, last = row.cell("total_flights"), row.cell("last_flight_date")
    flights = 0 if counted is None else as_count(counted)
    if flights is not None:
        changes["total_flights"] = flights + 1
    last_day = day if last is None else as_day(last)
    if last_day is not None:
        changes["last_flight_date"] = max(last_day, day)
    return changes


def _cell(value: Any) -> Any:
    """The cell for an argument: null clears the cell, a list is joined."""
    if isinstance(value, list):
        return ",".join(value)
    return "" if value is None else value


def _book(context: CallContext) -> _Book:
    return _Book(context, context.setting(_UPSTREAM, "spreadsheet_id"))


def _key(book: _Book) -> str:
    return f"{_UPSTREAM}/{book.spreadsheet}"
