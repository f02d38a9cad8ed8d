"""Avinode Group API, by developer.avinodegroup.com. Bodies behind the portal are as assumed."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.fakes.wire import Answer, Asked, Fake


def envelope(data: Any, *errors: dict[str, str], **meta: Any) -> dict[str, Any]:
    return {"meta": {"errors": list(errors), "warnings": [], "infos": [], **meta}, "data": data}


def error(status: int, code: str, title: str) -> Answer:
    body = {"meta": {"errors": [{"title": title, "code": code}], "warnings": [], "infos": []}}
    return Answer(status, body)


def soft(code: str, title: str) -> Answer:
    """HTTP 200 with an error: the entity was stored, and a part of it is invalid."""
    return Answer(200, envelope({}, {"title": title, "code": code, "path": "segments[0]"}))


RFQ: dict[str, Any] = {
    "id": "arfq-1",
    "type": "rfqs",
    "createdOn": "2026-11-20T14:30:00Z",
    "quoteDeadline": None,
    "tripId": "atrip-1",
    "links": {"tripmsgs": []},
    "sellerLift": [
        {
            "id": "alift-1",
            "sellerCompany": {"id": "1", "displayName": "Jets", "rating": None, "fleet": 4},
            "sourcingStatus": 2,
            "sourcingDisplayStatus": "Accepted",
            "answeredOn": "2026-11-20T14:42:00Z",
            "latestQuote": {
                "id": "aquote-1",
                "createdOn": "2026-11-20T14:42:00Z",
                "validUntil": None,
                "sellerMessage": None,
                "lift": {"id": None, "aircraftType": {"name": "Citation X"}},
                "sellerPrice": {"price": 48200, "currency": "USD"},
            },
        },
        {
            "id": "alift-2",
            "sellerCompany": {"id": "2", "displayName": "Slow Jets"},
            "sourcingStatus": 1,
            "sourcingDisplayStatus": "Unanswered",
            "latestQuote": None,
        },
    ],
}
TRIP = {
    "id": "atrip-1",
    "type": "trips",
    "href": "https://sandbox.avinode.com/api/trips/atrip-1",
    "actions": {
        "searchInAvinode": {"description": "Search", "href": "https://sandbox.avinode.com/s/1"},
        "viewInAvinode": None,
    },
}
LEG = {
    "id": "el-1",
    "lift": {
        "id": "a-1",
        "aircraftType": {"name": "Phenom 300"},
        "aircraftCategory": {"name": "Light jet"},
        "maximumPassengers": 7,
    },
    "sellerCompany": {"id": "1", "displayName": "Jets", "safetyRating": None},
    "earliestDeparture": "2026-12-14T13:00:00Z",
    "latestDeparture": "2026-12-14T19:00:00Z",
    "price": {"amount": 9800, "currency": "USD"},
    "discountPercent": 45,
}
AIRPORT = {
    "id": "KTEB",
    "icao": "KTEB",
    "iata": "TEB",
    "name": "Teterboro",
    "city": None,
    "country": {"code": "US"},
    "coordinates": {"latitude": 40.85, "longitude": -74.06},
}


PAGE = {"pageNumber": 1, "batchSize": 50, "totalCount": 1}
NOW = "2026-11-20T14:30:00Z"
MADE = {
    "searches": error(403, "NOT_AUTHORIZED", "Searches are for B2C accounts"),
    "trips": Answer(201, envelope(TRIP)),
    "rfqs": Answer(201, envelope(RFQ)),
    "chat": Answer(200, envelope({"id": "abuyermsg-1", "createdOn": NOW, "type": None})),
    "emptylegs/search": Answer(200, envelope([LEG], pagination=PAGE)),
    "emptylegs/watches": Answer(
        201, envelope({"id": "awatch-1", "status": "ACTIVE", "createdOn": NOW})
    ),
}


class AvinodeFake(Fake):
    """The API for a broker."""

    def answer(self, asked: Asked) -> Answer:
        self._headers(asked)
        parts = asked.path.removeprefix("/api").split("/")[1:]
        found = self._read(asked, parts) if asked.method == "GET" else self._made(asked, parts)
        return found or Answer(404, {"message": "no Route matched with those values"})

    def _read(self, asked: Asked, parts: list[str]) -> Answer | None:
        match parts:
            case ["airports", "search"]:
                known = {"filter", "filterMatchType", "country", "page[number]", "page[size]"}
                self.require(set(asked.parameters) <= known, "parameters of airports/search")
                mode = asked.parameters.get("filterMatchType", "contains")
                self.require(mode in {"contains", "starts_with"}, mode)
                return Answer(200, envelope([AIRPORT], pagination=PAGE))
            case ["rfqs", _]:
                fields = set(asked.parameters.get("fields", "").split(","))
                known = {"taildetails", "typedetails", "timestamps", "quotebreakdown"}
                self.require(fields <= known | {"latestquote", "tailphotos", ""}, str(fields))
                return Answer(200, envelope(RFQ))
        return None

    def _made(self, asked: Asked, parts: list[str]) -> Answer | None:
        self.require(asked.method == "POST", asked.method)
        match parts:
            case ["trips"]:
                self._trip(asked.json)
            case ["rfqs"]:
                self._segments(asked.json["segments"])
            case ["tripmsgs", _, "chat"]:
                self.require(len(asked.json["message"].encode()) <= 5 * 1024, "5 KB at most")
                parts = ["chat"]
        return MADE.get("/".join(parts))

    def _headers(self, asked: Asked) -> None:
        given = asked.headers
        self.require(given.get("x-avinode-apitoken"), "X-Avinode-ApiToken")
        self.require(given.get("authorization", "").startswith("Bearer "), "Authorization")
        self.require(given.get("x-avinode-product"), "X-Avinode-Product")
        sent = given.get("x-avinode-senttimestamp", "")
        try:
            age = datetime.now(UTC) - datetime.fromisoformat(sent)
        except (ValueError, TypeError):
            self.require(False, f"X-Avinode-SentTimestamp {sent!r}")
        else:
            self.require(abs(age) < timedelta(minutes=5), "X-Avinode-SentTimestamp is not now")

    def _trip(self, body: dict[str, Any]) -> None:
        self.require(isinstance(body["sourcing"], bool), "sourcing")
        self.require(isinstance(body["criteria"], dict), "criteria")
        self._segments(body["segments"])

    def _segments(self, segments: list[dict[str, Any]]) -> None:
        for each in segments:
            self.require(re.fullmatch("[A-Z]{4}", each["startAirport"]["icao"]), "startAirport")
            self.require(isinstance(each["paxCount"], str), "paxCount is a text")
            day = each["dateTime"]["date"]
            self.require(re.fullmatch(r"\d{4}-\d{2}-\d{2}", day), f"date {day}")
