"""What webhooks bring is what agents read: one row, one owner per column, on every database."""

import json
from importlib import import_module
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.errors import InvalidArguments
from gateway.store.sql.database import Database
from gateway.store.sql.entities import SqlEntities, write_entities
from gateway.workspace import Workspace
from generated.entities import TABLES
from tests.avinode_messages import AIRCRAFT, LATER, OPERATOR, changes_of, message
from tests.conformance.entity_database import with_entities
from tests.postgrest import backends

EURO = {"total": 90000, "currency": "EUR"}
QUOTE = {
    "quote_id": "Q-1",
    "rfp_id": "R-1",
    "operator": OPERATOR,
    "aircraft": {**AIRCRAFT, "category": "midsize", "amenities": ["wifi"]},
    "flight_minutes": 243,
}


@pytest.fixture(params=["memory", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request) -> str:
    if request.param == "memory":
        return "memory:"
    return request.getfixturevalue("prepared_url")("entities")


class World:
    """A database that messages write to, and the tools that agents call."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._context = backends.context(
            backends.StepClock(),
            backends.Unused(),
            Workspace("memory:", (), backends.StepClock()),
            entities=SqlEntities(database, TABLES),
        )

    async def receive(self, *messages: dict[str, Any]) -> None:
        changes = [change for each in messages for change in changes_of(each)]

        async def work(connection: AsyncConnection, _: Any) -> None:
            await write_entities(connection, TABLES, changes, LATER)

        await self.database.write(work)

    async def call(self, tool: str, **arguments: Any) -> Any:
        entry = backends.catalogue().find(f"supabase.{tool}")
        assert entry.input.violations(arguments) == ()
        binding = import_module(f"generated.bindings.supabase.{tool}").BINDING
        result = await binding.run(arguments, self._context)
        assert entry.output.violations(result) == ()
        return json.loads(json.dumps(result))

    async def refusals(self, tool: str, **arguments: Any) -> dict[str, str]:
        with pytest.raises(InvalidArguments) as refused:
            await self.call(tool, **arguments)
        return {each.pointer: each.detail for each in refused.value.violations}


@pytest.fixture
async def world(url):
    async with with_entities(url) as database:
        yield World(database)


async def test_a_quote_that_a_message_brought_is_read_and_scored(world) -> None:
    await world.receive(message("quote_received", **QUOTE, price={"total": 50000}))
    dear = {**QUOTE, "quote_id": "Q-2", "flight_minutes": 270}
    await world.receive(message("quote_received", 1, **dear, price={"total": 60000}))

    found = await world.call(
        "query",
        table="quotes",
        filters={"rfp_id": "R-1", "status": "received"},
        orderBy={"column": "total_price_usd", "ascending": True},
    )
    params = {"quotes": found["rows"], "client_preferences": {"amenities": ["wifi"]}}
    scored = await world.call("rpc", function="calculate_quote_scores", params=params)

    assert [row["quote_id"] for row in found["rows"]] == ["Q-1", "Q-2"]
    row = found["rows"][0]
    assert [row[name] for name in ("operator_name", "operator_rating")] == ["Bluewing", 4.5]
    assert [row[name] for name in ("aircraft_category", "flight_minutes")] == ["midsize", 243]
    assert row["request_id"] is None
    assert [each["missing"] for each in scored["result"]["scores"]] == [[], []]
    assert scored["result"]["scores"][0]["quote_id"] == "Q-1"


async def test_agents_change_what_they_own_and_no_message_takes_it_back(world) -> None:
    await world.receive(message("quote_received", 5, **QUOTE, price=EURO))
    note = {"request_id": "req-123", "details": {"call": "back"}}

    changed = await world.call("update", table="quotes", filters={"quote_id": "Q-1"}, data=note)
    await world.receive(
        message("quote_received", 1, **QUOTE, price={"total": 1}),
        message("quote_updated", 9, quote_id="Q-1", price={"total": 88000}),
    )

    assert changed["count"] == 1
    (row,) = (await world.call("query", table="quotes"))["rows"]
    assert {name: row[name] for name in note} == note
    assert [row[name] for name in ("price", "currency", "total_price_usd")] == [88000, "EUR", None]


REFUSED = [
    ({"status": "accepted"}, "/data/status", "the webhook owns status of quotes"),
    ({"total_price_usd": 1}, "/data/total_price_usd", "the gateway owns total_price_usd"),
    ({"details": {}, "price": 1}, "/data/price", "agents may update request_id, details"),
    ({"state_log": None}, "/data/state_log", "the gateway owns state_log"),
    ({"updated_at": None}, "/data/updated_at", "the gateway owns updated_at"),
    ({"quote_id": "Q-2"}, "/data/quote_id", "the webhook owns quote_id"),
]


async def test_a_column_of_another_owner_is_refused_by_name(world) -> None:
    await world.receive(message("quote_received", **QUOTE, price=EURO))
    before = await world.call("query", table="quotes")

    for data, pointer, words in REFUSED:
        refused = await world.refusals(
            "update", table="quotes", filters={"rfp_id": "R-1"}, data=data
        )
        assert list(refused) == [pointer]
        assert words in refused[pointer]

    assert await world.call("query", table="quotes") == before


async def test_every_table_of_messages_is_read_with_all_its_columns(world) -> None:
    await world.receive(
        message("rfq_received", rfp_id="R-1", buyer={"id": "C-1", "name": "Ada"}),
        message("quote_received", 1, **QUOTE, price=EURO),
        message("booking_confirmed", 2, booking_id="B-1", rfp_id="R-1", quote_id="Q-1", price=EURO),
    )
    link = {"request_id": "req-123"}
    await world.call("update", table="rfqs", filters={"rfp_id": "R-1"}, data=link)

    found = {}
    for table in ("rfqs", "quotes", "bookings", "operator_profiles"):
        (found[table],) = (await world.call("query", table=table))["rows"]
        assert list(found[table]) == list(backends.declared()[table].columns)
    assert (found["rfqs"]["status"], found["rfqs"]["request_id"]) == ("booked", "req-123")
    assert found["rfqs"]["booking_id"] == found["bookings"]["id"]
    assert found["bookings"]["quote_id"] == found["quotes"]["id"]
    assert found["quotes"]["rfq_id"] == found["rfqs"]["id"]
    assert found["operator_profiles"]["operator_id"] == found["quotes"]["operator_id"]
    assert [each["state"] for each in found["rfqs"]["state_log"]] == ["open", "booked"]


async def test_text_is_put_in_order_by_code_points(world) -> None:
    for minute, name in enumerate(["b", "a", "B", "ä", "A"]):
        operator = {"id": f"OP-{minute}", "name": name}
        facts = {**QUOTE, "quote_id": f"Q-{minute}", "operator": operator}
        await world.receive(message("quote_received", minute, **facts, price={"total": 1}))

    asked = {"table": "quotes", "select": "operator_name"}
    ordered = await world.call("query", **asked, orderBy={"column": "operator_name"})
    above = await world.call("query", **asked, filters={"operator_name": {"gt": "a"}})

    assert [row["operator_name"] for row in ordered["rows"]] == ["A", "B", "a", "b", "ä"]
    assert {row["operator_name"] for row in above["rows"]} == {"b", "ä"}


async def test_moments_are_compared_as_moments(world) -> None:
    until = {"valid_until": "2026-11-25T16:30:00+02:00"}
    await world.receive(message("quote_received", **QUOTE, **until, price=EURO))
    (row,) = (await world.call("query", table="quotes", select="valid_until"))["rows"]
    assert row == {"valid_until": "2026-11-25T14:30:00Z"}
    for condition, count in (({"lt": "2026-11-25T14:30:00.000001Z"}, 1), ({"neq": None}, 1)):
        found = await world.call("query", table="quotes", filters={"valid_until": condition})
        assert found["count"] == count
    asked = {"valid_until": {"gt": "2026-11-25T14:30:00Z"}}
    assert (await world.call("query", table="quotes", filters=asked))["count"] == 0


async def test_quotes_inherit_the_clients_request_before_and_after_they_arrive(world) -> None:
    """As long as no agent says otherwise."""
    await world.receive(message("quote_received", **QUOTE, price=EURO))
    await world.call(
        "update", table="rfqs", filters={"rfp_id": "R-1"}, data={"request_id": "req-1"}
    )
    later = {**QUOTE, "quote_id": "Q-2"}
    await world.receive(message("quote_received", 1, **later, price=EURO))
    found = await world.call("query", table="quotes", filters={"request_id": "req-1"})
    assert {row["quote_id"] for row in found["rows"]} == {"Q-1", "Q-2"}

    own = {"request_id": "req-2"}
    await world.call("update", table="quotes", filters={"quote_id": "Q-1"}, data=own)
    await world.receive(message("quote_updated", 2, quote_id="Q-1", price={"total": 1}))
    await world.call(
        "update", table="rfqs", filters={"rfp_id": "R-1"}, data={"request_id": "req-3"}
    )
    rows = (await world.call("query", table="quotes"))["rows"]
    assert {row["quote_id"]: row["request_id"] for row in rows} == {"Q-1": "req-2", "Q-2": "req-1"}
