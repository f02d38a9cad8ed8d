"""The pure functions of the connector `golf`."""

from datetime import datetime, timedelta, timezone
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from gateway.connectors.golf.times import (
    TeeTimeRequest,
    booking_key,
    in_order,
    local_date,
    local_time,
    shown_reservation,
    shown_tee_time,
)
from tests.unit.tables import each_of

times = st.times().map(lambda time: time.strftime("%H:%M"))
zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
texts = st.text(min_size=1, max_size=40)
PRICE = {"amount": "65.00", "currency": "USD", "per": "player", "rack": "80.00"}
TEE_TIME = {
    "teeTimeId": "tt-1",
    "courseId": "course-1",
    "startsAt": "2026-12-01T08:30:00-05:00",
    "holes": 18,
    "spotsTotal": 4,
    "spotsAvailable": 3,
    "price": PRICE,
}


def wanted(**parts):
    return TeeTimeRequest(**{"date": "2026-12-01", "players": 2, **parts})


@given(moment=st.datetimes(timezones=zones))
def test_the_clock_of_the_course_counts_whatever_its_offset(moment):
    text = moment.isoformat(timespec="seconds")
    assert local_date(text) == moment.date().isoformat()
    assert local_time(text) == moment.strftime("%H:%M")


@given(start=times, end=times, at=times)
def test_both_ends_of_the_time_range_are_in_it(start, end, at):
    holds = wanted(start=start, end=end).holds(f"2026-12-01T{at}:00+09:00")
    assert holds is (start <= at <= end)
    if start <= end:
        assert wanted(start=start, end=end).holds(f"2026-12-01T{start}:00-05:00")
        assert wanted(start=start, end=end).holds(f"2026-12-01T{end}:00-05:00")


def test_another_day_does_not_fit_although_the_moment_is_the_same():
    """Half past one at night in UTC is the evening before at the course."""
    assert wanted().holds("2026-12-01T20:30:00-05:00")
    assert not wanted().holds("2026-12-02T01:30:00+00:00")


@each_of(
    ("parts", "fits"),
    [
        ({}, True),
        ({"spotsAvailable": 1}, False),
        ({"spotsAvailable": 2}, True),
        ({"minPlayers": 3}, False),
        ({"maxPlayers": 1}, False),
        ({"minPlayers": 2, "maxPlayers": 2}, True),
        ({"startsAt": "2026-12-02T08:30:00-05:00"}, False),
    ],
)
def test_a_tee_time_fits_with_places_for_all_and_no_more_than_it_takes(parts, fits):
    assert wanted().fits({**TEE_TIME, **parts}) is fits


@given(st.lists(st.tuples(times, st.sampled_from("abc")), max_size=20))
def test_the_earliest_comes_first_and_equal_times_always_in_the_same_order(slots):
    rows = [
        {"teeTimeId": f"tt-{letter}", "startsAt": f"2026-12-01T{time}:00-05:00"}
        for time, letter in slots
    ]
    ordered = sorted(rows, key=in_order)
    backwards = list(reversed(rows))
    moments = [datetime.fromisoformat(row["startsAt"]) for row in ordered]
    assert moments == sorted(moments)
    assert ordered == sorted(backwards, key=in_order)


@given(purpose=texts, text=texts)
def test_a_key_is_a_uuid_and_always_the_same(purpose, text):
    assert str(UUID(booking_key(purpose, text))) == booking_key(purpose, text)
    assert UUID(booking_key(purpose, text)).version == 5


@given(one=texts, other=texts)
def test_other_texts_and_other_purposes_have_other_keys(one, other):
    assert (booking_key("book", one) == booking_key("book", other)) is (one == other)
    assert booking_key("book", one) != booking_key("search", one)


def test_nothing_but_what_the_tools_promise_is_shown():
    """Vendors add members, and results are closed."""
    shown = shown_tee_time({**TEE_TIME, "rateCode": "R"})
    assert shown["price"] == {"amount": "65.00", "currency": "USD", "per": "player"}
    assert "rateCode" not in shown
    assert "cart_included" not in shown
    assert (shown["date"], shown["time"]) == ("2026-12-01", "08:30")


def test_what_a_reservation_lacks_is_left_out():
    row = {
        "reservationId": "res-1",
        "confirmationCode": "ABC",
        "status": "cancelled",
        "teeTimeId": "tt-1",
        "courseId": "course-1",
        "startsAt": "2026-12-01T08:30:00-05:00",
        "players": 2,
        "createdAt": "2026-11-20T14:30:00Z",
    }
    assert not {"total", "cancellable_until"} & shown_reservation(row).keys()
    total = {"amount": "1.00", "currency": "USD", "tax": "0.10"}
    more = shown_reservation({**row, "total": total, "cancellableUntil": "2026-11-30T08:30:00Z"})
    assert more["total"] == {"amount": "1.00", "currency": "USD"}
    assert more["cancellable_until"] == "2026-11-30T08:30:00Z"
