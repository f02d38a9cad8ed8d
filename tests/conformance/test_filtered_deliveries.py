"""What endpoints are sent of the events of their types, by the data, on every engine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from alembic import command
from sqlalchemy import Connection, text

from gateway.backends.http.outbound import Outbound
from gateway.clock import SystemClock
from gateway.events.endpoints import EndpointRegistry
from gateway.store.migrations.upgrade import migration_config
from gateway.store.records import NewEvent, Page
from gateway.store.sql.engine import open_store
from gateway.store.sql.store import SqlStore
from tests.delivering import HERE
from tests.unit.events.shelf import KEYRING

QUOTE, TRIP = "gateway.quote.received.v1", "gateway.trip.created.v1"
EUROS = {"properties": {"currency": {"const": "EUR"}}, "required": ["currency"]}


@asynccontextmanager
async def registry(store: SqlStore) -> AsyncIterator[EndpointRegistry]:
    """The registry of the endpoints of `store`."""
    published: dict[str, dict[str, object]] = {name: {} for name in (QUOTE, TRIP)}
    outbound = Outbound(HERE.refusal)
    yield EndpointRegistry(store.endpoints, KEYRING, outbound, SystemClock(), published)
    await outbound.close()


@pytest.fixture
async def book(store: SqlStore) -> AsyncIterator[EndpointRegistry]:
    async with registry(store) as made:
        yield made


def event(name: str, kind: str = QUOTE, **data: object) -> NewEvent:
    return NewEvent(id=name, type=kind, subject="s", source="/webhooks/a", data=data)


async def delivered(store: SqlStore, endpoint_id: str) -> set[str]:
    """The ids of the events that have a delivery to the endpoint."""
    found = await store.endpoints.deliveries(endpoint_id, Page(1000))
    return {each.event.id for each in found}


async def test_an_endpoint_gets_the_events_whose_data_meet_its_filter(
    store: SqlStore, book: EndpointRegistry
) -> None:
    some = await book.add("http://127.0.0.1:9/", event_types=[QUOTE], content=EUROS)
    every = await book.add("http://127.0.0.1:9/")
    await store.events.append(
        [
            event("euros", currency="EUR"),
            event("dollars", currency="USD"),
            event("none"),
            event("trip", TRIP, currency="EUR"),
        ]
    )
    await store.events.sequence(100)
    assert await delivered(store, some.endpoint.id) == {"euros"}
    assert await delivered(store, every.endpoint.id) == {"euros", "dollars", "none", "trip"}
    assert await book.find(some.endpoint.id) == some.endpoint


async def test_a_filter_decides_on_the_events_after_it_was_set(
    store: SqlStore, book: EndpointRegistry
) -> None:
    endpoint_id = (await book.add("http://127.0.0.1:9/")).endpoint.id
    for number, content in enumerate((None, EUROS, None)):
        assert await book.change(endpoint_id, content=content)
        await store.events.append([event(f"{number}")])
        await store.events.sequence(100)
    assert await delivered(store, endpoint_id) == {"0", "2"}


async def test_a_stored_filter_that_became_invalid_keeps_no_event_from_others(
    store: SqlStore, book: EndpointRegistry
) -> None:
    broken = await book.add("http://127.0.0.1:9/")
    every = await book.add("http://127.0.0.1:9/")
    await store.endpoints.change(broken.endpoint.id, {"filter": {"type": "no such"}})
    await store.events.append([event("one")])
    await store.events.sequence(100)
    assert await delivered(store, broken.endpoint.id) == set()
    assert await delivered(store, every.endpoint.id) == {"one"}


async def oldest_reader(store: SqlStore) -> str:
    query = text("SELECT revision FROM oldest_readers WHERE tables = 'store'")
    async with store.database.engines.reader.connect() as connection:
        return str((await connection.execute(query)).scalar_one())


async def test_a_gateway_that_would_ignore_a_filter_opens_the_database_no_more(
    shared_url: str,
) -> None:
    """A revision back and forth forgets nothing of that."""
    store = await open_store(shared_url)
    async with registry(store) as book:
        added = await book.add("http://127.0.0.1:9/")
        assert await oldest_reader(store) == "0014"
        await book.change(added.endpoint.id, content=EUROS)
    assert await oldest_reader(store) == "0019"
    async with store.database.engines.writer.begin() as connection:
        await connection.run_sync(partial(back, "0018"))
    await store.close()
    store = await open_store(shared_url)
    assert await oldest_reader(store) == "0019"
    [kept] = await store.endpoints.all()
    assert kept.filter is None
    await store.close()


def back(revision: str, connection: Connection) -> None:
    command.downgrade(migration_config(connection), revision)
