"""A page of a list reads a limited number of rows, whatever it is asked for."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from alembic import command
from sqlalchemy import Connection

from gateway.contract.event import CONTRACT_CHANGED
from gateway.store import publishing
from gateway.store.migrations.upgrade import migration_config
from gateway.store.publishing import Listed, looked_up_to
from gateway.store.records import Changes, Failure, NewEvent, Page
from gateway.store.sql import statements
from gateway.store.sql.engine import open_store
from gateway.store.sql.store import SqlStore
from tests.conformance.every_statement import endpoint
from tests.work import claim, message, put

READ = 3
FAILED = Failure(error="upstream_unavailable")
List = Callable[[Page], Awaitable[Listed[Any]]]


@pytest.fixture(autouse=True)
def _pages_read_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "READ_AT_MOST", READ)
    monkeypatch.setattr(publishing, "LOOKED_AT", READ)


async def pages(ask: List, limit: int = 2) -> list[list[str]]:
    """The ids of each page, until there is no next one."""
    found: list[list[str]] = []
    page: Page | None = Page(limit)
    while page is not None:
        listed = await ask(page)
        found.append([each.id for each in listed])
        page = None if listed.next_after is None else Page(limit, listed.next_after)
    return found


async def test_webhooks_of_a_type(store: SqlStore) -> None:
    types = ["a", "b", "b", "b", "b", "b", "a"]
    ids = await put(store, *(message(n, event_type=each) for n, each in enumerate(types)))
    found = await pages(partial(store.inbox.list, event_type="a"))
    assert found == [[ids[6]], [], [ids[0]]]
    assert await pages(partial(store.inbox.list, state="completed")) == [[], [], []]
    all_pages = await pages(partial(store.inbox.list, provider="avinode"))
    assert [each for page in all_pages for each in page] == ids[::-1]


async def test_jobs_of_a_lane(store: SqlStore) -> None:
    providers = ["a", "b", "b", "b", "b", "a"]
    ids = await put(store, *(message(n, provider=each) for n, each in enumerate(providers)))
    found = await pages(partial(store.queue.jobs, lane="a"))
    assert found == [[ids[5]], [ids[0]], []]
    assert await pages(partial(store.queue.jobs, lane="a", state="pending")) == found


async def test_jobs_of_a_state_or_a_kind_are_read_alone(store: SqlStore) -> None:
    ids = await put(store, *(message(n, provider=f"p{n % 2}") for n in range(8)))
    for each in await claim(store, 8):
        if each.job.id in {ids[0], ids[5]}:
            await store.queue.fail(each, FAILED, None, Changes())
        elif each.job.id == ids[3]:
            await store.queue.finish_all([(each, Changes())])
    assert await pages(partial(store.queue.jobs, state="dead_letter")) == [[ids[5], ids[0]], []]
    assert await pages(partial(store.queue.jobs, kind="webhook"), 3) == [
        [ids[7], ids[6], ids[5]],
        [ids[4], ids[3], ids[2]],
        [ids[1], ids[0]],
    ]
    again = await store.queue.redrive(ids[5], "operator")
    assert again is not None
    last = partial(store.queue.jobs, state="dead_letter", is_last=True)
    assert await pages(last) == [[ids[0]]]


async def test_deliveries_in_a_state(store: SqlStore) -> None:
    await store.endpoints.add(endpoint("e"))
    await store.events.append([event("x.v1") for _ in range(7)])
    await store.events.sequence(10)
    for each in await claim(store, 1, kind="delivery"):
        await store.queue.fail(each, FAILED, None, Changes())
    found = await pages(partial(store.endpoints.deliveries, "e", state="dead_letter"))
    assert [len(each) for each in found] in ([1, 0, 0], [0, 1, 0], [0, 0, 1])


def event(kind: str, **data: str) -> NewEvent:
    return NewEvent(id=str(uuid4()), type=kind, subject="s", source="/x", data=data)


async def test_events_of_a_type(store: SqlStore) -> None:
    await store.events.append([event(each) for each in ("a.v1", *["b.v1"] * 5, "a.v1")])
    await store.events.sequence(10)
    bounds = await store.events.bounds()
    position, found = 0, []
    while position < bounds[1]:
        found.append([each.position for each in await store.events.after(position, 2, ["a.*"])])
        position = looked_up_to(position, bounds)
    assert found == [[1], [], [7]]
    assert await store.events.after(90, 2, ["a.*"]) == []
    assert looked_up_to(90, bounds) == 90


async def test_the_last_announcement_is_found_in_a_log_of_the_version_before(
    shared_url: str,
) -> None:
    store = await open_store(shared_url)
    announced = [event(CONTRACT_CHANGED, contract=each) for each in ("one", "two")]
    await store.events.append([*announced, *(event("a.v1") for _ in range(5))])
    assert await store.events.announced() is None
    await store.events.sequence(10)
    await store.events.append([event(CONTRACT_CHANGED, contract="three")])
    async with store.database.engines.writer.begin() as connection:
        await connection.run_sync(partial(back_to, "0015"))
    await store.close()

    store = await open_store(shared_url)
    last = await store.events.announced()
    assert last is not None
    assert (last.position, last.data) == (2, {"contract": "two"})
    await store.close()


def back_to(revision: str, connection: Connection) -> None:
    command.downgrade(migration_config(connection), revision)
