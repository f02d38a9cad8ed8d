"""A broker searches, asks operators, waits and reads the quotes: written once for every
transport."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from msgspec import Struct

from tests.clocks import ManualClock

START: Final = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)
OPERATORS_ASKED: Final = 4
FLIGHT: Final = {"departure_airport": "KTEB", "arrival_airport": "KVNY", "passengers": 6}
CallTool = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""One call over some transport: operation id and arguments to the result."""


class Story(Struct, frozen=True, kw_only=True):
    """Every result on the way."""

    found: dict[str, Any]
    asked: list[str]
    """The operators that were asked."""
    rfp: dict[str, Any]
    at_once: dict[str, Any]
    """The status right after asking."""
    after_minutes: list[dict[str, Any]]
    """The status every ten minutes from then on."""
    after_a_day: dict[str, Any]
    quotes_at_once: dict[str, Any]
    quotes: dict[str, Any]
    """What had come in after a day."""


async def run(call: CallTool, clock: ManualClock) -> Story:
    """Run the errand over one transport, with a day passing in between."""
    search = FLIGHT | {"departure_date": "2026-12-01"}
    found = await call("avinode.search_flights", search)
    asked = sorted({aircraft["operator"]["id"] for aircraft in found["aircraft"]})[:OPERATORS_ASKED]
    flight = FLIGHT | {"departure_date": "2026-12-01T15:00:00Z"}
    rfp = await call("avinode.create_rfp", {"flight_details": flight, "operator_ids": asked})
    this_rfp = {"rfp_id": rfp["rfp_id"]}
    at_once = await call("avinode.get_quote_status", this_rfp)
    quotes_at_once = await call("avinode.get_quotes", this_rfp)
    after_minutes = []
    for _ in range(6):
        clock.advance(timedelta(minutes=10))
        after_minutes.append(await call("avinode.get_quote_status", this_rfp))
    clock.advance(timedelta(days=1))
    return Story(
        found=found,
        asked=asked,
        rfp=rfp,
        at_once=at_once,
        quotes_at_once=quotes_at_once,
        after_minutes=after_minutes,
        after_a_day=await call("avinode.get_quote_status", this_rfp),
        quotes=await call("avinode.get_quotes", this_rfp),
    )
