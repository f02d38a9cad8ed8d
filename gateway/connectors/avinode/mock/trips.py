"""What follows a trip in the Avinode mock: the part of the people at the marketplace.

Avinode's page of a trip is for people, so nothing of this has an operation in its API. The buyer
opens the link and asks operators for quotes. They answer, and one of them adds a message. `booking`
has the end. All of it is reported to the listener.
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from gateway.connectors.avinode.mock.booking import quotes_of
from gateway.connectors.avinode.mock.chat import say
from gateway.connectors.avinode.mock.fleet import OPERATORS
from gateway.connectors.avinode.mock.market import has_seats, segment_passengers
from gateway.connectors.avinode.mock.rfqs import default_deadline, open_rfq
from gateway.connectors.avinode.mock.webhooks import flight_facts, point, send_webhook
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.mock import MockRequest, MockState

_BROWSES_MINUTES: Final = 5
"""The time between the trip and the request for quotes."""
_REMARKS_MINUTES: Final = 10
_ASKED: Final = 4
"""How many operators the buyer asks."""
_REMARK: Final = (
    "We can hold this aircraft for you until tomorrow. Please tell us your catering wishes."
)


def ask_operators(request: MockRequest, state: MockState, trip_id: str) -> None:
    """Plan the buyer's request for quotes for the first flight of a new trip."""
    asked_at = request.after(_BROWSES_MINUTES)
    later = replace(request, now=asked_at)
    deadline = default_deadline(later)
    if deadline <= asked_at:
        return  # The flight departs before anybody could be asked.
    passengers = segment_passengers(request)
    able = [company for company in OPERATORS if has_seats(company, passengers)]
    chosen = sorted(request.random("asked", trip_id).sample(able, min(_ASKED, len(able))))
    row = open_rfq(later, state, chosen, deadline, trip_id)
    facts = {
        "rfp_id": row["id"],
        "trip_id": trip_id,
        "flight": flight_facts(request.body["segments"][0]),
        "quote_deadline": rfc3339(deadline),
    }
    send_webhook(state, asked_at, "rfq_received", facts)
    point(state, asked_at, f"{request.base_url}/rfqs/{row['id']}")
    _remark(request, state, row)


def _remark(request: MockRequest, state: MockState, row: Mapping[str, Any]) -> None:
    """The operator of the first quote adds a message."""
    quoted = quotes_of(row)
    if quoted:
        first = min(quoted, key=lambda lift: lift["answered"])
        pause = request.after(_REMARKS_MINUTES) - request.now
        say(request, state, first["id"], first["answered"] + pause, _REMARK)
