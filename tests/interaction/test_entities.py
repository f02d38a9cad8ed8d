"""What arrived, read over REST: by POST, and by GET with query parameters."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from gateway.app import Gateway
from gateway.contract.fields.fieldmap import entity_id
from gateway.settings import read_settings
from gateway.store.protocols import Store
from gateway.store.records import Changes, EntityChange, NewWebhook
from gateway.testing.gateways import KEY, in_memory
from tests.work import finish

QUOTES = "/v1/entities/quotes"
NOW = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)
KINDS = (
    "bookings",
    "conversations",
    "messages",
    "operator_profiles",
    "quotes",
    "requests",
    "trips",
)


@pytest.fixture
async def gateway(tmp_path) -> AsyncIterator[Gateway]:
    settings = read_settings(
        {"GATEWAY_BOOTSTRAP_KEY": KEY, "GATEWAY_WORKERS": "0"}, None, {"data": tmp_path}
    )
    async with Gateway.open(settings) as opened:
        yield opened


@pytest.fixture
async def http(gateway) -> AsyncIterator[httpx.AsyncClient]:
    async with in_memory(gateway, KEY) as client:
        yield client


async def arrive(store: Store, number: int, **values: Any) -> None:
    """A message whose work writes one quote."""
    arrival = NewWebhook(
        provider="avinode",
        profile="signed",
        message_id=f"message {number}",
        event_type="quote_received",
        body=b"{}",
        headers={},
        contract="today's",
    )
    (receipt,) = await store.inbox.receive([arrival])
    (claim,) = await store.queue.claim("worker", ["webhook"], 1, 30)
    reported = EntityChange(
        kind="quotes",
        values={"avinode_quote_id": f"Q-{number}", **values},
        mode="upsert",
        webhook_id=receipt.webhook_id,
        occurred_at=NOW + timedelta(minutes=number),
    )
    assert await finish(store, claim, Changes(entities=(reported,)))


async def test_what_a_message_wrote_is_read_by_get_and_by_post_alike(gateway, http) -> None:
    await arrive(gateway.parts.store, 1, status="received", price=12000.5, notes="Ä 𝄞")
    await arrive(gateway.parts.store, 2, status="accepted", price=9000)
    by_get = await http.get(QUOTES, params={"status": "received", "limit": 5})
    by_post = await http.post(QUOTES, json={"status": "received", "limit": 5})
    assert by_get.status_code == 200
    assert by_get.json() == by_post.json()
    (row,) = by_get.json()["items"]
    assert {name: row[name] for name in ("id", "avinode_quote_id", "price", "notes")} == {
        "id": entity_id("quotes", {"avinode_quote_id": "Q-1"}),
        "avinode_quote_id": "Q-1",
        "price": 12000.5,
        "notes": "Ä 𝄞",
    }
    assert row["occurred_at"] == "2026-11-20T14:31:00Z"
    assert (row["currency"], row["price_usd"], row["base_price"]) == ("USD", 12000.5, None)


async def test_each_state_of_a_request_can_be_asked_for(http) -> None:
    found = await http.get("/v1/entities/requests", params={"status": "reopened"})
    assert (found.status_code, found.json()["items"]) == (200, [])


async def test_pages_are_followed_by_their_cursors(gateway, http) -> None:
    for number in range(5):
        await arrive(gateway.parts.store, number, status="received")
    seen: list[str] = []
    query: dict[str, Any] = {"status": "received", "limit": 2}
    for size in (2, 2, 1):
        page = (await http.get(QUOTES, params=query)).json()
        assert len(page["items"]) == size
        seen += [row["avinode_quote_id"] for row in page["items"]]
        query["cursor"] = page["next_cursor"]
    assert seen == ["Q-4", "Q-3", "Q-2", "Q-1", "Q-0"]
    assert page["next_cursor"] is None


REFUSED = [
    ("limit=0", ["/limit"]),
    ("limit=201", ["/limit"]),
    ("limit=ten", ["/limit"]),
    ("limit=1.5", ["/limit"]),
    ("limit=5&limit=5", ["/limit"]),
    ("status=lost", ["/status"]),
    ("request_id=7", ["/request_id"]),
    ("price=5", ["/price"]),
    ("Status=received", ["/Status"]),
    ("cursor=", ["/cursor"]),
    ("cursor=nobodys", ["/cursor"]),
    ("cursor=%00", ["/cursor"]),
]


async def test_what_cannot_be_asked_is_refused_as_in_a_body(http) -> None:
    for query, pointers in REFUSED:
        reply = await http.get(f"{QUOTES}?{query}")
        assert (reply.status_code, reply.json()["code"]) == (422, "VALIDATION_ERROR"), query
        assert [each["pointer"] for each in reply.json()["errors"]] == pointers


async def test_a_query_that_cannot_be_read_is_malformed(http) -> None:
    for query in ("limit=%FF", "&".join(["limit=1"] * 101), "limit=1e999"):
        reply = await http.get(f"{QUOTES}?{query}")
        assert (reply.status_code, reply.json()["code"]) == (400, "VALIDATION_ERROR"), query


async def test_every_kind_answers_get_head_and_options(http) -> None:
    for kind in KINDS:
        got = await http.get(f"/v1/entities/{kind}")
        assert (got.status_code, got.json()) == (200, {"items": [], "next_cursor": None})
        head = await http.head(f"/v1/entities/{kind}")
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == got.headers["content-length"]
        options = await http.options(f"/v1/entities/{kind}")
        assert options.headers["allow"] == "GET, HEAD, POST, OPTIONS"


async def test_other_methods_and_other_tools_stay_refused(http) -> None:
    refused = await http.put(QUOTES, json={})
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD, POST, OPTIONS")
    for path in ("/v1/example/greet", "/v1/entities/nothing", "/v1/entities"):
        reply = await http.get(path)
        assert (reply.status_code, reply.headers["allow"]) == (405, "POST, OPTIONS")


async def test_without_a_key_nothing_is_read(http) -> None:
    reply = await http.get(QUOTES, headers={"authorization": "Bearer nobody"})
    assert reply.status_code == 401
    reply = await http.get(QUOTES, headers={"accept": "text/html"})
    assert reply.status_code == 406


async def test_the_document_describes_what_get_asks(http) -> None:
    document = (await http.get("/openapi.json")).json()
    asked = document["paths"][QUOTES]["get"]
    assert asked["operationId"] == "entities.quotes.get"
    parameters = {each["name"]: each for each in asked["parameters"]}
    schema = document["components"]["schemas"]["entities.quotes.input"]["properties"]
    assert parameters.keys() == schema.keys()
    assert parameters["limit"]["schema"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 200,
        "default": 50,
    }
    assert not any(each["required"] or each["in"] != "query" for each in parameters.values())
