"""Field functions of Avinode's tools and of its webhook."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.connectors.avinode.fields import (
    average_response_minutes,
    first_response_minutes,
    minutes_between,
)
from gateway.connectors.avinode.webhook_fields import (
    booking_confirmed_note,
    in_dollars,
    quote_accepted_note,
    rfq_received_note,
    thread_of,
    version_id,
)
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.fields.fieldmap import Unmappable
from tests.unit.tables import each_of

START = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)
CREATED = rfc3339(START)
delays = st.lists(st.integers(min_value=0, max_value=10_000), max_size=20)


def lifts(minutes, silent=0):
    answered = [{"answeredOn": rfc3339(START + timedelta(minutes=each))} for each in minutes]
    return [*answered, *[{"id": "still silent"}] * silent, {"answeredOn": None}]


@each_of(
    ("end", "minutes"),
    [
        (CREATED, 0),
        ("2026-11-20T14:30:59.999Z", 0),
        ("2026-11-20T14:31:00Z", 1),
        ("2026-11-20T16:30:00+01:00", 60),
        ("2026-11-20t15:30:00z", 60),
        ("2026-11-20T14:29:00Z", 0),
        ("2026-11-21T14:30:00Z", 1440),
    ],
)
def test_minutes_are_whole_and_never_negative(end, minutes):
    assert minutes_between(CREATED, end) == minutes


def test_a_year_that_the_calendar_lacks_cannot_be_mapped():
    """RFC 3339 has a year 0; the calendar here begins with year 1."""
    with pytest.raises(Unmappable):
        minutes_between("0000-01-01T00:00:00Z", CREATED)


def test_while_nobody_has_answered_there_is_no_time():
    assert first_response_minutes(CREATED, lifts([], silent=3)) is None
    assert average_response_minutes(CREATED, lifts([], silent=3)) is None


@given(minutes=delays.filter(bool), silent=st.integers(min_value=0, max_value=3))
def test_the_first_answer_is_the_earliest(minutes, silent):
    assert first_response_minutes(CREATED, lifts(minutes, silent)) == min(minutes)


@given(minutes=delays.filter(bool), silent=st.integers(min_value=0, max_value=3))
def test_the_average_is_the_rounded_mean_of_those_who_answered(minutes, silent):
    """It lies between the extremes, and silent operators do not pull it down."""
    average = average_response_minutes(CREATED, lifts(minutes, silent))
    assert min(minutes) <= average <= max(minutes)
    assert abs(average - sum(minutes) / len(minutes)) <= 0.5
    assert average == average_response_minutes(CREATED, lifts(minutes[::-1], silent + 1))


@pytest.mark.parametrize(("thread", "expected"), [("alift-1", "alift-1"), (None, "aquote-1")])
def test_without_a_thread_the_quote_is_one(thread, expected):
    assert thread_of(thread, "aquote-1") == expected


@pytest.mark.parametrize(
    ("amount", "currency", "expected"),
    [(48200, "USD", 48200), (48200, None, 48200), (48200, "EUR", None), (None, "USD", None)],
)
def test_only_dollars_pass_for_dollars(amount, currency, expected):
    assert in_dollars(amount, currency) == expected


@given(st.dictionaries(st.text(), st.integers() | st.text()), st.text(min_size=1, max_size=64))
def test_a_version_has_one_id_however_its_members_are_ordered(thing, thing_id):
    shuffled = dict(reversed(list(thing.items())))
    assert version_id(thing_id, thing) == version_id(thing_id, shuffled)


@given(st.integers(), st.integers())
def test_another_version_has_another_id(one, other):
    ids = {version_id("q", {"price": price}) for price in (one, other)}
    assert len(ids) == len({one, other})


def test_notes_say_what_is_known():
    assert rfq_received_note("arfq-1", "Jetvision", "KTEB", None, None) == (
        "The request for proposal arfq-1 was received.\nBuyer: Jetvision\nFrom: KTEB"
    )
    assert quote_accepted_note("aquote-1", None, "Bluewing", 48200, None) == (
        "The quote aquote-1 was accepted.\nOperator: Bluewing\nPrice: 48,200.00"
    )
    assert booking_confirmed_note("abooking-1", None, None, None, None) == (
        "The booking abooking-1 is confirmed."
    )
