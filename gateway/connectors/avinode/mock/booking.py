"""How a trip of the Avinode mock ends: the buyer books at the marketplace.

The buyer books the first quote whose operator the broker writes to. Requests that were made through
the API are not booked: their buyer has no page to do it on.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from gateway.connectors.avinode.mock.rfqs import THREADS
from gateway.connectors.avinode.mock.webhooks import operator_facts, quote_facts, send_webhook
from gateway.contract.mock import MockRequest, MockState

_BOOKS_MINUTES: Final = 20
"""The time between the operator's answer and the booking."""


def bookable(
    request: MockRequest, state: MockState, lift_id: str
) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """The request of a thread and its lift, if the buyer would book its quote.

    The request came from a trip, and is booked once.
    """
    thread = state.find(THREADS, lift_id) or {}
    row = state.find(THREADS, thread.get("rfq", ""))
    if row is None or "trip" not in row or "booking" in row:
        return None
    chosen = next((lift for lift in quotes_of(row) if lift["id"] == lift_id), None)
    return None if chosen is None or chosen["answered"] > request.now else (row, chosen)


def book(
    request: MockRequest,
    state: MockState,
    row: Mapping[str, Any],
    chosen: Mapping[str, Any],
    answered: datetime,
) -> None:
    """Book the quote `chosen` of the request `row` some time after `answered`.

    The other quotes of the request are rejected.
    """
    moment = answered + (request.after(_BOOKS_MINUTES) - request.now)
    booking_id = state.new_id("abooking")
    state.add(THREADS, row["id"], {**row, "booking": booking_id})
    _report(state, row, chosen, booking_id, moment)


def _report(
    state: MockState,
    row: Mapping[str, Any],
    chosen: Mapping[str, Any],
    booking_id: str,
    moment: datetime,
) -> None:
    about = {"rfp_id": row["id"], "trip_id": row["trip"]}
    quote = quote_facts(about, chosen["id"], chosen["company"], chosen["quote"])
    accepted = {name: quote[name] for name in ("quote_id", "operator", "aircraft", "price")}
    send_webhook(state, moment, "quote_accepted", {**about, **accepted})
    for lift in quotes_of(row):
        if lift["id"] == chosen["id"]:
            continue
        ended = {**about, "quote_id": lift["quote"]["id"], "reason": "Another offer was booked."}
        send_webhook(state, max(moment, lift["answered"]), "quote_rejected", ended)
    booked = {
        **about,
        "booking_id": booking_id,
        "quote_id": quote["quote_id"],
        "operator": operator_facts(chosen["company"]),
        "aircraft": {name: quote["aircraft"][name] for name in ("type", "id")},
        "flight": row["flight"],
        "price": quote["price"],
    }
    send_webhook(state, moment + timedelta(seconds=1), "booking_confirmed", booked)


def quotes_of(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The operators that answer a request with a quote in time, now or later."""
    return [
        lift
        for lift in row["lifts"]
        if lift["quote"] is not None and lift["answered"] <= row["deadline"]
    ]
