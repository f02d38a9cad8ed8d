"""Rows and states that messages leave behind, in every order, against a model of a page."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract.fields.fieldmap import entity_id
from gateway.contract.rows.entity import MOST_ENTRIES, States, outcome, replay
from tests.avinode_messages import (
    AIRCRAFT,
    LATER,
    OPERATOR,
    START,
    changes_of,
    event_of,
    message,
    rows_after,
    rows_of,
)
from tests.state_model import ALLOWED, STEPS, Model, message_of
from tests.unit.tables import each_of

QUOTE_STEPS = ("quote_received", "quote_accepted", "quote_rejected", "quote_expired")
REQUEST_STEPS = ("rfq_received", "rfq_cancelled", "booking_confirmed B-1", "booking_cancelled B-1")
TURNSTILE = States(
    column="status",
    log="log",
    initial=("shut", "open"),
    next={"shut": ("open",), "open": ("shut", "broken"), "broken": ()},
)


def states_of(rows):
    kinds = ALLOWED.keys()
    return {place: row["status"] for place, row in rows.items() if place[0] in kinds}


def reported(rows):
    """What messages said. A row that is only created where there is none is the first one's."""
    first = {"webhook_id", "occurred_at"}
    return {
        place: {name: value for name, value in row.items() if name not in first}
        for place, row in rows.items()
        if place[0] != "messages"
    }


@given(
    steps=st.lists(st.sampled_from(STEPS), min_size=1, max_size=9),
    chance=st.randoms(use_true_random=False),
)
def test_the_order_of_arrival_never_matters(steps, chance):
    messages = [message_of(step, minute) for minute, step in enumerate(steps)]
    arriving = messages + [each for each in messages if chance.random() < 0.3]
    chance.shuffle(arriving)
    rows = rows_of(*arriving)
    assert reported(rows) == reported(rows_of(*messages))
    assert states_of(rows) == Model(steps).states
    for (kind, _), row in rows.items():
        applied = [each["state"] for each in row.get("state_log") or () if each["applied"]]
        moves = {(one, other) for one, other in pairwise(applied) if one != other}
        assert moves <= ALLOWED.get(kind, set())


@pytest.mark.parametrize("steps", [QUOTE_STEPS, REQUEST_STEPS])
def test_all_orders_of_all_messages_of_one_row(steps):
    for happened in permutations(steps):
        changes = [changes_of(message_of(step, at)) for at, step in enumerate(happened)]
        expected = Model(happened).states
        for arriving in permutations(changes):
            rows = rows_after(change for each in arriving for change in each)
            assert states_of(rows) == expected


def test_after_each_message_the_row_says_what_the_arrived_ones_say():
    happened = ["quote_received", "quote_expired", "quote_accepted", "quote_rejected"]
    for arriving in permutations(range(4)):
        for count in range(1, 5):
            known = sorted(arriving[:count])
            rows = rows_of(*(message_of(happened[at], at) for at in arriving[:count]))
            assert states_of(rows) == Model([happened[at] for at in known]).states


@each_of("order", [*permutations(QUOTE_STEPS)])
def test_of_the_same_moment_the_contract_says_which_comes_first(order):
    row = rows_of(*(message_of(step, 5) for step in order))["quotes", "Q-1"]
    log = [(each["state"], each["applied"]) for each in row["state_log"]]
    assert row["status"] == "accepted"
    assert log == [("received", True), ("expired", True), ("rejected", False), ("accepted", True)]


def entry(state, second, number=0):
    return {
        "state": state,
        "occurred_at": f"2026-11-20T12:{second // 60:02}:{second % 60:02}Z",
        "webhook_id": f"00000000-0000-0000-0000-{number:012}",
    }


def test_one_report_under_two_ids_is_one_entry_whichever_came_first():
    one = replay(TURNSTILE, replay(TURNSTILE, [], entry("open", 1, 7)), entry("open", 1, 3))
    other = replay(TURNSTILE, replay(TURNSTILE, [], entry("open", 1, 3)), entry("open", 1, 7))
    assert one == other
    assert [each["webhook_id"][-1] for each in one] == ["3"]


def test_a_log_is_bounded_and_keeps_the_state():
    log = []
    for second in range(MOST_ENTRIES + 50):
        log = replay(TURNSTILE, log, entry("open" if second % 2 else "shut", second))
    assert len(log) == MOST_ENTRIES
    assert log[0]["earlier"] == 50
    assert outcome(TURNSTILE, log)[0] == "open"
    late = replay(TURNSTILE, log, entry("broken", 3))
    assert (late[0]["earlier"], late[0]["state"]) == (51, log[0]["state"])
    assert outcome(TURNSTILE, late)[0] == "open"


CARRYING = States(
    column="status",
    log="log",
    initial=("free", "taken"),
    next={"free": ("taken",), "taken": ("free",)},
    carries=("by", "why"),
)


def carried(state, second, **values):
    return {**entry(state, second), "values": values}


def full_log():
    """Its first entry stands for 20 older ones, and holds no `why`."""
    log = []
    for second in range(20, 20 + MOST_ENTRIES + 20):
        state = "taken" if second % 2 else "free"
        log = replay(CARRYING, log, carried(state, second, by=str(second)))
    assert log[0]["earlier"] == 20
    return log


@pytest.mark.parametrize("second", [1, 30, 39])
def test_what_is_older_than_the_log_changes_nothing_but_the_count(second):
    log = full_log()
    late = replay(CARRYING, log, carried("taken", second, why="late"))
    assert late[0] == {**log[0], "earlier": 21}
    assert late[1:] == log[1:]


def test_of_the_folded_ones_the_later_replace_the_earlier():
    log = []
    for second in range(MOST_ENTRIES + 1):
        state = "taken" if second % 2 else "free"
        values = {"why": "first"} if second == 0 else {"by": str(second)}
        log = replay(CARRYING, log, carried(state, second, **values))
    assert (log[0]["state"], log[0]["values"]) == ("taken", {"by": "1", "why": "first"})


def test_a_booking_that_does_not_hold_takes_no_other_ones_place():
    """Not in a request that is booked, nor in one that looks again because of another booking."""
    steps = ["booking_confirmed B-1", "booking_cancelled B-1", "booking_cancelled B-2"]
    rows = rows_of(*(message_of(step, at) for at, step in enumerate(steps)))
    request = rows["requests", "R-1"]
    assert [each["applied"] for each in request["state_log"]] == [True, True, False]
    assert request["booking_id"] == rows["bookings", "B-1"]["id"]
    assert request["status"] == "reopened"


def test_where_no_booking_is_held_every_one_agrees():
    steps = ["rfq_received", "booking_cancelled B-2"]
    rows = rows_of(*(message_of(step, at) for at, step in enumerate(steps)))
    assert rows["requests", "R-1"]["booking_id"] == rows["bookings", "B-2"]["id"]


def test_what_cannot_follow_is_kept_and_marked():
    log = replay(TURNSTILE, [], entry("broken", 1))
    assert (log[0]["applied"], outcome(TURNSTILE, log)[0]) == (False, None)
    log = replay(TURNSTILE, log, entry("open", 0))
    assert ([each["applied"] for each in log], outcome(TURNSTILE, log)[0]) == (
        [True, True],
        "broken",
    )


QUOTE = ("quotes", "Q-1")
REQUEST = ("requests", "R-1")
EURO = {"total": 90000, "currency": "EUR"}
NEW_TOTAL = {"total": 88000}


def received(minute=0, **facts):
    base = {"quote_id": "Q-1", "rfp_id": "R-1", "operator": OPERATOR, "aircraft": AIRCRAFT}
    return message("quote_received", minute, **base, **facts)


def test_a_new_total_does_not_change_the_currency():
    row = rows_of(
        received(price=EURO), message("quote_updated", 1, quote_id="Q-1", price=NEW_TOTAL)
    )
    assert [row[QUOTE][name] for name in ("price", "currency", "price_usd")] == [88000, "EUR", None]


def test_the_currency_may_become_known_after_the_price():
    late = received(price=EURO)
    row = rows_of(message("quote_updated", 1, quote_id="Q-1", price=NEW_TOTAL), late)[QUOTE]
    assert [row[name] for name in ("price", "currency", "price_usd")] == [88000, "EUR", None]


def test_a_price_without_any_currency_is_in_dollars():
    first = received(price={"total": 90000})
    row = rows_of(first, message("quote_updated", 1, quote_id="Q-1", price=NEW_TOTAL))[QUOTE]
    assert [row[name] for name in ("price", "currency", "price_usd")] == [88000, "USD", 88000]


def test_a_default_never_replaces_a_currency_that_a_message_named():
    named = message("quote_updated", 0, quote_id="Q-1", price=EURO)
    row = rows_of(named, received(1, price={"total": 91000}))[QUOTE]
    assert [row[name] for name in ("price", "currency", "price_usd")] == [91000, "EUR", None]


def test_a_row_without_a_price_has_no_currency():
    assert rows_of(message("quote_expired", quote_id="Q-1"))[QUOTE]["currency"] is None


def test_a_booking_keeps_its_currency_as_well():
    confirmed = message("booking_confirmed", booking_id="B-1", price=EURO)
    updated = message("booking_updated", 1, booking_id="B-1", price=NEW_TOTAL)
    row = rows_of(confirmed, updated)["bookings", "B-1"]
    names = ("total_price", "currency", "total_price_usd")
    assert [row[name] for name in names] == [88000, "EUR", None]


@pytest.mark.parametrize(
    ("event", "facts"),
    [
        ("quote_updated", {"quote_id": "Q-1"}),
        ("quote_accepted", {"quote_id": "Q-1"}),
        ("booking_updated", {"booking_id": "B-1"}),
    ],
)
def test_an_event_names_no_currency_that_its_message_does_not(event, facts):
    found = event_of(message(event, **facts, price=NEW_TOTAL))
    assert not {"currency", "price_usd", "total_price_usd"} & found.keys()
    dollars = event_of(message(event, **facts, price={"total": 5, "currency": "USD"}))
    assert 5 in {dollars.get("price_usd"), dollars.get("total_price_usd")}


def test_a_message_from_the_future_counts_from_its_arrival():
    future = message("rfq_updated", rfp_id="R-1", buyer={"id": "C", "name": "First"})
    future["timestamp"] = "2062-01-01T00:00:00Z"
    later = message("rfq_updated", 3, rfp_id="R-1", buyer={"id": "C", "name": "Second"})
    arrived = START + timedelta(minutes=1)
    row = rows_after([*changes_of(future, arrived), *changes_of(later)])[REQUEST]
    assert row["buyer_name"] == "Second"
    assert {change.occurred_at for change in changes_of(future, arrived)} == {arrived}


def test_what_happened_before_its_arrival_keeps_its_moment():
    (change,) = changes_of(message("rfq_cancelled", rfp_id="R-1"), LATER)
    assert change.occurred_at == START
    (late,) = changes_of(message("rfq_cancelled", rfp_id="R-1"), datetime(2030, 1, 1, tzinfo=UTC))
    assert late.occurred_at == START


def test_an_accepted_quote_that_was_unknown_keeps_all_that_is_said_of_it():
    facts = {"quote_id": "Q-1", "rfp_id": "R-1", "operator": OPERATOR, "aircraft": AIRCRAFT}
    rows = rows_of(message("quote_accepted", **facts, price=EURO))
    row = rows[QUOTE]
    assert [row[name] for name in ("status", "price", "currency")] == ["accepted", 90000, "EUR"]
    assert [row[name] for name in ("aircraft_type", "aircraft_id")] == ["Citation X", "AC-1"]
    operator = rows["operator_profiles", "OP-1"]
    assert (operator["id"], operator["rating"]) == (row["operator_profile_id"], 4.5)
    assert rows[REQUEST]["id"] == row["request_id"]


def test_an_operator_that_a_booking_names_is_there():
    row = rows_of(message("booking_updated", booking_id="B-1", operator=OPERATOR))
    expected = entity_id("operator_profiles", {"avinode_operator_id": "OP-1"})
    assert row["bookings", "B-1"]["operator_profile_id"] == expected
    assert row["operator_profiles", "OP-1"]["id"] == expected


def test_a_quote_says_which_states_it_was_reported_in():
    facts = {"quote_id": "Q-1", "rfp_id": "R-1"}
    row = rows_of(
        message("quote_expired", 2, **facts),
        message("quote_accepted", 1, **facts),
        message("quote_rejected", 3, **facts, reason="Too dear"),
    )[QUOTE]
    assert (row["status"], row["rejection_reason"]) == ("accepted", None)
    log = [(each["state"], each["applied"]) for each in row["state_log"]]
    assert log == [("accepted", True), ("expired", False), ("rejected", False)]
    assert row["state_log"][2]["values"] == {"rejection_reason": "Too dear"}


def test_a_cancelled_booking_sets_its_request_free():
    booked = message("booking_confirmed", 1, booking_id="B-1", rfp_id="R-1")
    cancelled = message("booking_cancelled", 2, booking_id="B-1", rfp_id="R-1")
    late = message("rfq_received", 3, rfp_id="R-1")
    assert rows_of(booked)[REQUEST]["status"] == "booked"
    assert rows_of(booked, late)[REQUEST]["status"] == "booked"
    rows = rows_of(booked, cancelled)
    assert (rows[REQUEST]["status"], rows["bookings", "B-1"]["status"]) == ("reopened", "cancelled")
    assert rows_of(booked, cancelled, late)[REQUEST]["status"] == "reopened"


def test_a_request_stays_booked_when_another_booking_of_it_is_cancelled():
    first = message("booking_confirmed", 1, booking_id="B-1", rfp_id="R-1")
    second = message("booking_confirmed", 2, booking_id="B-2", rfp_id="R-1")
    cancelled = message("booking_cancelled", 3, booking_id="B-1", rfp_id="R-1")
    row = rows_of(first, second, cancelled)[REQUEST]
    expected = entity_id("bookings", {"avinode_booking_id": "B-2"})
    assert (row["status"], row["booking_id"]) == ("booked", expected)
