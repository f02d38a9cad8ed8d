"""Thirty wrong calls: twenty that contracts refuse, and ten that only the vendor's rules refuse."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

OF_CONTRACTS: Final[Mapping[str, Any]] = {
    "amadeus_get_airport_code": {"city": "Paris"},
    "amadeus_search_flights": {
        "origin": "jfk",
        "destination": "LHR",
        "departure_date": "12/24/2026",
    },
    "amadeus_search_hotels": {
        "city_code": "paris",
        "check_in_date": "2026-12-24",
        "check_out_date": "12/27/2026",
    },
    "avinode_search_airports": {"query": "New York", "limit": 500},
    "avinode_search_flights": {
        "departure_airport": "KTEB",
        "arrival_airport": "KOPF",
        "passengers": "4",
        "departure_date": "2026-12-24",
        "aircraft_category": "mid-size",
    },
    "avinode_search_empty_legs": {"departure_airport": "KTEB", "arrival_airport": "KOPF"},
    "avinode_create_trip": {
        "departure_airport": "kteb",
        "arrival_airport": "KOPF",
        "passengers": 40,
        "departure_date": "2026-12-24T09:00:00Z",
    },
    "avinode_create_watch": {"departure_airport": "KTEB", "arrival_airport": "KOPF"},
    "entities_quotes": {"status": "recieved"},
    "entities_requests": {"limit": 1000},
    "entities_messages": {"sender": "buyer"},
    "entities_bookings": {"request_id": "123"},
    "example_calculate": {"operation": "plus", "a": "1", "b": 2},
    "example_greet": {},
    "frankfurter_convert_currency": {"amount": 100, "from": "usd", "to": "EUR"},
    "golf_search_tee_times": {"date": "tomorrow", "players": 6},
    "ntfy_send_push_notification": {"text": "Landed", "priority": "urgent"},
    "sheets_list_clients": {"limit": "all"},
    "supabase_query": {"table": "quote"},
    "weather_get_weather": {"location": "Berlin", "units": "celsius"},
}
"""The arguments by the name of the tool."""


class Rule(Struct, frozen=True, kw_only=True):
    """A rule that no schema of the vendor says, and the words in which it is refused."""

    given: Mapping[str, Any]
    is_kept: Callable[[Mapping[str, Any]], bool]
    status: int
    body: Any
    """Its JSON, or a text."""


def _violations(field: str, text: str) -> Any:
    details = [{"fieldViolations": [{"field": field, "description": text}]}]
    return {"error": {"code": 400, "message": "Invalid argument.", "details": details}}


OF_VENDORS: Final[Mapping[str, Rule]] = {
    "charge": Rule(
        given={"amount": 20, "currency": "eur"},
        is_kept=lambda sent: sent["amount"] >= 50,
        status=400,
        body={
            "error": {
                "type": "invalid_request_error",
                "param": "amount",
                "message": "This value must be greater than or equal to 50.",
            }
        },
    ),
    "issue": Rule(
        given={"body": "It breaks."},
        is_kept=lambda sent: bool(sent.get("title")),
        status=422,
        body={
            "message": "Validation Failed",
            "errors": [{"resource": "Issue", "field": "title", "code": "missing_field"}],
        },
    ),
    "order": Rule(
        given={"sku": "A-1", "quantity": 25},
        is_kept=lambda sent: sent["quantity"] <= 10,
        status=422,
        body={
            "detail": [
                {
                    "type": "less_than_equal",
                    "loc": ["body", "quantity"],
                    "msg": "Input should be less than or equal to 10",
                }
            ]
        },
    ),
    "car": Rule(
        given={"color": "grean"},
        is_kept=lambda sent: sent["color"] in {"green", "red", "blue"},
        status=422,
        body={
            "title": "Your request is not valid.",
            "errors": [{"detail": "must be one of green, red or blue", "pointer": "#/color"}],
        },
    ),
    "address": Rule(
        given={"street": "Unter den Linden 1", "country": "Germany"},
        is_kept=lambda sent: sent["country"] == "DE",
        status=422,
        body={
            "errors": [
                {
                    "status": "422",
                    "source": {"pointer": "/data/attributes/country"},
                    "title": "Invalid Attribute",
                    "detail": "must be a code of ISO 3166, e.g. DE.",
                }
            ]
        },
    ),
    "page": Rule(
        given={"page_size": 1000},
        is_kept=lambda sent: sent["page_size"] <= 100,
        status=400,
        body=_violations("page_size", "The maximum is 100."),
    ),
    "text": Rule(
        given={"to": "12345", "body": "Landed."},
        is_kept=lambda sent: re.fullmatch(r"\+\d{8,15}", sent["to"]) is not None,
        status=400,
        body={
            "code": 21211,
            "message": "The 'to' number 12345 is not valid. Use E.164, such as +15017122661.",
            "status": 400,
        },
    ),
    "booking": Rule(
        given={"guest": "Ada", "start_on": "2020-01-01"},
        is_kept=lambda sent: sent["start_on"] > "2026-12-31",
        status=422,
        body={"errors": {"start_on": ["must be after 2026-12-31"]}},
    ),
    "topic": Rule(
        given={"topic": "x" * 300},
        is_kept=lambda sent: len(sent["topic"]) < 251,
        status=400,
        body={
            "ok": False,
            "error": "invalid_arguments",
            "messages": ["topic must be less than 251 characters"],
        },
    ),
    "crate": Rule(
        given={"bottles": 10},
        is_kept=lambda sent: sent["bottles"] % 6 == 0,
        status=400,
        body="bottles must be a multiple of 6",
    ),
}
"""By the name of the operation, as Stripe, GitHub, FastAPI, RFC 9457, JSON:API, Google, Twilio,
Rails, Slack and a plain server word them."""


def document(base_url: str) -> bytes:
    """The OpenAPI document of the vendor. It says the types of the arguments, and no rule."""
    paths = {f"/{name}": {"post": _operation(name, rule)} for name, rule in OF_VENDORS.items()}
    found = {"openapi": "3.1.0", "info": {"title": "Vendor", "version": "1"}, "paths": paths}
    return json.dumps({**found, "servers": [{"url": base_url}]}).encode()


def _operation(name: str, rule: Rule) -> Any:
    members = {
        each: {"type": "integer" if isinstance(value, int) else "string"}
        for each, value in {"title": "", **rule.given}.items()
        if each != "title" or name == "issue"
    }
    schema = {"type": "object", "properties": members}
    content = {"application/json": {"schema": schema}}
    created = {"201": {"description": "Made", "content": {"application/json": {}}}}
    return {
        "operationId": f"make_{name}",
        "summary": f"Make a {name}",
        "requestBody": {"required": True, "content": content},
        "responses": created,
    }
