"""Following the events over HTTP, on real sockets: nothing missed, nobody waited for."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.errors import StoreError
from gateway.events.feed import Feed
from gateway.store.sql.store import SqlStore
from gateway.transports import events
from gateway.transports.connections.bounds import ConnectionLimits
from gateway.transports.connections.connection import Connection
from tests.eventually import PATIENCE_SECONDS
from tests.interaction.events.published import LIMITS, QUOTE, event, publish, until
from tests.interaction.events.sse import EventClient

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
TRIP = "gateway.trip.created.v1"


Follow = Callable[..., Any]


@pytest.fixture
async def follow(socket_site: str, admin_key: str, feed: Feed) -> AsyncIterator[Follow]:
    """Opens streams, and closes them."""
    opened: list[EventClient] = []

    async def open_stream(query: str = "", key: str = admin_key, **headers: str) -> EventClient:
        client = await EventClient.open(socket_site, query, key=key, **headers)
        opened.append(client)
        return client

    yield open_stream
    for client in opened:
        client.abort()
    await until(lambda: feed.followers == 0)


async def test_a_follower_gets_each_new_event_as_a_cloud_event(
    follow: Follow, store: SqlStore
) -> None:
    await publish(store, event(1))
    client = await follow()
    assert client.status == 200
    assert client.headers["content-type"] == "text/event-stream"
    assert client.headers["x-accel-buffering"] == "no"
    assert client.headers["cache-control"] == "no-store, no-transform"
    await publish(store, event(2, text="a\nb \u2603"))
    (block,) = await client.take(1)
    assert block.get("event") == QUOTE
    assert block.data == {
        "specversion": "1.0",
        "id": "event-2",
        "source": "/webhooks/avinode",
        "type": QUOTE,
        "subject": "subject-2",
        "time": block.data["time"],
        "datacontenttype": "application/json",
        "data": {"number": 2, "text": "a\nb \u2603"},
    }
    assert block.data["time"].endswith("Z")


async def test_an_event_names_the_trace_in_which_it_came_to_be(
    follow: Follow, store: SqlStore
) -> None:
    await publish(store, replace(event(1), trace=PARENT), event(2))
    first, second = await (await follow("?from=earliest")).take(2)
    assert first.data["traceparent"] == PARENT
    assert "traceparent" not in second.data


async def test_a_cursor_leads_to_what_came_after_it(follow: Follow, store: SqlStore) -> None:
    await publish(store, *map(event, range(5)))
    first = await follow("?from=earliest")
    blocks = await first.take(3)
    first.close()
    cursor = blocks[-1].get("id")
    for resumed in (
        await follow(Last_Event_ID=cursor),
        await follow(f"?last_event_id={cursor}"),
        # Who reconnects shows the newer place in the header, and the old one in the address.
        await follow(f"?from=earliest&last_event_id={blocks[0].get('id')}", Last_Event_ID=cursor),
    ):
        assert [each.data["id"] for each in await resumed.take(2)] == ["event-3", "event-4"]


async def test_the_stream_says_when_to_come_back(follow: Follow) -> None:
    client = await follow()
    async for block in client.blocks():
        assert block.get("retry") == "2000"
        break


async def test_a_filter_leaves_the_others_out(follow: Follow, store: SqlStore) -> None:
    live = await follow("?types=gateway.trip.*,other.v1")
    await publish(store, event(1), event(2, TRIP), event(3), event(4, "other.v1"))
    late = await follow(f"?types={TRIP}&from=earliest")
    assert [each.data["id"] for each in await live.take(2)] == ["event-2", "event-4"]
    assert [each.data["id"] for each in await late.take(1)] == ["event-2"]


@pytest.mark.parametrize("cursor", ["1.0000000000000000", "99.0000000000000000", "x", "-1.a", "é"])
async def test_a_cursor_that_is_not_ours_is_a_reset(
    follow: Follow, store: SqlStore, cursor: str
) -> None:
    await publish(store, event(1), event(2))
    client = await follow(Last_Event_ID=cursor)
    reset, *events = await client.take(3)
    assert reset.get("event") == "reset"
    assert reset.data == {"reason": "unknown", "oldest": 1}
    assert [each.data["id"] for each in events] == ["event-1", "event-2"]


async def test_a_cursor_of_another_filter_is_a_reset(follow: Follow, store: SqlStore) -> None:
    await publish(store, event(1), event(2))
    first = await follow("?from=earliest")
    cursor = (await first.take(1))[0].get("id")
    other = await follow(f"?types={QUOTE}", Last_Event_ID=cursor)
    assert (await other.take(1))[0].data == {"reason": "unknown", "oldest": 1}


async def test_a_cursor_of_another_log_is_a_reset(follow: Follow, store: SqlStore) -> None:
    await publish(store, event(1), event(2))
    elsewhere = await follow("?from=earliest")
    cursor = (await elsewhere.take(2))[1].get("id")
    await store.events.prune(-60, 10)
    await store.database.write(_rename_newest)
    client = await follow(Last_Event_ID=cursor)
    assert (await client.take(1))[0].data == {"reason": "unknown", "oldest": 2}


async def _rename_newest(connection: Any, now: Any) -> None:
    await connection.exec_driver_sql("UPDATE events SET id = 'another' WHERE position = 2")


async def test_a_place_beyond_retention_is_a_reset_and_its_id_a_good_cursor(
    follow: Follow, store: SqlStore
) -> None:
    await publish(store, *map(event, range(1, 9)))
    first = await follow("?from=earliest")
    cursor = (await first.take(2))[1].get("id")
    await store.events.prune(-60, 4)
    client = await follow(Last_Event_ID=cursor)
    reset, after = await client.take(2)
    assert reset.data == {"reason": "expired", "oldest": 5}
    assert after.data["id"] == "event-5"
    again = await follow(Last_Event_ID=reset.get("id"))
    assert (await again.take(1))[0].data["id"] == "event-5"


async def test_nothing_is_missed_and_nothing_repeated_over_many_disconnects(
    follow: Follow, store: SqlStore
) -> None:
    """R14, scaled: clients that leave and come back at random while events are published."""
    total = 100
    chance = random.Random(14)  # noqa: S311 - repeatable, not secret

    async def write() -> None:
        for number in range(0, total, 5):
            await store.events.append([event(each) for each in range(number, number + 5)])
            await asyncio.sleep(0)

    async def read() -> list[str]:
        seen: list[str] = []
        cursor: str | None = None
        while len(seen) < total:
            shown = {"Last_Event_ID": cursor} if cursor else {}
            client = await follow("?from=earliest", **shown)
            blocks = await client.take(min(chance.randint(1, 60), total - len(seen)))
            assert all(each.get("event") == QUOTE for each in blocks)
            seen += [each.data["id"] for each in blocks]
            cursor = blocks[-1].get("id")
            client.abort()
        return seen

    async with asyncio.timeout(PATIENCE_SECONDS):
        _, *read_by_each = await asyncio.gather(write(), *(read() for _ in range(4)))
    expected = [f"event-{number}" for number in range(total)]
    for seen in read_by_each:
        assert seen == expected


async def test_who_may_not_follow_is_informed_what_other_transports_report(
    site: Any, follow: Follow, greeter_key: str
) -> None:
    async with site.http() as http:
        unknown = await http.post("/v1/nothing/here", json={})
    denied = await follow(key=greeter_key)
    nobody = await follow(key="wrong")
    assert denied.status == unknown.status_code == 404
    assert nobody.status == 401
    assert 'error="invalid_token"' in nobody.headers["www-authenticate"]
    problem = json.loads(await denied.reader.readexactly(int(denied.headers["content-length"])))
    assert problem["code"] == unknown.json()["code"] == "TOOL_NOT_FOUND"


async def test_each_wish_to_follow_leaves_one_record(
    site: Any, follow: Follow, greeter_key: str
) -> None:
    await follow()
    await follow(key=greeter_key)
    await follow(key="wrong")
    await follow("?types=NO")
    records = await site.records()
    assert [(each.operation, each.agent, each.outcome) for each in records] == [
        ("gateway.events", "administrator", "ok"),
        ("gateway.events", "greeter", "TOOL_NOT_FOUND"),
        ("gateway.events", None, "AUTHENTICATION_ERROR"),
        ("gateway.events", "administrator", "VALIDATION_ERROR"),
    ]


READINGS: list[tuple[str, dict[str, str], int]] = [
    ("?from=yesterday", {}, 400),
    ("?access_token=gw_x", {}, 400),
    ("?types=a&types=b", {}, 400),
    ("?types=", {}, 400),
    ("?types=a,,b", {}, 400),
    ("?types=*a", {}, 400),
    ("?types=" + ",".join(["a"] * 51), {}, 400),
    ("?types=%ff", {}, 400),
    ("?types=" + "a" * 201, {}, 400),
    ("?from=latest&from=latest", {}, 400),
    ("", {"accept": "application/json"}, 406),
    ("", {"accept": "text/event-stream"}, 200),
    ("?types=*", {"accept": "*/*"}, 200),
    ("?last_event_id=", {}, 200),
    ("", {"origin": "https://evil.example"}, 403),
    ("", {"origin": "https://ui.example.com"}, 200),
]


async def test_a_request_is_read_strictly(follow: Follow) -> None:
    for query, headers, status in READINGS:
        assert (await follow(query, **headers)).status == status, (query, headers)


async def test_other_methods_are_refused(follow: Follow) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        client = await follow(method=method, content_length="0")
        assert client.status == 405, method
        assert client.headers["allow"] == "GET, HEAD, OPTIONS"


async def test_head_has_the_head_alone_and_options_no_key(site: Any, follow: Follow) -> None:
    client = await follow(method="HEAD")
    assert (client.status, client.headers["content-type"]) == (200, "text/event-stream")
    async with site.http(key=None) as http:
        options = await http.options("/events")
    assert (options.status_code, options.headers["allow"]) == (204, "GET, HEAD, OPTIONS")


@pytest.mark.parametrize("limits", [replace(LIMITS, followers_of_one=2)])
async def test_one_agent_has_only_so_many_streams(follow: Follow, feed: Feed) -> None:
    first, second, refused = [await follow() for _ in range(3)]
    assert (first.status, second.status, refused.status) == (200, 200, 429)
    assert refused.headers["retry-after"] == "5"
    second.abort()
    await until(lambda: feed.followers == 1)
    assert (await follow()).status == 200


async def test_when_the_gateway_stops_streams_end_and_none_begins(
    follow: Follow, feed: Feed
) -> None:
    client = await follow()
    feed.close()
    async with asyncio.timeout(PATIENCE_SECONDS):
        blocks = [block async for block in client.blocks()]
    assert blocks[-1].get("retry") == "2000"
    refused = await follow()
    assert refused.status == 503


class Impatient(Connection):
    """Waits hardly any time for the first client to read, and long for the others."""

    limits = ConnectionLimits(stall_seconds=PATIENCE_SECONDS)
    has_first = False

    def connection_made(self, transport: Any) -> None:
        if not Impatient.has_first:
            Impatient.has_first = True
            self.limits = replace(self.limits, stall_seconds=0.1)
        super().connection_made(transport)


@pytest.mark.parametrize("connection", [Impatient])
async def test_a_client_that_does_not_read_is_cut_and_the_others_are_served(
    follow: Follow, feed: Feed, store: SqlStore
) -> None:
    stuck = await follow()
    stuck.reader._transport.pause_reading()  # type: ignore[attr-defined]  # nothing public stops a reader
    reading = await follow()
    text = "x" * 1_000_000
    for number in range(12):
        await store.events.append([event(number, text=text)])
    assert len(await reading.take(12)) == 12
    await until(lambda: feed.followers == 1)
    assert reading.status == 200


async def test_a_stream_ends_when_its_key_does(
    site: Any,
    follow: Follow,
    store: SqlStore,
    feed: Feed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events, "RECHECK_SECONDS", 0.0)
    client = await follow()
    monkeypatch.delitem(site.agents, "gw_administrator-0123456789")
    await store.events.append([event(1)])
    assert await client.take(1) == []
    await until(lambda: feed.followers == 0)


async def test_a_store_that_fails_before_the_stream_begins_is_a_503(
    follow: Follow, store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail() -> tuple[int, int]:
        raise StoreError("the database is away")

    monkeypatch.setattr(store.events, "bounds", fail)
    client = await follow("?from=earliest")
    assert client.status == 503
    assert "away" not in (await client.reader.read(2000)).decode()
