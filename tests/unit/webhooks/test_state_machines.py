"""Every order of every message, with some lost and some twice, against a model of a page."""

from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract.rows.entity import MOST_ENTRIES, States, outcome, replay
from tests.avinode_messages import changes_of, rows_after, rows_of
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
    assert log == [
        ("received", True),
        ("expired", True),
        ("rejected", False),
        ("accepted", True),
    ]


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
