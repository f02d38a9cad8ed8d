"""Rows that Avinode's messages leave behind: partial ones, late ones, and ones from the future."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.contract.fields.fieldmap import entity_id
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
