"""State machines in every database: what is written is what the rules say, on each of them."""

import asyncio
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.store.sql.database import Database
from gateway.store.sql.entities import canonical_row, microseconds, write_entities
from generated.entities import TABLES
from tests.avinode_messages import LATER, START, changes_of, rows_of
from tests.conformance.entity_database import with_entities
from tests.state_model import STEPS, Model, message_of

KINDS = ("requests", "quotes", "bookings", "trips")


@pytest.fixture(params=["memory", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request) -> str:
    if request.param == "memory":
        return "memory:"
    return request.getfixturevalue("prepared_url")("entities")


@pytest.fixture
async def database(url):
    async with with_entities(url) as opened:
        yield opened


async def write(database: Database, *messages: dict[str, Any]) -> None:
    changes = [change for each in messages for change in changes_of(each)]

    async def work(connection: AsyncConnection, _: Any) -> None:
        await write_entities(connection, TABLES, changes, LATER)

    await database.write(work)


async def rows_in(database: Database) -> dict[tuple[str, str], dict[str, Any]]:
    found = {}
    for kind in KINDS:
        table = TABLES[kind]
        for row in await database.rows(table.select()):
            plain = canonical_row(table, dict(row))
            found[kind, plain[table.info["key"][0]]] = plain
    return found


@pytest.mark.parametrize("seed", range(4))
async def test_the_database_holds_what_the_model_says(database, seed) -> None:
    chance = Random(seed)  # noqa: S311 - a shuffle that can be repeated
    steps = chance.choices(STEPS, k=10)
    messages = [message_of(step, minute) for minute, step in enumerate(steps)]
    arriving = [*messages, *chance.sample(messages, 3)]
    chance.shuffle(arriving)
    for start in range(0, len(arriving), 3):
        await write(database, *arriving[start : start + 3])
    rows = await rows_in(database)
    assert {place: row["status"] for place, row in rows.items()} == Model(steps).states
    expected = {place: row for place, row in rows_of(*arriving).items() if place[0] in KINDS}
    assert rows == expected


async def test_concurrent_writers_of_one_row_lose_no_report(database) -> None:
    steps = ["quote_received", "quote_expired", "quote_accepted", "quote_rejected"] * 3
    messages = [message_of(step, minute) for minute, step in enumerate(steps)]
    await asyncio.gather(*(write(database, each) for each in messages[::-1]))
    row = (await rows_in(database))["quotes", "Q-1"]
    assert row["status"] == Model(steps).states["quotes", "Q-1"]
    assert len(row["state_log"]) == len(steps)


async def test_a_row_of_before_there_was_a_log_keeps_its_state(database) -> None:
    await write(database, message_of("quote_accepted", 1))
    table = TABLES["quotes"]
    async with database.engines.writer.begin() as connection:
        await connection.execute(table.update().values(state_log=None))
    await write(database, message_of("quote_expired", 2))
    row = (await rows_in(database))["quotes", "Q-1"]
    assert row["status"] == "accepted"
    assert [each["applied"] for each in row["state_log"]] == [True, False]


async def test_a_state_that_an_older_package_wrote_is_kept_in_the_log(database) -> None:
    """It knows the column and no log, and may work beside a newer package."""
    await write(database, message_of("quote_received", 1))
    table = TABLES["quotes"]
    (row,) = await database.rows(table.select())
    times = {**row["column_times"], "status": microseconds(START + timedelta(minutes=2))}
    async with database.engines.writer.begin() as connection:
        older = table.update().values(status="accepted", column_times=times)
        await connection.execute(older)
    await write(database, message_of("quote_expired", 3))
    row = (await rows_in(database))["quotes", "Q-1"]
    assert row["status"] == "accepted"
    assert [(each["state"], each["applied"]) for each in row["state_log"]] == [
        ("received", True),
        ("accepted", True),
        ("expired", False),
    ]


async def test_states_of_one_millisecond_come_in_the_order_of_what_happened(database) -> None:
    """Of two at one moment the one that the contract names first is earlier: not of these."""
    micros = timedelta(microseconds=1) / timedelta(minutes=1)
    await write(database, message_of("quote_expired", 700 * micros))
    await write(database, message_of("quote_accepted", 300 * micros))
    row = (await rows_in(database))["quotes", "Q-1"]
    assert row["status"] == "accepted"
    assert [(each["occurred_at"], each["applied"]) for each in row["state_log"]] == [
        ("2026-11-20T12:00:00.000300Z", True),
        ("2026-11-20T12:00:00.000700Z", False),
    ]
