"""How the Sheets mock behaves: ranges, cells, tables and refusals."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.backends.mock.state import StoredState
from gateway.connectors.sheets.clients import COLUMNS, client_rows
from gateway.connectors.sheets.mock.upstream import BEHAVIOURS, Tab, find_area, finish, refuse
from gateway.contract.mock import MockRefusal, MockReply, MockRequest, answer_of
from gateway.contract.values.schema import Validator
from tests.unit import shipped
from tests.unit.tables import each_of

RAW = {"valueInputOption": "RAW"}
TYPED = {"valueInputOption": "USER_ENTERED"}
PLAIN = {"valueRenderOption": "UNFORMATTED_VALUE"}
HISTORY = "'Flight History'!A:H"
TABS = {title: Tab(title) for title in ("Clients", "My Sheet", "It's", "A1", "Data")}


class Book:
    """One spreadsheet of a fresh mock; every reply is held against the contract."""

    def __init__(self, book="book"):
        self._state = StoredState()
        self._book = book

    def ask(self, operation, place, query=None, rows=None):
        """The status and the body."""
        request = MockRequest(
            operation=operation,
            path={"spreadsheetId": self._book, "range": place},
            query=query or {},
            body=None if rows is None else {"values": rows},
            now=datetime(2026, 11, 20, 14, 30, tzinfo=UTC),
            seed="0",
            fingerprint="",
        )
        reply = answer_of(BEHAVIOURS[operation], request, self._state)
        replies = shipped.upstream("sheets").find(operation).replies
        status = str(reply.status)
        assert Validator(replies.get(status) or replies[f"{status[0]}XX"]).admits(reply.body)
        return reply.status, reply.body

    def read(self, place, **query):
        status, body = self.ask("readValues", place, query or PLAIN)
        assert status == 200
        return body

    def values(self, place, **query):
        return self.read(place, **query).get("values")

    def write(self, place, rows, query=RAW):
        return self.ask("updateValues", place, query, rows)

    def append(self, place, rows, **query):
        return self.ask("appendValues", place, {**RAW, **query}, rows)


def test_every_operation_has_a_behaviour_but_the_token():
    assert BEHAVIOURS.keys() == {each.id for each in shipped.upstream("sheets").operations} - {
        "issueToken"
    }


@each_of(
    ("text", "area"),
    [
        ("Clients!A2:N", "Clients!A2:N1000"),
        ("Clients!A2:N5", "Clients!A2:N5"),
        ("Clients!B3", "Clients!B3"),
        ("Clients!A:C", "Clients!A1:C1000"),
        ("Clients!2:3", "Clients!A2:Z3"),
        ("Clients!A5:B", "Clients!A5:B1000"),
        ("Clients!a2:b3", "Clients!A2:B3"),
        ("Clients!C9:A2", "Clients!A2:C9"),
        ("Clients!A1:ZZ2000", "Clients!A1:Z1000"),
        ("B2:C3", "Clients!B2:C3"),
        ("Clients", "Clients!A1:Z1000"),
        ("'My Sheet'", "'My Sheet'!A1:Z1000"),
        ("'My Sheet'!A1:B2", "'My Sheet'!A1:B2"),
        ("'It''s'!A1", "'It''s'!A1"),
        ("A1", "Clients!A1"),
        ("'A1'", "A1!A1:Z1000"),
        ("'A1'!B2", "A1!B2"),
    ],
)
def test_ranges_are_read_as_google_reads_them(text, area):
    assert str(find_area(text, TABS)) == area


@each_of(
    "text",
    ["Nowhere!A1", "Nowhere", "Clients!", "!A1", "Clients!A1:", "Clients!A1:B2:C3", "", "é1"],
)
def test_other_texts_are_no_ranges(text):
    assert find_area(text, TABS) is None


def test_the_client_sheet_has_the_columns_and_clients_enough():
    values = Book().values("Clients!A1:N")
    assert tuple(values[0]) == COLUMNS
    assert len(list(client_rows(values))) >= 25
    assert len({len(row) for row in values}) > 5


def test_an_empty_range_has_no_values_at_all():
    body = Book().read("'Operators'' Notes'!A1:C3")
    assert body == {"range": "'Operators'' Notes'!A1:C3", "majorDimension": "ROWS"}


def test_empty_cells_and_rows_at_the_end_are_left_out_and_others_kept():
    book = Book()
    book.write("'Operators'' Notes'!A2:C3", [["", "b", ""], ["", "", ""]])
    assert book.values("'Operators'' Notes'!A1:C9") == [[], ["", "b"]]


@each_of(
    ("option", "typed", "plain", "formatted", "formula"),
    [
        (RAW, "=1+1", "=1+1", "=1+1", "=1+1"),
        (TYPED, "=1+1", 2, "2", "=1+1"),
        (TYPED, "+1+1", 2, "2", "=+1+1"),
        (TYPED, "=HYPERLINK(A1)", "#ERROR!", "#ERROR!", "=HYPERLINK(A1)"),
        (TYPED, "-a", "#ERROR!", "#ERROR!", "=-a"),
        (RAW, "12", "12", "12", "12"),
        (TYPED, "12", 12, "12", 12),
        (TYPED, "-1.5", -1.5, "-1.5", -1.5),
        (TYPED, "'=1+1", "=1+1", "=1+1", "=1+1"),
        (RAW, "TRUE", "TRUE", "TRUE", "TRUE"),
        (TYPED, "true", True, "TRUE", True),
        (RAW, True, True, "TRUE", True),
        (RAW, 45000, 45000, "45000", 45000),
        (TYPED, "2025-09-15", 45915, "2025-09-15", 45915),
        (TYPED, "2025-02-30", "2025-02-30", "2025-02-30", "2025-02-30"),
    ],
)
def test_what_is_stored_depends_on_how_it_is_put_in(option, typed, plain, formatted, formula):
    book = Book()
    assert book.write("Clients!P1", [[typed]], option)[0] == 200
    renders = ("UNFORMATTED_VALUE", "FORMATTED_VALUE", "FORMULA")
    shown = [book.values("Clients!P1", valueRenderOption=render)[0][0] for render in renders]
    assert shown == [plain, formatted, formula]


def test_dates_are_numbers_unless_asked_for_as_text():
    book = Book()
    text = {"dateTimeRenderOption": "FORMATTED_STRING", **PLAIN}
    assert book.values("Clients!K3") == [[46297]]
    assert book.values("Clients!K3", **text) == [["2026-10-02"]]
    assert book.values("Clients!K3", valueRenderOption="FORMATTED_VALUE") == [["2026-10-02"]]


def test_null_leaves_a_cell_and_an_empty_text_clears_it():
    book = Book()
    _, body = book.write("Clients!A2:E2", [[None, "Jon", "", None]])
    assert (body["updatedCells"], body["updatedColumns"], body["updatedRows"]) == (2, 2, 1)
    assert body["updatedRange"] == "Clients!A2:D2"
    assert book.values("Clients!A2:E2") == [["CL-001", "Jon", "", "+1-555-123-4567", "Tech Corp"]]


def test_a_write_can_show_the_cells_after_it():
    query = {**RAW, "includeValuesInResponse": True, "responseValueRenderOption": "FORMULA"}
    _, body = Book().write("Clients!A2:C2", [[None, "=1+1"]], query)
    assert body["updatedData"]["values"] == [["CL-001", "=1+1", "john.doe@example.com"]]


@pytest.mark.parametrize("rows", [[["a"], ["b"]], [["a", "b", "c"]]])
def test_a_write_beyond_its_range_is_refused_and_changes_nothing(rows):
    book = Book()
    before = book.values("Clients!A1:Z")
    status, body = book.write("Clients!A2:B2", rows)
    assert (status, body["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert book.values("Clients!A1:Z") == before


def test_rows_are_appended_after_the_table():
    book = Book()
    row = ["CL-009", "2026-11-01", None, None, "OP-001"]
    _, body = book.append(HISTORY, [row], insertDataOption="INSERT_ROWS")
    assert body["tableRange"] == "'Flight History'!A1:H3"
    assert body["updates"]["updatedRange"] == "'Flight History'!A4:E4"
    _, again = book.append(HISTORY, [row])
    assert again["updates"]["updatedRange"] == "'Flight History'!A5:E5"
    assert book.values(HISTORY)[3:] == [["CL-009", "2026-11-01", "", "", "OP-001"]] * 2


def test_without_a_table_an_append_begins_with_the_range():
    _, body = Book().append("'Operators'' Notes'!B2", [["a"], ["b"]])
    assert "tableRange" not in body
    assert body["updates"]["updatedRange"] == "'Operators'' Notes'!B2:B3"


def test_a_table_in_the_middle_ends_at_a_blank_row_and_rows_are_inserted_there():
    """Row 13 of the client sheet is blank."""
    book = Book()
    below = book.values("Clients!A14:N")
    _, body = book.append("Clients!A1:N1", [["CL-100"]], insertDataOption="INSERT_ROWS")
    assert body["updates"]["updatedRange"] == "Clients!A13"
    assert book.values("Clients!A13:N13") == [["CL-100"]]
    assert book.values("Clients!A15:N") == below


@given(rows=st.lists(st.lists(st.text(max_size=5), max_size=4), min_size=1, max_size=4))
def test_what_is_written_raw_is_read_back(rows):
    book = Book()
    assert book.write("'Operators'' Notes'!A1:D4", rows)[0] == 200
    expected = [
        row[: max((i + 1 for i, cell in enumerate(row) if cell), default=0)] for row in rows
    ]
    while expected and not expected[-1]:
        expected.pop()
    assert book.values("'Operators'' Notes'!A1:D4") == (expected or None)


def test_spreadsheets_remember_each_for_itself():
    state, other = Book("one"), Book("two")
    state.write("Clients!A2", [["changed"]])
    assert other.values("Clients!A2") == [["CL-001"]]


@each_of(
    ("book", "place", "status", "message"),
    [
        ("book", "Nowhere!A1", 400, "Unable to parse range: Nowhere!A1"),
        ("book", "Clients!A2000:B", 400, "exceeds grid limits"),
        ("missing-1", "Clients!A1", 404, "Requested entity was not found."),
        ("private-1", "Clients!A1", 403, "The caller does not have permission"),
    ],
)
@each_of("operation", ["readValues", "updateValues", "appendValues"])
def test_refusals_are_googles(operation, book, place, status, message):
    rows = None if operation == "readValues" else [["a"]]
    answered, body = Book(book).ask(operation, place, RAW, rows)
    assert answered == body["error"]["code"] == status
    assert message in body["error"]["message"]


def test_what_is_not_valid_is_a_bad_request():
    body = refuse(MockRefusal(status=422, title="No."))
    assert body == {"error": {"code": 400, "message": "No.", "status": "INVALID_ARGUMENT"}}
    assert finish(MockReply(status=422, body=body)).status == 400
    assert finish(MockReply(status=404, body=body)).status == 404
