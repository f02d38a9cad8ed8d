"""Webhook messages of the Avinode mock: a signed message for each change, and a pointer for some.

The sender chooses one of the two forms, because no listener uses both.
"""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from gateway.connectors.avinode.mock.fleet import OPERATORS
from gateway.connectors.avinode.webhook_fields import category_of
from gateway.contract.fields.conversion import as_date_time, rfc3339
from gateway.contract.mock import MockMessage, MockState


def send_webhook(state: MockState, moment: datetime, event: str, facts: Mapping[str, Any]) -> None:
    """Schedule a signed message for `moment`."""
    facts_sent = {"event_type": event, "timestamp": rfc3339(moment), **facts}
    message_id = f"evt-{_digest(facts_sent)}"
    payload = {"event_id": message_id, **facts_sent}
    state.later(moment, MockMessage(id=message_id, event=event, payload=payload))


def point(state: MockState, moment: datetime, href: str) -> None:
    """Schedule a pointer to a new or changed resource, `<base URL>/<kind>/<id>`, for `moment`."""
    _, kind, thing_id = href.rsplit("/", 2)
    payload = {"id": thing_id, "href": href, "type": kind}
    message_id = f"apointer-{_digest([rfc3339(moment), payload])}"
    state.later(moment, MockMessage(id=message_id, event=kind, payload=payload))


def _digest(facts_sent: Any) -> str:
    """A digest. The listener would already have the numbers of a counter after a restart."""
    text = msgspec.json.encode(facts_sent, order="deterministic")
    return hashlib.sha256(text).hexdigest()[:24]


def operator_facts(company: str) -> dict[str, Any]:
    """An operator as in signed messages."""
    operator = OPERATORS[company]
    return {
        "id": operator.id,
        "name": operator.name,
        "rating": operator.rating,
        "safety_rating": operator.safety_rating,
    }


def flight_facts(segment: Mapping[str, Any]) -> dict[str, Any]:
    """A flight as in signed messages. The departure is present if it is a valid date-time."""
    facts = {
        "departure_airport": segment["startAirport"]["icao"],
        "arrival_airport": segment["endAirport"]["icao"],
        "passengers": int(segment["paxCount"]),
    }
    leaves = segment["dateTime"]
    try:
        moment = as_date_time(f"{leaves['date']}T{leaves.get('time', '00:00')}:00Z")
    except ValueError:
        return facts
    return {**facts, "departure_at": moment}


def quote_facts(
    about: Mapping[str, str], lift_id: str, company: str, quote: Mapping[str, Any]
) -> dict[str, Any]:
    """A quote as in signed messages. `about`: the ids of its request, and of the trip if any."""
    lift, price, parts = quote["lift"], quote["sellerPrice"], quote["breakdown"]
    category = category_of(lift["aircraftCategory"]["name"])
    return {
        **about,
        "quote_id": quote["id"],
        "thread_id": lift_id,
        "operator": operator_facts(company),
        "aircraft": {
            "type": lift["aircraftType"]["name"],
            "id": lift["id"],
            **({"category": category} if category else {}),
            "amenities": lift["amenities"],
        },
        "flight_minutes": quote["flightMinutes"],
        "price": {
            "total": price["price"],
            "currency": price["currency"],
            "base": parts["basePrice"],
            "taxes_fees": parts["taxesAndFees"],
        },
        "valid_until": quote["validUntil"],
        "notes": quote["sellerMessage"],
    }
