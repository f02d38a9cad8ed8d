"""The whole loop in one process, as `make run` shows it: the mock sends, rows and events follow.

Nothing is set but how fast mock time passes: the secret is made at the start.
"""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import running_gateway

OPERATORS = [f"OP-00{number}" for number in range(1, 9)]
FLIGHT = {
    "departure_airport": "KTEB",
    "arrival_airport": "KVNY",
    "passengers": 6,
    "departure_date": "2027-12-01T15:00:00Z",
}
SPEED = "12000"
"""At which all operators have answered in three seconds."""
PROFILES = {
    "signed": {},
    "pointer": {"GATEWAY_WEBHOOKS_AVINODE_POINTER_SECRETS": "avinode:password-of-the-loop-tests"},
}


class Caller:
    """An agent over all transports of a gateway."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        reply = self._http.post(f"/v1/avinode/{tool}", json=arguments)
        assert reply.status_code == 200, reply.text
        return dict(reply.json())

    def rows(self, kind: str) -> list[dict[str, Any]]:
        reply = self._http.get(f"/v1/entities/{kind}", params={"limit": 200})
        assert reply.status_code == 200, reply.text
        return list(reply.json()["items"])

    def events(self, types: str, count: int) -> list[dict[str, Any]]:
        """The first so many of these types."""
        found: list[dict[str, Any]] = []
        query = {"types": types, "from": "earliest"}
        with self._http.stream("GET", "/events", params=query) as reply:
            for line in reply.iter_lines():
                if line.startswith("data: "):
                    found.append(json.loads(line.removeprefix("data: ")))
                if len(found) == count:
                    return found
        return found


@pytest.fixture(params=PROFILES)
def caller(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Caller]:
    with (
        running_gateway(
            tmp_path, "--mock-speed", SPEED, environment=PROFILES[request.param]
        ) as gateway,
        httpx.Client(
            base_url=gateway.url, headers=gateway.authorization, timeout=PATIENCE_SECONDS
        ) as http,
    ):
        yield Caller(http)


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.1)


def test_quotes_and_answers_become_rows_and_events(caller: Caller) -> None:
    _check_quotes(caller)
    _check_an_answer(caller)


def _check_quotes(caller: Caller) -> None:
    rfp_id = caller.call("create_rfp", {"flight_details": FLIGHT, "operator_ids": OPERATORS})[
        "rfp_id"
    ]
    asked = {"rfp_id": rfp_id}
    until(lambda: caller.call("get_quote_status", asked)["pending"] == 0)
    quotes = {each["quote_id"]: each for each in caller.call("get_quotes", asked)["quotes"]}
    assert quotes

    def rows() -> dict[str, dict[str, Any]]:
        return {row["avinode_quote_id"]: row for row in caller.rows("quotes")}

    until(lambda: rows().keys() == quotes.keys())
    for quote_id, row in rows().items():
        quote = quotes[quote_id]
        assert row["avinode_rfp_id"] == rfp_id
        assert (row["price"], row["currency"]) == (quote["total_price"], quote["currency"])
        is_dollars = quote["currency"] == "USD"
        assert row["price_usd"] == (quote["total_price_usd"] if is_dollars else None)
        assert row["aircraft_type"] == quote["aircraft_type"]
    everything = caller.rows("quotes")
    _check_links(caller, everything)
    events = caller.events("gateway.quote.received.v1", len(everything))
    assert sorted(each["subject"] for each in events) == sorted(
        row["avinode_quote_id"] for row in everything
    )
    assert {each["data"]["row_id"] for each in events} == {row["id"] for row in everything}


def _check_links(caller: Caller, quotes: list[dict[str, Any]]) -> None:
    """Each quote has its request, its operator, its conversation and the message about it."""
    requests = {row["id"] for row in caller.rows("requests")}
    profiles = {row["id"]: row for row in caller.rows("operator_profiles")}
    conversations = {row["quote_id"]: row for row in caller.rows("conversations")}
    shared = {row["quote_id"]: row for row in caller.rows("messages")}
    for quote in quotes:
        assert quote["request_id"] in requests
        operator = profiles[quote["operator_profile_id"]]
        conversation, message = conversations[quote["id"]], shared[quote["id"]]
        assert conversation["operator_profile_id"] == operator["id"]
        assert message["conversation_id"] == conversation["id"]
        assert (message["content_type"], message["sender_type"]) == ("quote_shared", "system")
        assert message["rich_content"]["operator_name"] == operator["company_name"]
    assert len(shared) == len(conversations) == len(quotes)


def _check_an_answer(caller: Caller) -> None:
    """The answer to a message."""
    rfp_id = caller.call("create_rfp", {"flight_details": FLIGHT, "operator_ids": ["OP-003"]})[
        "rfp_id"
    ]
    caller.call("send_message", {"thread_id": rfp_id, "message": "Is there Wi-Fi on board?"})

    def answers() -> list[dict[str, Any]]:
        return [row for row in caller.rows("messages") if row["content_type"] == "text"]

    until(lambda: len(answers()) == 1)
    [answer] = answers()
    assert (answer["sender_type"], answer["sender_name"]) == ("operator", "Bluewing Charter")
    assert answer["conversation_id"] in {row["id"] for row in caller.rows("conversations")}
    [event] = caller.events("gateway.message.received.v1", 1)
    assert event["data"]["message"] == answer["body"]
