"""The state machines of requests, quotes, bookings and trips as plainly as they can be said.

Written from the page of the state machines, without a look at the contracts: the tests hold the two
against each other.
"""

from collections.abc import Sequence
from typing import Any, Final

from tests.avinode_messages import message

STEPS: Final = (
    "rfq_received",
    "rfq_updated",
    "rfq_cancelled",
    "booking_confirmed B-1",
    "booking_cancelled B-1",
    "booking_updated B-1",
    "booking_confirmed B-2",
    "booking_cancelled B-2",
    "quote_received",
    "quote_updated",
    "quote_accepted",
    "quote_rejected",
    "quote_expired",
    "trip_created",
    "trip_updated",
    "trip_cancelled",
)
ALLOWED: Final = {
    "requests": {
        ("open", "booked"),
        ("open", "reopened"),
        ("open", "cancelled"),
        ("booked", "reopened"),
        ("booked", "cancelled"),
        ("reopened", "booked"),
        ("reopened", "cancelled"),
    },
    "quotes": {
        ("received", "accepted"),
        ("received", "rejected"),
        ("received", "expired"),
        ("expired", "accepted"),
    },
    "bookings": {("confirmed", "cancelled")},
    "trips": {("active", "cancelled")},
}


def message_of(step: str, minute: float) -> dict[str, Any]:
    """The message of a step, of what happened at `minute`."""
    event, _, booking = step.partition(" ")
    match event.partition("_")[0]:
        case "rfq":
            return message(event, minute, rfp_id="R-1")
        case "booking":
            return message(event, minute, booking_id=booking, rfp_id="R-1")
        case "trip":
            return message(event, minute, trip_id="T-1")
    facts: dict[str, Any] = {"quote_id": "Q-1", "rfp_id": "R-1"}
    if event == "quote_received":
        facts |= {
            "operator": {"id": "OP-1", "name": "Bluewing"},
            "aircraft": {"type": "Citation X"},
            "price": {"total": 45000 + int(minute)},
        }
    return message(event, minute, **facts)


class Model:
    """What the rows say when everything is known, in the order in which it happened."""

    def __init__(self, steps: Sequence[str]) -> None:
        self.states: dict[tuple[str, str], str | None] = {}
        self._holder = ""
        for step in steps:
            event, _, booking = step.partition(" ")
            getattr(self, f"_{event.partition('_')[0]}")(event.partition("_")[2], booking)

    def _state(self, kind: str, key: str) -> str | None:
        return self.states.setdefault((kind, key), None)

    def _rfq(self, verb: str, _: str) -> None:
        state = self._state("requests", "R-1")
        if verb == "received" and state is None:
            self.states["requests", "R-1"] = "open"
        elif verb == "cancelled":
            self.states["requests", "R-1"] = "cancelled"

    def _booking(self, verb: str, booking: str) -> None:
        state = self._state("bookings", booking)
        if verb == "updated":
            return
        if verb == "cancelled" or state is None:
            self.states["bookings", booking] = verb
        request = self._state("requests", "R-1")
        if request == "cancelled":
            return
        if verb == "confirmed":
            self.states["requests", "R-1"], self._holder = "booked", booking
        elif request in {None, "open"} or self._holder == booking:
            self.states["requests", "R-1"], self._holder = "reopened", booking

    def _quote(self, verb: str, _: str) -> None:
        self._state("requests", "R-1")
        state = self._state("quotes", "Q-1")
        if verb == "updated":
            return
        if (
            state is None
            or (state == "received" and verb != "received")
            or (state == "expired" and verb == "accepted")
        ):
            self.states["quotes", "Q-1"] = verb

    def _trip(self, verb: str, _: str) -> None:
        state = self._state("trips", "T-1")
        if verb == "created" and state is None:
            self.states["trips", "T-1"] = "active"
        elif verb == "cancelled":
            self.states["trips", "T-1"] = "cancelled"
