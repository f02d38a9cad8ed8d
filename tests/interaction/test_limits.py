"""Limits of tools and agents, over each transport."""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.app import Gateway
from gateway.audit import log as audit_log
from gateway.errors import ConfigurationError, StoreError, ToolFailed
from gateway.limits.standing import LimitUsedUp
from tests.eventually import eventually
from tests.interaction.operated import operated

SEARCH = "/v1/golf/search_tee_times"
BOOK = "/v1/golf/book_tee_time"
DAY = "2026-12-04"


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[tuple[Gateway, httpx.AsyncClient]]:
    async with operated(
        tmp_path, GATEWAY_MOCK_TIME="2026-11-20T12:00:00Z", GATEWAY_MOCK_SPEED="0"
    ) as found:
        yield found


async def key_of(gateway: Gateway, agent: str) -> dict[str, str]:
    made = await gateway.parts.keys.create(agent, "test")
    return {"authorization": f"Bearer {made.key}"}


async def bookings(http: httpx.AsyncClient, count: int) -> list[dict[str, Any]]:
    """The arguments of bookings that succeed."""
    found = (await http.post(SEARCH, json={"date": DAY, "players": 1})).json()["tee_times"]
    times = [each for each in found if each["spots_available"]][:count]
    assert len(times) == count
    return [
        {
            "tee_time_id": each["tee_time_id"],
            "date": each["date"],
            "time": each["time"],
            "players": 1,
            "idempotency_key": f"booking-{number:08}",
        }
        for number, each in enumerate(times)
    ]


def mcp(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    return {
        "json": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
        "headers": {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": tool,
        },
    }


async def book_ten(http: httpx.AsyncClient) -> dict[str, Any]:
    """Book as often as an hour allows. Returns the arguments of the next booking."""
    *made, last = await bookings(http, 11)
    for number, each in enumerate(made):
        answer = await http.post(BOOK, json=each)
        assert answer.status_code == 200, answer.text
        assert answer.headers["ratelimit-policy"] == '"hour";q=10;w=3600'
        assert answer.headers["ratelimit"].startswith(f'"hour";r={9 - number};t=3')
    return last


async def test_the_eleventh_booking_of_an_hour_is_refused(opened) -> None:
    """As the sources promise. Searches go on, unless they would book."""
    _, http = opened
    refused = await http.post(BOOK, json=await book_ten(http))

    assert (refused.status_code, refused.headers["ratelimit"].split(";")[1]) == (429, "r=0")
    assert 0 < int(refused.headers["retry-after"]) <= 3600
    problem = refused.json()
    assert (problem["code"], problem["violated-policies"]) == ("RATE_LIMIT_ERROR", ["hour"])
    facts = problem["limit"]
    assert (facts["tool"], facts["used"], facts["max"]) == ("golf.book_tee_time", 10, 10)

    search = {"date": DAY, "players": 1}
    assert (await http.post(SEARCH, json=search)).status_code == 200
    booking = search | {"auto_book": True, "idempotency_key": "auto-booking-1"}
    also_refused = await http.post(SEARCH, json=booking)
    assert also_refused.status_code == 429
    assert also_refused.json()["violated-policies"] == ["golf.book_tee_time-hour"]


async def test_each_transport_refuses_alike(opened) -> None:
    _, http = opened
    last = await book_ten(http)

    rest = (await http.post(BOOK, json=last)).json()
    over_mcp = (await http.post("/mcp", **mcp("golf_book_tee_time", last))).json()["result"]
    asked = {"name": "golf.book_tee_time", "arguments": last}
    executed = await http.post("/tools/execute", json=asked)

    assert over_mcp["isError"] is True
    shown = json.loads(over_mcp["content"][0]["text"])
    assert shown["limit"] == rest["limit"]
    assert shown["detail"].startswith("10 of 10 calls of golf.book_tee_time in 1 hour are used up.")
    assert shown["retry_after"] > 3000
    assert executed.status_code == 429
    assert executed.json()["error"]["data"]["limit"] == rest["limit"]
    assert executed.headers["ratelimit"].startswith('"hour";r=0')


async def test_a_caller_in_the_same_process_has_limits_too(opened) -> None:
    gateway, _ = opened
    wrong = {"tee_time_id": "no-such-time", "date": DAY, "time": "08:00", "players": 1}

    for _ in range(10):
        with pytest.raises(ToolFailed):
            await gateway.call("golf.book_tee_time", wrong)

    with pytest.raises(LimitUsedUp):
        await gateway.call("golf.book_tee_time", wrong)


async def test_a_client_has_a_hundred_calls_an_hour(opened) -> None:
    """Over all tools and keys of its agent. Another agent is not affected."""
    gateway, http = opened
    keys = [await key_of(gateway, "golf_concierge") for _ in range(2)]
    search = {"date": DAY, "players": 1}
    weather = {"location": "Austin,TX,US"}

    statuses = []
    for number in range(101):
        path, body = (SEARCH, search) if number % 2 else ("/v1/weather/get_weather", weather)
        answer = await http.post(path, json=body, headers=keys[number % 2])
        statuses.append(answer.status_code)

    assert statuses[100] == 429
    assert 429 not in statuses[:100]
    assert answer.json()["limit"]["name"] == "agent-hour"
    assert "agent-hour" in answer.headers["ratelimit"]
    assert (await http.post(SEARCH, json=search)).status_code == 200


async def test_refused_arguments_are_not_counted(opened) -> None:
    _, http = opened

    for _ in range(11):
        refused = await http.post(BOOK, json={"players": 0})
        assert refused.status_code == 422
        assert "ratelimit" not in refused.headers

    (booking,) = await bookings(http, 1)
    counted = await http.post(BOOK, json=booking)
    assert counted.headers["ratelimit"].startswith('"hour";r=9')


async def test_a_repeated_call_gets_its_answer_when_the_limit_is_used_up(opened) -> None:
    _, http = opened
    first, *others = await bookings(http, 10)
    named = {"idempotency-key": "first-booking"}
    answer = await http.post(BOOK, json=first, headers=named)
    for each in others:
        await http.post(BOOK, json=each)

    again = await http.post(BOOK, json=first, headers=named)
    refused = await http.post(BOOK, json=first, headers={"idempotency-key": "another"})

    assert (again.status_code, again.json()) == (200, answer.json())
    assert again.headers["idempotency-replayed"] == "true"
    assert refused.status_code == 429


async def test_without_its_store_a_limited_call_is_refused_and_others_go_on(
    opened, monkeypatch
) -> None:
    gateway, http = opened

    async def fail(*_: object) -> None:
        raise StoreError("postgresql://127.0.0.1/x cannot be reached")

    monkeypatch.setattr(gateway.parts.store.usage, "take", fail)
    refused = await http.post(SEARCH, json={"date": DAY, "players": 1})
    other = await http.post("/v1/example/greet", json={"name": "Ada"})

    assert (refused.status_code, refused.json()["code"]) == (503, "NOT_COUNTED")
    assert refused.headers["retry-after"] == "5"
    assert "127.0.0.1" not in refused.text
    assert (other.status_code, "ratelimit" in other.headers) == (200, False)


async def test_refusals_are_counted_by_tool_and_limit(opened) -> None:
    _, http = opened
    wrong = {"tee_time_id": "no-such-time", "date": DAY, "time": "08:00", "players": 1}

    for _ in range(13):
        await http.post(BOOK, json=wrong)

    metrics = (await http.get("/metrics")).text
    assert 'gateway_limit_refusals_total{limit="hour",tool="golf.book_tee_time"} 3.0' in metrics


async def test_limits_can_be_turned_off(tmp_path: Path) -> None:
    async with operated(tmp_path, GATEWAY_CALL_LIMITS="false") as (_, http):
        wrong = {"tee_time_id": "no-such-time", "date": DAY, "time": "08:00", "players": 1}
        answers = [await http.post(BOOK, json=wrong) for _ in range(12)]

    assert {each.status_code for each in answers} == {404}
    assert "ratelimit" not in answers[0].headers


async def test_operators_see_what_is_used(opened) -> None:
    gateway, http = opened
    golfer = await key_of(gateway, "golf_concierge")
    wrong = {"tee_time_id": "no-such-time", "date": DAY, "time": "08:00", "players": 1}
    for _ in range(2):
        await http.post(BOOK, json=wrong, headers=golfer)

    answer = await http.get("/operator/limits")
    refused = await http.get("/operator/limits", headers=golfer)

    (whole, tool) = answer.json()["items"]
    assert (whole["limit"], whole["tool"], whole["subject"]) == ("hour", None, None)
    assert (whole["agent"], whole["used"], whole["max"]) == ("golf_concierge", 2, 100)
    assert (tool["tool"], tool["used"], tool["max"]) == ("golf.book_tee_time", 2, 10)
    assert tool["subject"]
    assert tool["returns_at"].endswith("Z")
    assert refused.status_code == 404


async def test_a_redis_without_its_package_is_refused_with_the_fix(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    monkeypatch.delitem(sys.modules, "gateway.store.redis", raising=False)

    with pytest.raises(ConfigurationError, match=r"install 'contract-gateway\[redis\]"):
        async with operated(tmp_path, GATEWAY_REDIS_URL="redis://:secret@127.0.0.1:1/0"):
            pass


async def test_one_address_may_send_as_many_webhooks_as_its_source_allows(tmp_path: Path) -> None:
    async with operated(tmp_path, GATEWAY_WEBHOOKS_AVINODE_ADDRESS_RATE="2") as (_, http):
        forged = [await http.post("/webhooks/avinode", json={}) for _ in range(24)]
        other = await http.post("/webhooks/github", json={})

    statuses = [each.status_code for each in forged]
    assert statuses[:20] == [401] * 20
    assert statuses[-1] == 429
    assert forged[-1].headers["retry-after"] == "1"
    assert other.status_code == 401


async def test_a_write_beyond_its_limit_is_recorded_once(opened, monkeypatch) -> None:
    """It has no pending record, because nothing begins."""
    gateway, http = opened
    last = await book_ten(http)
    await gateway.parts.audit.flush()
    written: list[tuple[str, ...]] = []
    append = gateway.parts.store.audit.append

    async def remember(records: Any) -> None:
        written.append(tuple(each.outcome for each in records))
        await append(records)

    monkeypatch.setattr(gateway.parts.store.audit, "append", remember)
    refused = await http.post(BOOK, json=last)
    keyed = await http.post(BOOK, json=last, headers={"idempotency-key": "beyond-the-limit"})

    assert (refused.status_code, keyed.status_code) == (429, 429)
    assert written == [("RATE_LIMIT_ERROR",)] * 2


async def test_a_caller_that_asks_again_in_an_outage_gets_503_each_time(
    tmp_path: Path, monkeypatch
) -> None:
    """Also when no more records of refused calls fit into memory."""

    async def fail(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr("gateway.audit.log.WAIT_SECONDS", 0.01)
    monkeypatch.setattr("gateway.audit.writebehind._CLOSE_SECONDS", 0.05)
    async with operated(tmp_path, GATEWAY_AUDIT_QUEUE_RECORDS="250") as (gateway, http):
        search = {"date": DAY, "players": 1}
        with monkeypatch.context() as broken:
            broken.setattr(gateway.parts.store.audit, "append", fail)
            broken.setattr(gateway.parts.store.usage, "take", fail)
            answers = [await http.post(SEARCH, json=search) for _ in range(255)]

    assert {each.status_code for each in answers} == {503}
    assert {each.json()["code"] for each in answers} == {"NOT_COUNTED", "NOT_RECORDED"}
    assert all(int(each.headers["retry-after"]) > 0 for each in answers)


async def test_calls_that_could_not_begin_are_not_counted(opened, monkeypatch) -> None:
    gateway, http = opened
    made = await bookings(http, 3)

    async def fail(*_: object) -> None:
        raise StoreError("the disk is full")

    async def is_unused() -> bool | None:
        readings = await gateway.parts.store.usage.readings(100)
        return sum(each.usage.used for each in readings if "book" in each.counter.text) == 0 or None

    with monkeypatch.context() as broken:
        broken.setattr(audit_log, "WAIT_SECONDS", 0.01)
        broken.setattr(gateway.parts.store.audit, "append", fail)
        refused = [(await http.post(BOOK, json=each)).json()["type"] for each in made]

    assert refused == ["/problems/not-begun"] * 3
    await eventually(is_unused)
    await book_ten(http)
