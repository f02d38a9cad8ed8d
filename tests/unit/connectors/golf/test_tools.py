"""The golf tools against the mock of the tee sheet."""

import asyncio

import pytest

from gateway.connectors.golf.mock.upstream import SPOTS, slot_by_id, take
from gateway.connectors.golf.tools import MAX_TRIED
from gateway.errors import (
    InvalidArguments,
    InvalidReply,
    ToolFailed,
    UpstreamNotSetUp,
    UpstreamRateLimited,
    UpstreamRejected,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from tests.unit.connectors.tools import ConnectorTools
from tests.unit.tables import each_of

DAY = "2026-12-03"
KEY = "key-of-the-tests"
SLOT = {"tee_time_id": "tt-course-001-20261203-0830", "date": DAY, "time": "08:30", "players": 2}
EARLIEST = {"date": DAY, "players": 2, "auto_book": True, "idempotency_key": KEY}


def golf(*steps, **options):
    return ConnectorTools("golf", *steps, **options)


async def reservations(tools, **days):
    return (await tools.call("get_reservations", user_id="user-001", **days))["reservations"]


async def test_a_search_shows_what_fits_earliest_first():
    result = await golf().call(
        "search_tee_times", date=DAY, time_range_start="08:00", time_range_end="12:00", players=3
    )
    times = [each["time"] for each in result["tee_times"]]
    assert times == sorted(times)
    assert "08:30" in times
    assert set(times) <= {f"{h:02}:{m:02}" for h in range(8, 13) for m in range(60)} | {"12:00"}
    assert min(each["spots_available"] for each in result["tee_times"]) >= 3
    assert result["total"] == len(times)
    assert result["message"] == f"{len(times)} tee times fit; the earliest is at {times[0]}."
    assert "reservation" not in result


async def test_a_booking_says_when_it_is_about_to_be_made():
    tools = golf()
    await tools.call("book_tee_time", **SLOT)

    assert tools.asked == ["readTeeTime", "createReservation"]
    assert [done for done, _ in tools.said] == [1]


async def test_a_booking_at_another_time_says_nothing():
    tools = golf()
    with pytest.raises(ToolFailed):
        await tools.call("book_tee_time", **SLOT | {"time": "09:30"})

    assert tools.said == []


async def test_a_search_reads_every_page(monkeypatch):
    monkeypatch.setattr("gateway.connectors.golf.tools._PAGE", 20)
    tools = golf()
    result = await tools.call("search_tee_times", date=DAY, players=1)
    assert tools.asked.count("listTeeTimes") == 3
    assert 40 < result["total"] <= 60
    assert len({each["tee_time_id"] for each in result["tee_times"]}) == result["total"]


async def test_a_search_goes_to_the_course_of_the_settings():
    tools = golf()
    await tools.call("search_tee_times", date=DAY, players=1)
    assert tools.requests[0].path == ("v1", "courses", "course-001", "tee-times")


async def test_a_range_that_ends_before_it_begins_is_refused_unsent():
    tools = golf()
    with pytest.raises(InvalidArguments) as caught:
        await tools.call(
            "search_tee_times",
            date=DAY,
            players=1,
            time_range_start="10:00",
            time_range_end="09:59",
        )
    assert [each.pointer for each in caught.value.violations] == ["/time_range_end"]
    assert tools.requests == []


async def test_where_nothing_fits_nothing_is_booked():
    tools = golf()
    night = {"time_range_start": "00:00", "time_range_end": "05:00"}
    result = await tools.call("search_tee_times", **EARLIEST, **night)
    assert (result["tee_times"], result["message"]) == ([], "No tee time fits; nothing was booked.")
    assert "createReservation" not in tools.asked


async def test_the_earliest_that_fits_is_booked():
    tools = golf()
    free = await tools.call(
        "search_tee_times", date=DAY, players=2, time_range_start="10:05", time_range_end="15:00"
    )
    result = await tools.call("search_tee_times", **EARLIEST, time_range_start="10:05")
    made = result["reservation"]
    assert made["tee_time_id"] == free["tee_times"][0]["tee_time_id"]
    assert (made["players"], made["status"]) == (2, "confirmed")
    assert result["tee_times"] == []
    assert made["confirmation_code"] in result["message"]
    assert await reservations(tools) == [made]


async def test_the_same_search_with_the_same_key_books_once():
    """The tee time that was booked is full, so a second search would find another one."""
    tools = golf()
    first = await tools.call("search_tee_times", **{**EARLIEST, "players": 4})
    again = await tools.call("search_tee_times", **{**EARLIEST, "players": 4})
    assert again == first
    assert tools.asked.count("createReservation") == 1
    assert len(await reservations(tools)) == 1


def cancel_all(tools):
    """As the course does by telephone: the tee sheet shows it, and gives no notice."""
    state = tools.applications["golf"]._state
    for reservation_id, row in state.rows("reservations"):
        state.add("reservations", reservation_id, row | {"status": "cancelled"})


async def test_the_key_of_a_cancelled_reservation_books_nothing_and_says_so():
    tools = golf()
    await tools.call("search_tee_times", **EARLIEST)
    cancel_all(tools)
    tools.clock.advance(3600)
    again = await tools.call("search_tee_times", **EARLIEST)
    assert again["reservation"]["status"] == "cancelled"
    assert again["message"].startswith("Nothing was booked")
    assert "was cancelled" in again["message"]
    assert tools.asked.count("createReservation") == 1


async def test_a_repeated_booking_says_that_it_was_cancelled_since():
    tools = golf()
    once = {**SLOT, "idempotency_key": KEY}
    await tools.call("book_tee_time", **once)
    cancel_all(tools)
    tools.clock.advance(3600)
    assert (await tools.call("book_tee_time", **once))["reservation"]["status"] == "cancelled"


async def test_a_repeated_booking_is_answered_although_its_state_cannot_be_read():
    tools = golf("listReservations 9 status=500")
    once = {**SLOT, "idempotency_key": KEY}
    first = await tools.call("book_tee_time", **once)
    tools.clock.advance(3600)
    assert await tools.call("book_tee_time", **once) == first


async def test_two_searches_with_two_keys_book_twice():
    tools = golf()
    for key in ("first-of-two", "second-of-two"):
        await tools.call("search_tee_times", **{**EARLIEST, "players": 4, "idempotency_key": key})
    assert len({each["tee_time_id"] for each in await reservations(tools)}) == 2


@pytest.mark.parametrize(
    "change", [{"date": "2026-12-04"}, {"players": 3}, {"time_range_start": "16:50"}]
)
async def test_the_key_of_another_search_is_refused(change):
    tools = golf()
    await tools.call("search_tee_times", **EARLIEST)
    with pytest.raises(ToolFailed) as caught:
        await tools.call("search_tee_times", **{**EARLIEST, **change})
    assert (caught.value.reason, caught.value.status) == ("idempotency_key_reused", 409)
    assert len(await reservations(tools)) == 1


async def test_twenty_searches_at_once_with_one_key_book_once():
    tools = golf()
    results = await asyncio.gather(*(tools.call("search_tee_times", **EARLIEST) for _ in range(20)))
    assert {each["reservation"]["reservation_id"] for each in results} == {"res-10000001"}
    assert len(await reservations(tools)) == 1


def with_rivals(tools, count):
    """Other players take the next `count` tee times just before they are to be booked."""
    backend = tools.line.backend
    send, left = backend.send, [count]

    async def raced(request, *, timeout_seconds, is_cut_short=False):
        if request.operation == "createReservation" and left[0]:
            left[0] -= 1
            take(slot_by_id(request.body["teeTimeId"]), SPOTS, tools.applications["golf"]._state)
        return await send(request, timeout_seconds=timeout_seconds, is_cut_short=is_cut_short)

    backend.send = raced
    return tools


async def test_when_somebody_is_faster_the_next_one_is_booked():
    tools = golf()
    free = (await tools.call("search_tee_times", date=DAY, players=2))["tee_times"]
    with_rivals(tools, MAX_TRIED - 1)
    result = await tools.call("search_tee_times", **EARLIEST)
    assert result["reservation"]["tee_time_id"] == free[MAX_TRIED - 1]["tee_time_id"]


async def test_when_somebody_is_always_faster_the_search_gives_up():
    tools = with_rivals(golf(), MAX_TRIED + 1)
    with pytest.raises(ToolFailed) as caught:
        await tools.call("search_tee_times", **EARLIEST)
    assert (caught.value.reason, caught.value.status) == ("tee_time_unavailable", 409)
    assert tools.asked.count("createReservation") == MAX_TRIED
    assert await reservations(tools) == []


async def test_a_booking_answers_the_reservation():
    tools = golf()
    made = (await tools.call("book_tee_time", **SLOT, idempotency_key=KEY))["reservation"]
    assert (made["date"], made["time"], made["players"]) == (DAY, "08:30", 2)
    assert made["total"] == {"amount": "130.00", "currency": "USD"}
    assert await reservations(tools) == [made]


@pytest.mark.parametrize("change", [{"time": "08:40"}, {"date": "2026-12-04"}])
async def test_a_tee_time_at_another_time_is_not_booked(change):
    tools = golf()
    with pytest.raises(ToolFailed) as caught:
        await tools.call("book_tee_time", **{**SLOT, **change})
    assert (caught.value.reason, caught.value.status) == ("tee_time_mismatch", 409)
    assert tools.asked == ["readTeeTime"]


async def test_a_tee_time_that_does_not_exist_is_not_found():
    with pytest.raises(ToolFailed) as caught:
        await golf().call("book_tee_time", **{**SLOT, "tee_time_id": "nothing"})
    assert (caught.value.reason, caught.value.status) == ("tee_time_not_found", 404)


async def test_twenty_bookings_at_once_with_one_key_are_one():
    tools = golf()
    results = await asyncio.gather(
        *(tools.call("book_tee_time", **SLOT, idempotency_key=KEY) for _ in range(20))
    )
    assert results == [results[0]] * 20
    assert len(await reservations(tools)) == 1


async def test_a_full_tee_time_still_answers_the_key_that_filled_it():
    tools = golf()
    four = {**SLOT, "players": 4, "idempotency_key": KEY}
    assert await tools.call("book_tee_time", **four) == await tools.call("book_tee_time", **four)


@pytest.mark.parametrize(
    ("before", "then", "reason"),
    [
        (
            {"idempotency_key": KEY},
            {"idempotency_key": KEY, "players": 3},
            "idempotency_key_reused",
        ),
        ({}, {}, "duplicate_reservation"),
    ],
)
async def test_what_the_tee_sheet_refuses_is_a_declared_error(before, then, reason):
    tools = golf()
    await tools.call("book_tee_time", **{**SLOT, **before})
    with pytest.raises(ToolFailed) as caught:
        await tools.call("book_tee_time", **{**SLOT, **then})
    assert (caught.value.reason, caught.value.status) == (reason, 409)


async def test_without_a_key_every_call_is_a_booking_of_its_own():
    tools = golf()
    await tools.call("book_tee_time", **SLOT)
    await tools.call(
        "book_tee_time", **{**SLOT, "tee_time_id": "tt-course-001-20261203-0930", "time": "09:30"}
    )
    keys = [dict(each.headers)["Idempotency-Key"] for each in tools.requests if each.headers]
    assert len(set(keys)) == 2


@pytest.mark.usefixtures("time_leaps")
@pytest.mark.parametrize(("key", "is_retryable"), [({"idempotency_key": KEY}, True), ({}, False)])
@pytest.mark.parametrize(
    ("fault", "error"), [("status=503", UpstreamUnavailable), ("latency=30s", UpstreamTimeout)]
)
async def test_a_lost_answer_may_be_asked_for_again_only_with_a_key(
    fault, error, key, is_retryable
):
    tools = golf(f"createReservation 9 {fault}")
    with pytest.raises(error) as caught:
        await tools.call("book_tee_time", **SLOT, **key)
    assert caught.value.is_retryable is is_retryable
    assert ("may have happened" in caught.value.detail) is not is_retryable
    assert tools.asked.count("createReservation") == 4


async def test_a_booking_is_tried_again_with_the_same_key():
    tools = golf("createReservation 2 status=503", "createReservation 1 close")
    await tools.call("book_tee_time", **SLOT)
    keys = {dict(each.headers)["Idempotency-Key"] for each in tools.requests if each.headers}
    assert (len(keys), tools.asked.count("createReservation")) == (1, 4)
    assert len(await reservations(tools)) == 1


async def test_a_booking_that_is_still_being_made_may_be_asked_for_again():
    with pytest.raises(UpstreamUnavailable, match="still processing") as caught:
        await golf("createReservation 1 status=409").call(
            "book_tee_time", **SLOT, idempotency_key=KEY
        )
    assert caught.value.is_retryable


@each_of("tool", ["get_reservations", "search_tee_times", "book_tee_time"])
@each_of(
    ("fault", "error"),
    [
        ("status=418", UpstreamRejected),
        ("status=403", UpstreamNotSetUp),
        ("status=429;retry-after=0", UpstreamRateLimited),
        ("status=500", UpstreamUnavailable),
        ("status=302", InvalidReply),
        ("truncate", InvalidReply),
        ("close", UpstreamUnavailable),
        ("break-contract", InvalidReply),
    ],
)
async def test_a_failing_tee_sheet_never_becomes_a_result(tool, fault, error):
    arguments = {
        "get_reservations": {"user_id": "user-001"},
        "search_tee_times": {"date": DAY, "players": 2},
        "book_tee_time": SLOT,
    }[tool]
    faults = [
        f"{each} 9 {fault}"
        for each in ("listReservations", "listTeeTimes", "readTeeTime", "createReservation")
    ]
    with pytest.raises(error):
        await golf(*faults).call(tool, **arguments)


async def test_reservations_are_those_of_the_days():
    tools = golf()
    for day in ("01", "02", "03"):
        slot = {"tee_time_id": f"tt-course-001-202612{day}-0830", "date": f"2026-12-{day}"}
        await tools.call("book_tee_time", **{**SLOT, **slot})
    found = await reservations(tools, date_from="2026-12-02", date_to="2026-12-02")
    assert [each["date"] for each in found] == ["2026-12-02"]
    assert [each["date"][-2:] for each in await reservations(tools)] == ["01", "02", "03"]
    assert (await tools.call("get_reservations", user_id="user-002"))["reservations"] == []


async def test_more_reservations_than_a_page_are_read_page_by_page():
    tools = golf()
    for day in range(1, 29):
        for hour in ("08", "09", "10", "11"):
            slot = {
                "tee_time_id": f"tt-course-001-202701{day:02}-{hour}30",
                "date": f"2027-01-{day:02}",
                "time": f"{hour}:30",
            }
            await tools.call("book_tee_time", **{**SLOT, **slot})
    first = await tools.call("get_reservations", user_id="user-001")
    rest = await tools.call("get_reservations", user_id="user-001", cursor=first["next_cursor"])
    assert (first["total"], rest["total"]) == (100, 12)
    assert "next_cursor" not in rest
    ids = [each["reservation_id"] for each in first["reservations"] + rest["reservations"]]
    assert len(set(ids)) == 112


async def test_days_in_the_wrong_order_are_no_empty_list():
    tools = golf()
    with pytest.raises(InvalidArguments) as caught:
        await reservations(tools, date_from="2026-12-03", date_to="2026-12-02")
    assert [each.pointer for each in caught.value.violations] == ["/date_to"]
    assert tools.asked == []


async def test_without_a_player_the_reservations_are_those_that_the_gateway_makes():
    tools = golf()
    await tools.call("book_tee_time", **SLOT)
    found = await tools.call("get_reservations")
    assert (found["user_id"], found["total"]) == ("user-001", 1)
    other = await tools.call("get_reservations", user_id="user-002")
    assert (other["user_id"], other["total"]) == ("user-002", 0)
