"""The sheets tools through their generated bindings, against the mock."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.calls.replies import ReplyReader
from gateway.connectors.sheets.clients import COLUMNS
from gateway.contract.upstream import Reply
from gateway.contract.values import jsontext
from gateway.errors import (
    InvalidArguments,
    InvalidReply,
    ToolFailed,
    UpstreamNotSetUp,
    UpstreamRateLimited,
    UpstreamRefusedCredentials,
    UpstreamRejected,
    UpstreamUnavailable,
)
from tests.unit import shipped
from tests.unit.connectors.sheets_desk import Desk
from tests.unit.tables import each_of

READS = {
    "get_client": {"identifier": "john.doe@example.com"},
    "get_client_details": {"client_id": "CL-001"},
    "list_clients": {},
    "read_sheet": {"range": "Clients!A1:N"},
    "search_client": {"query": "smith"},
    "search_clients": {"query": "smith"},
}
FLIGHT = {"client_id": "CL-001", "flight_details": {"date": "2026-11-18", "route": "KTEB-KVNY"}}
CHANGE = {"client_id": "CL-001", "updates": {"phone": "+1-555-0000"}}
WRITES = {"add_flight_history": FLIGHT, "update_client": CHANGE}
LIKE_FORMULAS = st.tuples(st.sampled_from("=+-@\t\r'"), st.text(max_size=20)).map("".join)


async def failure(desk, tool, **arguments):
    """The reason of the declared error that the call ends with."""
    with pytest.raises(ToolFailed) as failed:
        await desk.call(tool, **arguments)
    assert failed.value.status in {403, 404, 409, 502}
    return failed.value.reason


def test_most_tools_are_maps_and_none_writes_through_one():
    operations = [
        shipped.catalogue().find(f"sheets.{tool}").operation for tool in {**READS, **WRITES}
    ]
    assert {each.binding.__class__.__name__ for each in operations if each.effect == "read"} == {
        "HttpBinding"
    }
    assert {each.attempts.max for each in operations if each.effect == "read"} == {3}
    assert {each.attempts.max for each in operations if each.effect == "write"} == {1}


@each_of("tool", [*READS, *WRITES])
async def test_every_tool_answers_within_its_contract(tool):
    assert await Desk().call(tool, **{**READS, **WRITES}[tool])


@each_of("tool", [*READS, *WRITES])
@each_of(
    ("fault", "error"),
    [
        ("status=401", UpstreamRefusedCredentials),
        ("status=403", UpstreamNotSetUp),
        ("status=409", UpstreamRejected),
        ("status=429;retry-after=60", UpstreamRateLimited),
        ("status=500", UpstreamUnavailable),
        ("truncate", InvalidReply),
        ("break-contract", InvalidReply),
    ],
)
async def test_a_failing_upstream_never_becomes_a_result(tool, fault, error):
    with pytest.raises(error):
        await Desk(f"readValues 2 {fault}").call(tool, **{**READS, **WRITES}[tool])


@each_of("tool", [*READS, *WRITES])
@each_of("book", ["missing-book", "private-book", "blank-book"])
async def test_a_spreadsheet_that_is_not_there_or_not_shared_is_distinguished(tool, book):
    desk = Desk(book=book)
    arguments = {**READS, **WRITES}[tool]
    if book == "private-book":
        with pytest.raises(UpstreamNotSetUp):
            await desk.call(tool, **arguments)
    else:
        expected = "range_not_found" if tool == "read_sheet" else "client_sheet_unusable"
        assert await failure(desk, tool, **arguments) == expected


@each_of("tool", [tool for tool in {**READS, **WRITES} if tool != "read_sheet"])
async def test_a_sheet_whose_columns_were_moved_is_neither_read_nor_written(tool):
    desk = Desk()
    await desk.ask("updateValues", "Clients!B1:C1", [["email", "name"]])
    assert await failure(desk, tool, **{**READS, **WRITES}[tool]) == "client_sheet_unusable"
    assert desk.asked == ["readValues"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_client", {"identifier": "nobody@example.com"}),
        ("get_client_details", {"client_id": "CL-999"}),
        ("update_client", {**CHANGE, "client_id": "CL-999"}),
        ("add_flight_history", {**FLIGHT, "client_id": "CL-999"}),
    ],
)
async def test_a_client_who_is_not_there_is_not_found(tool, arguments):
    desk = Desk()
    assert await failure(desk, tool, **arguments) == "client_not_found"
    assert desk.asked == ["readValues"]


@pytest.mark.parametrize(
    ("cell", "tool", "arguments"),
    [
        ("Clients!C3", "get_client", {"identifier": "JOHN.DOE@example.com "}),
        ("Clients!A3", "get_client", {"identifier": "CL-001", "search_field": "client_id"}),
        ("Clients!A3", "get_client_details", {"client_id": "CL-001"}),
    ],
)
async def test_of_two_rows_with_one_address_or_id_none_is_answered(cell, tool, arguments):
    desk = Desk()
    same = "john.doe@example.com" if "C" in cell[8:] else "cl-001"
    await desk.ask("updateValues", cell, [[same]])
    assert await failure(desk, tool, **arguments) == "client_ambiguous"


@pytest.mark.parametrize("tool", WRITES)
async def test_of_two_rows_with_one_id_none_is_written(tool):
    desk = Desk()
    await desk.ask("updateValues", "Clients!A3", [["cl-001"]])
    assert await failure(desk, tool, **WRITES[tool]) == "client_ambiguous"
    assert desk.asked == ["readValues"]


async def test_an_update_changes_the_named_cells_and_the_time_and_no_others():
    desk = Desk()
    before = (await desk.cells("Clients!A1:N"))[1]
    updates = {
        "aircraft_preference": "heavy",
        "special_needs": None,
        "preferred_operators": ["OP-004", "OP-005"],
    }
    result = await desk.call("update_client", client_id="cl-001", updates=updates)
    assert result == {
        "client_id": "CL-001",
        "updated_fields": ["aircraft_preference", "special_needs", "preferred_operators"],
        "updated_at": "2026-11-20T14:30:00.000Z",
    }
    expected = dict(zip(COLUMNS, before, strict=True)) | {
        "aircraft_preference": "heavy",
        "special_needs": "",
        "preferred_operators": "OP-004,OP-005",
        "updated_at": "2026-11-20T14:30:00.000Z",
    }
    after = await desk.cells("Clients!A1:N")
    assert dict(zip(COLUMNS, after[1], strict=True)) == expected
    assert after[0] == list(COLUMNS)


async def test_what_a_person_types_meanwhile_in_another_cell_stays():
    desk = Desk()
    desk.meddle["updateValues"] = ("updateValues", "Clients!E2", [["New Corp"]])
    await desk.call("update_client", **CHANGE)
    assert (await desk.cells("Clients!D2:E2")) == [["+1-555-0000", "New Corp"]]


async def test_a_row_that_moved_meanwhile_is_reported():
    """Somebody sorts the sheet between the reading and the writing; Google cannot prevent it."""
    desk = Desk()
    desk.meddle["updateValues"] = ("updateValues", "Clients!A2:A3", [["CL-002"], ["CL-001"]])
    with pytest.raises(ToolFailed) as failed:
        await desk.call("update_client", **CHANGE)
    assert failed.value.reason == "client_moved"
    assert "row 2" in failed.value.detail


@pytest.mark.parametrize("shown", [{}, {"values": []}, {"values": [[]]}])
async def test_a_row_that_is_empty_after_the_change_is_reported(shown):
    desk = Desk()
    place = "Clients!A2:N2"
    desk.answers["updateValues"] = {"updatedRange": place, "updatedData": {"range": place, **shown}}
    assert await failure(desk, "update_client", **CHANGE) == "client_moved"


async def test_twenty_updates_at_once_lose_nothing():
    desk = Desk()
    texts = ("name", "company", "phone", "catering_preference", "special_needs")
    updates = [{name: f"{name} {number}"} for number in range(4) for name in texts]
    calls = (desk.call("update_client", client_id="CL-001", updates=each) for each in updates)
    await asyncio.gather(*calls)
    details = dict(zip(COLUMNS, (await desk.cells("Clients!A2:N2"))[0], strict=True))
    for name in texts:
        assert details[name] in {f"{name} {number}" for number in range(4)}
    assert details["client_id"] == "CL-001"
    assert desk.asked == ["readValues", "updateValues"] * 20


async def test_twenty_flights_at_once_are_all_counted():
    """Counting reads and then writes: two at a time would count one flight for both."""
    desk = Desk()
    await asyncio.gather(*(desk.call("add_flight_history", **FLIGHT) for _ in range(20)))
    assert (await desk.cells("Clients!J2")) == [[32]]
    assert len(await desk.cells("'Flight History'!A2:H")) == 22


async def test_a_flight_is_recorded_and_counted():
    desk = Desk()
    flight = {"aircraft": "Citation X", "operator": "OP-001", "price": 45000.5}
    details = {**FLIGHT["flight_details"], **flight}
    result = await desk.call("add_flight_history", client_id="CL-001", flight_details=details)
    assert result == {
        "client_id": "CL-001",
        "recorded_at": "2026-11-20T14:30:00.000Z",
        "recorded_range": "'Flight History'!A4:H4",
        "total_flights": 13,
        "last_flight_date": "2026-11-18",
    }
    row = ["CL-001", "2026-11-18", "KTEB-KVNY", "Citation X", "OP-001", 45000.5]
    assert await desk.cells("'Flight History'!A4:H") == [
        [*row, "2026-11-20T14:30:00.000Z", "request-1"]
    ]
    assert desk.asked == ["readValues", "appendValues", "updateValues"]


@pytest.mark.parametrize(
    ("client_id", "day", "figures"),
    [
        ("CL-001", "2024-01-01", {"total_flights": 13, "last_flight_date": "2025-09-15"}),
        ("CL-002", "2026-10-01", {"total_flights": 48, "last_flight_date": "2026-10-02"}),
        ("CL-003", "2026-07-01", {"total_flights": 20, "last_flight_date": "2026-07-01"}),
        ("CL-019", "2026-07-01", {"total_flights": 1, "last_flight_date": "2026-07-01"}),
        ("CL-008", "2026-07-01", {"last_flight_date": "2026-07-01"}),
        ("CL-011", "2026-07-01", {"total_flights": 3}),
    ],
)
async def test_figures_that_cannot_be_read_are_left_alone(client_id, day, figures):
    """CL-008 has flown `many` times, and CL-011 `last summer`."""
    desk = Desk()
    details = {"date": day}
    result = await desk.call("add_flight_history", client_id=client_id, flight_details=details)
    names = ("total_flights", "last_flight_date")
    assert {name: result[name] for name in names if name in result} == figures


async def test_without_the_tab_for_flights_nothing_is_recorded():
    desk = Desk(book="bare-book")
    assert await failure(desk, "add_flight_history", **FLIGHT) == "history_sheet_missing"
    assert desk.asked == ["readValues", "appendValues"]
    assert (await desk.cells("Clients!J2")) == [[12]]


@pytest.mark.parametrize("operation", ["readValues", "updateValues"])
async def test_a_refusal_that_is_not_known_is_not_explained_away(operation):
    with pytest.raises(UpstreamRejected):
        await Desk(f"{operation} 1 status=400").call("update_client", **CHANGE)


@pytest.mark.parametrize("fault", ["status=503", "status=429", "close", "truncate", "status=404"])
async def test_a_flight_that_is_recorded_and_not_counted_is_reported(fault):
    desk = Desk(f"updateValues 1 {fault}")
    assert await failure(desk, "add_flight_history", **FLIGHT) == "client_not_counted"
    assert desk.asked == ["readValues", "appendValues", "updateValues"]
    assert len(await desk.cells("'Flight History'!A2:H")) == 3


@pytest.mark.parametrize("fault", ["status=503", "close"])
async def test_an_append_is_never_repeated(fault):
    desk = Desk(f"appendValues 1 {fault}")
    with pytest.raises(UpstreamUnavailable) as failed:
        await desk.call("add_flight_history", **FLIGHT)
    assert not failed.value.is_retryable
    assert "may have happened" in failed.value.detail
    assert desk.asked == ["readValues", "appendValues"]


@given(text=LIKE_FORMULAS)
async def test_what_looks_like_a_formula_stays_a_text(text):
    desk = Desk()
    await desk.call("update_client", client_id="CL-001", updates={"company": text})
    for render in ("FORMULA", "UNFORMATTED_VALUE", "FORMATTED_VALUE"):
        assert await desk.cells("Clients!E2", render) == [[text]]
    route = {"date": "2026-11-18", "route": text + "x"}
    await desk.call("add_flight_history", client_id="CL-001", flight_details=route)
    assert await desk.cells("'Flight History'!C4", "FORMULA") == [[text + "x"]]
    options = [dict(each.query).get("valueInputOption", "RAW") for each in desk.requests]
    assert set(options) == {"RAW"}


async def test_the_operator_says_which_spreadsheets_can_be_read():
    desk = Desk(readable="other-1,other-2")
    for book in (None, "mock-client-database", "other-2"):
        asked = {} if book is None else {"sheet_id": book}
        assert (await desk.call("read_sheet", range="Clients!A2", **asked))["values"] == [
            ["CL-001"]
        ]
    sent = len(desk.requests)
    refused = await failure(desk, "read_sheet", range="Clients!A2", sheet_id="other-3")
    assert refused == "spreadsheet_not_readable"
    assert len(desk.requests) == sent


async def test_cells_are_read_with_their_types_and_dates_as_text():
    result = await Desk().call("read_sheet", range="Clients!I3:K4")
    assert result["values"] == [["platinum", 47, "2026-10-02"], ["silver", 5, "2026-01-20"]]
    assert (await Desk().call("read_sheet", range="Clients!A900:B"))["values"] == []


@each_of(
    "wanted",
    [
        "Clients!A2:N",
        "Clients!A:N",
        "Clients!2:5",
        "Clients!B7",
        "Clients",
        "A1:B2",
        "Preferences!A2:F100",
        "'Flight History'!A:H",
        "'Operators'' Notes'!A1",
        "'Gäste 2026 (neu)'!A1:B2",
        "A:C",
        "1:2",
        "clients!a1:b2",
        "Clients!$A$1",
        "Clients!$A1:B$2",
        "'50% / year?'!A1",
        "'a/b'!A1",
        "'a?b#c'!A1",
    ],
)
def test_ranges_are_admitted(wanted):
    assert shipped.catalogue().find("sheets.read_sheet").input.violations({"range": wanted}) == ()


@each_of(
    "wanted",
    [
        "../../v4/spreadsheets/other/values/A1",
        "Clients!A1/../../x",
        "Clients/A1",
        "'a/../b'!A1",
        "'/./b'!A1",
        "'a//b'!A1",
        "'a/'!A1",
        "'a\\b'!A1",
        "Clients!A1?key=x",
        "Clients!A1:append",
        "Clients!A1:B2:clear",
        "Clients:append",
        "'open!A1",
        "'a'b'!A1",
        "''!A1",
        "Clients!A1:B2,Other!A1",
        "Clients!A0",
        "Clients!R1C1:R2C2",
        "Clients!A1:B2\n",
        "'a\nb'!A1",
        "Clients!$$A1",
        "A:C:E",
        "..",
        ".",
        "",
        " ",
        "=A1",
        "Clients!A1:B2 ",
    ],
)
def test_other_texts_are_refused_before_anything_is_sent(wanted):
    assert shipped.catalogue().find("sheets.read_sheet").input.violations({"range": wanted})


@each_of("book", ["", "a/b", "..", "a b", "a%2Fb", "é", "x" * 129])
def test_ids_of_spreadsheets_that_cannot_be_are_refused(book):
    arguments = {"range": "A1:B2", "sheet_id": book}
    assert shipped.catalogue().find("sheets.read_sheet").input.violations(arguments)


@each_of(
    "updates",
    [
        {},
        {"client_id": "CL-002"},
        {"created_at": "2026-01-01T00:00:00Z"},
        {"updated_at": "2026-01-01T00:00:00Z"},
        {"colour": "red"},
        {"name": None},
        {"email": "nobody"},
        {"vip_status": "king"},
        {"total_flights": -1},
        {"preferred_operators": ["OP-1,OP-2"]},
        {"last_flight_date": "yesterday"},
    ],
)
def test_only_what_may_be_edited_can_be_updated(updates):
    arguments = {"client_id": "CL-001", "updates": updates}
    assert shipped.catalogue().find("sheets.update_client").input.violations(arguments)


@pytest.mark.parametrize(
    ("facts", "error"),
    [
        ({"status": "PERMISSION_DENIED"}, UpstreamNotSetUp),
        ({"status": "RESOURCE_EXHAUSTED"}, UpstreamRateLimited),
        ({"errors": [{"reason": "userRateLimitExceeded"}]}, UpstreamRateLimited),
        ({"errors": [{"reason": "forbidden"}]}, UpstreamNotSetUp),
        ({"errors": []}, UpstreamNotSetUp),
    ],
)
def test_a_403_that_is_a_limit_is_distinguished_from_one_that_is_not(facts, error):
    body = jsontext.encode({"error": {"code": 403, "message": "No.", **facts}})
    reply = Reply(status=403, headers={"content-type": "application/json"}, body=body)
    assert isinstance(ReplyReader(shipped.upstream("sheets")).failure(reply), error)


@pytest.mark.parametrize("query", ["maria jose", "MARÍA", "angstrom", "Ångström", "emile dubois"])
async def test_accents_make_no_difference_to_a_search_of_clients(query):
    found = await Desk().call("search_clients", query=query)
    assert found["clients"]


@each_of("wanted", ["Clients!$A$2:$B3", "Clients!a2:b3", "A2:B3", "A:B", "1:2"])
async def test_a_range_means_the_same_however_it_is_written(wanted):
    desk = Desk()
    assert (await desk.call("read_sheet", range=wanted))["values"][0]


async def test_a_sheet_may_have_any_name():
    assert await failure(Desk(), "read_sheet", range="'50% / year? #1'!A1") == "range_not_found"


async def test_a_flight_of_the_future_is_no_history():
    desk = Desk()
    flight = {**FLIGHT, "flight_details": {"date": "2099-01-01", "route": "KTEB-KVNY"}}
    with pytest.raises(InvalidArguments) as caught:
        await desk.call("add_flight_history", **flight)
    assert [each.pointer for each in caught.value.violations] == ["/flight_details/date"]
    assert desk.asked == []
