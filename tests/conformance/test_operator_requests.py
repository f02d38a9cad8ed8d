"""What operators may ask wrongly, of the whole gateway on every engine: a refusal, never a 5xx."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from gateway.app import Gateway
from gateway.settings import read_settings

KEY = "bootstrap-key-of-the-tests-0123456789"
LISTS = {
    "/operator/webhooks": ("provider", "event_type", "state", "limit", "after"),
    "/operator/jobs": ("kind", "lane", "state", "limit", "after"),
    "/operator/events": ("after", "types", "limit"),
    "/operator/audit": ("agent", "operation", "outcome", "since", "until", "limit", "after"),
}
ODD = (
    "\0",
    "a\0b",
    "\0*",
    "\x1b[31m",
    "\n",
    "\u2028",
    "-1",
    "1e5",
    "9" * 30,
    str(2**63),
    str(2**64),
    "a" * 3000,
)


@asynccontextmanager
async def operator_of(url: str, folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    options = {"data": folder, "database_url": url, "bootstrap_key": KEY, "mock_speed": 0}
    async with Gateway.open(read_settings({}, None, options)) as gateway:
        transport = httpx.ASGITransport(gateway.http_app())
        headers = {"authorization": f"Bearer {KEY}"}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1", headers=headers
        ) as client:
            yield client


async def test_no_list_can_be_asked_for_in_a_way_that_breaks_it(gateway_url, tmp_path) -> None:
    async with operator_of(gateway_url, tmp_path) as operator:
        await no_odd_value_breaks_a_list(operator)
        await events_of_a_thousand_types_are_refused_and_not_asked_for(operator)
        after_all = await operator.get("/operator/events", params={"after": str(2**63 - 1)})
        assert after_all.json() == {"items": [], "next": 2**63 - 1}


async def no_odd_value_breaks_a_list(operator: httpx.AsyncClient) -> None:
    asked = [(path, name, odd) for path, names in LISTS.items() for name in names for odd in ODD]
    answers = {}
    for path, name, odd in asked:
        answer = await operator.get(path, params={"after": "1", name: odd})
        answers[path, name, odd] = answer.status_code
    assert {key: status for key, status in answers.items() if status >= 500} == {}
    unprintable = {status for (_, _, odd), status in answers.items() if not odd.isprintable()}
    assert unprintable == {422}


async def events_of_a_thousand_types_are_refused_and_not_asked_for(
    operator: httpx.AsyncClient,
) -> None:
    """A condition for each of them is more than a statement may be made of."""
    for kind in ("a", "gateway.*"):
        types = ",".join(f"{kind[:-1]}{number}{kind[-1]}" for number in range(300))
        answer = await operator.get(
            "/operator/events", params={"after": "0", "types": types[:1900]}
        )
        assert answer.status_code == 400
        one = await operator.get("/operator/events", params={"after": "0", "types": kind})
        assert one.status_code == 200


async def test_a_refusal_points_to_the_mistake_and_does_not_repeat_what_was_sent(tmp_path) -> None:
    wrong: dict[str, Any] = {
        "/event_types/1": {"url": "https://a.example", "event_types": ["a", 1]},
        "/url": {"url": 1},
        "/description": {"url": "https://a.example", "description": {}},
        "": [],
    }
    async with operator_of("memory:", tmp_path) as operator:
        for pointer, body in wrong.items():
            answer = await operator.post("/operator/endpoints", json=body)
            assert answer.status_code == 422
            assert [each["pointer"] for each in answer.json()["errors"]] == [pointer]
        answer = await operator.get("/operator/jobs", params={"state": "canary-5a1f"})
        assert answer.status_code == 422
        assert "canary" not in answer.text
