"""What operators may ask wrongly, of the whole gateway on every engine: a refusal, never a 5xx."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

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


@pytest.fixture
async def operator(store_url: str, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    options = {"data": tmp_path, "database_url": store_url, "bootstrap_key": KEY, "mock_speed": 0}
    async with Gateway.open(read_settings({}, None, options)) as gateway:
        transport = httpx.ASGITransport(gateway.http_app())
        headers = {"authorization": f"Bearer {KEY}"}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1", headers=headers
        ) as client:
            yield client


async def test_no_list_can_be_asked_for_in_a_way_that_breaks_it(operator) -> None:
    asked = [(path, name, odd) for path, names in LISTS.items() for name in names for odd in ODD]
    answers = {}
    for path, name, odd in asked:
        answer = await operator.get(path, params={"after": "1", name: odd})
        answers[path, name, odd] = answer.status_code
    assert {key: status for key, status in answers.items() if status >= 500} == {}
    unprintable = {status for (_, _, odd), status in answers.items() if not odd.isprintable()}
    assert unprintable == {422}


@pytest.mark.parametrize("kind", ["a", "gateway.*"])
async def test_events_of_a_thousand_types_are_refused_and_not_asked_for(operator, kind) -> None:
    """A condition for each of them is more than a statement may be made of."""
    types = ",".join(f"{kind[:-1]}{number}{kind[-1]}" for number in range(300))
    answer = await operator.get("/operator/events", params={"after": "0", "types": types[:1900]})
    assert answer.status_code == 400
    one = await operator.get("/operator/events", params={"after": "0", "types": kind})
    assert one.status_code == 200


async def test_the_largest_position_is_after_all_events(operator) -> None:
    answer = await operator.get("/operator/events", params={"after": str(2**63 - 1)})
    assert answer.json() == {"items": [], "next": 2**63 - 1}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"url": "https://a.example", "event_types": ["a", 1]}, "/event_types/1"),
        ({"url": 1}, "/url"),
        ({"url": "https://a.example", "description": {}}, "/description"),
        ([], ""),
    ],
)
async def test_a_refusal_points_to_the_mistake(operator, body: Any, pointer: str) -> None:
    answer = await operator.post("/operator/endpoints", json=body)
    assert answer.status_code == 422
    assert [each["pointer"] for each in answer.json()["errors"]] == [pointer]


async def test_a_refusal_does_not_repeat_what_was_sent(operator) -> None:
    answer = await operator.get("/operator/jobs", params={"state": "canary-5a1f"})
    assert answer.status_code == 422
    assert "canary" not in answer.text
