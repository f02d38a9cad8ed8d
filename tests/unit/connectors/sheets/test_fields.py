"""Field functions of the connector `sheets`: what cells mean, and which clients fit."""

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.connectors.sheets import fields as sheets
from gateway.connectors.sheets.clients import (
    COLUMNS,
    as_count,
    as_day,
    as_moment,
    as_operators,
    as_text,
    client_rows,
    profile,
)
from gateway.errors import ToolFailed
from tests.unit.tables import each_of

HEADER = list(COLUMNS)
JOHN = [
    "CL-001",
    "John Doe",
    "john.doe@example.com",
    "+1-555-123-4567",
    "Tech Corp",
    "midsize",
    "kosher",
    "wheelchair accessible",
    "gold",
    12,
    "2025-09-15",
    "OP-001, OP-003",
    "2024-03-11T09:15:00Z",
    45916.5,
]
JANE = ["CL-002", "Jane Smith", "jane@example.com", "", "Smith & Co", "", "", "", "platinum", 47]
BARE = ["CL-003"]
SHEET = [HEADER, JOHN, [], JANE, ["", "a note"], BARE]
cells = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
)


def test_a_client_is_found_by_email_whatever_the_case():
    assert sheets.client_id(SHEET, {"identifier": " John.DOE@example.com"}) == "CL-001"


def test_a_client_is_found_by_id():
    assert sheets.name(SHEET, {"identifier": "cl-002", "search_field": "client_id"}) == "Jane Smith"
    assert sheets.name(SHEET, {"client_id": "CL-002"}) == "Jane Smith"


@pytest.mark.parametrize("identifier", ["nobody@example.com", " ", "CL-001"])
def test_nobody_is_found_by_an_address_that_is_not_there(identifier):
    with pytest.raises(ToolFailed) as failed:
        sheets.client_id(SHEET, {"identifier": identifier})
    assert failed.value.reason == "client_not_found"


def test_a_whole_row_is_answered_as_a_profile():
    assert profile(next(client_rows(SHEET))) == {
        "client_id": "CL-001",
        "name": "John Doe",
        "email": "john.doe@example.com",
        "phone": "+1-555-123-4567",
        "company": "Tech Corp",
        "preferences": {
            "aircraft_category": "midsize",
            "catering": "kosher",
            "special_needs": "wheelchair accessible",
        },
        "history": {
            "total_flights": 12,
            "last_flight_date": "2025-09-15",
            "preferred_operators": ["OP-001", "OP-003"],
        },
        "vip_status": "gold",
    }


def test_what_a_short_row_does_not_say_is_left_out():
    assert profile(list(client_rows(SHEET))[-1]) == {
        "client_id": "CL-003",
        "preferences": {},
        "history": {},
    }


def test_all_fourteen_columns_are_read():
    """The last two are what the details add."""
    who = {"client_id": "CL-001"}
    assert sheets.created_at(SHEET, who) == "2024-03-11T09:15:00Z"
    assert sheets.updated_at(SHEET, who) == "2025-09-16T12:00:00"


@each_of(
    "header",
    [
        None,
        [],
        [[]],
        [HEADER[:13]],
        [[*HEADER[:3], HEADER[4], HEADER[3], *HEADER[5:]]],
        [["", *HEADER]],
        [JOHN],
    ],
)
def test_a_sheet_whose_columns_are_not_where_they_belong_is_not_read(header):
    with pytest.raises(ToolFailed) as failed:
        sheets.client_count(header)
    assert failed.value.reason == "client_sheet_unusable"


def test_a_header_may_be_written_for_people_and_have_more_columns():
    header = [name.replace("_", " ").title() for name in COLUMNS] + ["Notes"]
    assert sheets.client_count([header, JOHN]) == 1


@given(st.lists(st.lists(cells, max_size=16), max_size=8))
def test_whatever_people_type_is_read_without_an_error(rows):
    sheet = [HEADER, *rows]
    found = sheets.page(sheet, {"limit": 100})
    assert len(found) == sheets.client_count(sheet)
    for client in found:
        assert client["client_id"].strip()
        assert None not in client.values()
        assert client.get("vip_status") in {None, "standard", "silver", "gold", "platinum"}


@pytest.mark.parametrize(
    ("cell", "text"),
    [(12.0, "12"), (12.5, "12.5"), (True, "TRUE"), (" a ", "a"), ("  ", None), (None, None)],
)
def test_a_cell_reads_as_text(cell, text):
    assert as_text(cell) == text


@each_of(
    ("cell", "count"),
    [
        *[(3, 3), (3.0, 3), ("19", 19), (0, 0), (" 7 ", 7)],
        *[(cell, None) for cell in ("many", 3.5, -1, True, "\u0663", "9" * 10, None)],
    ],
)
def test_a_count_is_a_whole_number_or_nothing(cell, count):
    assert as_count(cell) == count


@given(st.dates(min_value=date(1899, 12, 31)))
def test_a_day_reads_the_same_from_a_text_and_from_a_spreadsheets_number(day):
    number = (day - date(1899, 12, 30)).days
    assert as_day(number) == as_day(day.isoformat()) == day.isoformat()
    assert as_day(number + 0.75) == day.isoformat()


@each_of("cell", ["last summer", "2026-13-01", "", None, True, 1e300, -1e300])
def test_what_is_no_date_is_left_out(cell):
    assert as_day(cell) is None


def test_a_time_of_a_spreadsheet_has_no_zone():
    assert as_moment(1 + timedelta(hours=6) / timedelta(days=1)) == "1899-12-31T06:00:00"
    assert as_moment("yesterday") == "yesterday"


@given(st.integers(0, 300 * 366 * 86400))
def test_a_time_of_a_spreadsheet_is_the_second_that_was_meant(second):
    """As Google counts: days since 1899-12-30, with fifteen digits."""
    moment = datetime.fromisoformat("1899-12-30") + timedelta(seconds=second)
    days = round(timedelta(seconds=second) / timedelta(days=1), 10)
    assert as_moment(days) == moment.isoformat()
    assert as_day(days) == moment.date().isoformat()


def test_operators_are_listed_once():
    assert as_operators("OP-003,,OP-001, OP-003 ") == ["OP-003", "OP-001"]
    assert len(as_operators(",".join(map(str, range(500))))) == 100


@each_of(
    ("inputs", "ids"),
    [
        ({}, ["CL-001", "CL-002", "CL-003"]),
        ({"query": "SMITH"}, ["CL-002"]),
        ({"query": "smith jane"}, ["CL-002"]),
        ({"query": "smith john"}, []),
        ({"query": "cl-003"}, ["CL-003"]),
        ({"filters": {"vip_status": "gold"}}, ["CL-001"]),
        ({"filters": {"min_flights": 13}}, ["CL-002"]),
        ({"filters": {"min_flights": 0}}, ["CL-001", "CL-002", "CL-003"]),
        ({"query": "example", "filters": {"vip_status": "gold", "min_flights": 13}}, []),
    ],
)
def test_clients_are_searched_by_words_and_filters(inputs, ids):
    assert [client["client_id"] for client in sheets.searched(SHEET, inputs)] == ids
    assert sheets.searched_count(SHEET, inputs) == len(ids)


def test_a_search_answers_ten_unless_asked_and_counts_all():
    sheet = [HEADER, *([f"CL-{number}"] for number in range(25))]
    assert len(sheets.searched(sheet, {})) == 10
    assert len(sheets.searched(sheet, {"limit": 3})) == 3
    assert sheets.searched_count(sheet, {"limit": 3}) == 25


def test_only_the_fields_asked_for_are_answered_and_always_the_id():
    asked = {"query": "smith", "fields": ["name", "vip_status", "phone"]}
    assert sheets.named(SHEET, asked) == [
        {"client_id": "CL-002", "name": "Jane Smith", "vip_status": "platinum"}
    ]
    assert sheets.named_count(SHEET, asked) == 1


def test_a_search_by_name_does_not_look_at_the_company():
    assert sheets.named(SHEET, {"query": "tech corp"}) == []


@given(count=st.integers(0, 60), limit=st.integers(1, 100), start=st.integers(0, 70))
def test_pages_follow_each_other_without_gap_or_repetition(count, limit, start):
    sheet = [HEADER, *([f"CL-{number}"] for number in range(count))]
    seen, offset = [], start
    while offset is not None:
        inputs = {"limit": limit, "offset": offset}
        seen += [client["client_id"] for client in sheets.page(sheet, inputs)]
        offset = sheets.next_offset(sheet, inputs)
    assert seen == [f"CL-{number}" for number in range(start, count)]


@pytest.mark.parametrize(
    ("asked", "read"), [(None, "main"), ("main", "main"), ("a", "a"), ("b", "b")]
)
def test_the_client_database_and_what_the_operator_allows_can_be_read(asked, read):
    assert sheets.readable_spreadsheet(asked, "main", "a,b") == read


@pytest.mark.parametrize(("asked", "readable"), [("c", "a,b"), ("a", ""), ("a,b", "a,b"), ("", "")])
def test_no_other_spreadsheet_can_be_read(asked, readable):
    with pytest.raises(ToolFailed) as failed:
        sheets.readable_spreadsheet(asked, "main", readable)
    assert failed.value.reason == "spreadsheet_not_readable"


def test_a_range_is_answered_as_it_is_up_to_a_limit():
    many = [[number] for number in range(sheets.MAX_ROWS + 1)]
    assert (sheets.rows(None), sheets.row_count(None), sheets.is_cut(None)) == ([], 0, False)
    assert sheets.rows(many) == many[:-1]
    assert sheets.row_count(many) == len(many)
    assert sheets.is_cut(many)
    assert not sheets.is_cut(many[:-1])


def test_numbers_that_json_writes_with_a_fraction_are_whole():
    """`2.0` is an integer to JSON Schema."""
    sheet = [HEADER, *([f"CL-{number}"] for number in range(9))]
    inputs = {"limit": 2.0, "offset": 1.0}
    assert [client["client_id"] for client in sheets.page(sheet, inputs)] == ["CL-1", "CL-2"]
    assert repr(sheets.next_offset(sheet, inputs)) == "3"
    assert len(sheets.searched(sheet, {"limit": 2.0})) == 2
