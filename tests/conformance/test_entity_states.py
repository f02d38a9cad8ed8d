"""State machines in every database: what is written is what the rules say, whoever writes it."""

import asyncio
from random import Random
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.clock import SystemClock
from gateway.store.database import Database
from gateway.store.engines import engines_at
from gateway.store.entity_rows import write_entities
from gateway.store.entity_tables import answered
from generated.entities import TABLES
from tests.avinode_messages import LATER, changes_of, rows_of
from tests.state_model import STEPS, Model, message_of

KINDS = ("requests", "quotes", "bookings", "trips")


@pytest.fixture(params=["memory", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request) -> str:
    return "memory:" if request.param == "memory" else request.getfixturevalue("fresh_url")


@pytest.fixture
async def database(url):
    opened = Database(engines_at(url), SystemClock())
    async with opened.engines.writer.begin() as connection:
        for table in TABLES.values():
            await connection.run_sync(table.create)
    yield opened
    await opened.close()


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
            plain = answered(table, dict(row))
            found[kind, plain[table.info["key"][0]]] = plain
    return found


@pytest.mark.parametrize("seed", range(12))
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
