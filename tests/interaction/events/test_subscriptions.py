"""Subscriptions in the handshake revisions, over a socket, and the stream of a session."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from gateway.events.feed import Feed
from gateway.store.publishing import MAX_URIS, SubscribedSession
from gateway.store.sql.store import SqlStore
from gateway.transports import events
from gateway.transports.mcp import subscriptions
from tests.bridged import bridged
from tests.eventually import PATIENCE_SECONDS
from tests.interaction.conftest import build_running, served, serving
from tests.interaction.events.published import event, publish, until
from tests.interaction.events.streaming import (
    EVENTS,
    LISTS,
    SUBSCRIBE,
    UNSUBSCRIBE,
    asked,
    next_of,
    rest_of,
    session_of,
    stream_of,
    subscribe,
    updated,
)

CONTRACT = "gateway://contracts/example.greet"
HANDSHAKE = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
STREAM = {"accept": "text/event-stream"}


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two notifications of events."""
    monkeypatch.setattr(subscriptions.SessionStreams.__init__, "__defaults__", (0.01,))


@asynccontextmanager
async def direct(url: str, key: str, mode: str, **options: Any) -> AsyncIterator[Client]:
    """The SDK's client over HTTP."""
    async with httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=mode, cache=None, **options) as client:
            yield client


@pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")
@pytest.mark.parametrize("connect", [direct, bridged])
async def test_the_sdks_client_is_notified_until_it_unsubscribes(
    socket_site: str,
    admin_key: str,
    store: SqlStore,
    feed: Feed,
    monkeypatch: pytest.MonkeyPatch,
    connect: Any,
) -> None:
    seen, looks = asyncio.Queue[Any](), []
    of = store.subscriptions.of

    async def look(sessions: Any) -> Any:
        looks.append(await of(sessions))
        return looks[-1]

    monkeypatch.setattr(store.subscriptions, "of", look)

    async def note(message: Any) -> None:
        seen.put_nowait(message)

    async with connect(f"{socket_site}/mcp", admin_key, "legacy", message_handler=note) as client:
        # Its stream is open, and has looked for what the session missed.
        await until(lambda: looks == [{}])
        await client.subscribe_resource(EVENTS)
        await publish(store, event(1))
        async with asyncio.timeout(PATIENCE_SECONDS):
            first = await seen.get()
        assert (first.method, str(first.params.uri)) == (
            "notifications/resources/updated",
            EVENTS,
        )
        await client.unsubscribe_resource(EVENTS)
        await client.subscribe_resource(CONTRACT)
        await publish(store, event(2))
        feed.close(is_replaced=True)
        async with asyncio.timeout(PATIENCE_SECONDS):
            rest = [await seen.get() for _ in range(3)]
        assert [each.method for each in rest] == [*LISTS, "notifications/resources/updated"]
        assert str(rest[2].params.uri) == CONTRACT


@pytest.mark.parametrize("version", HANDSHAKE)
async def test_a_subscriber_is_notified_in_each_revision(
    socket_site: str, admin_key: str, store: SqlStore, version: str
) -> None:
    async with (
        session_of(socket_site, admin_key, version=version) as client,
        stream_of(client) as messages,
    ):
        await subscribe(client)
        for number in range(2):
            await publish(store, event(number))
            assert await next_of(messages) == updated(EVENTS)


async def test_who_has_not_subscribed_is_not_notified(
    socket_site: str, admin_key: str, greeter_key: str, store: SqlStore, feed: Feed
) -> None:
    """Neither another session of the key, nor another key in a session of the same name."""
    async with (
        session_of(socket_site, admin_key) as one,
        session_of(socket_site, admin_key) as other,
        session_of(socket_site, greeter_key) as stranger,
    ):
        stranger.http.headers["mcp-session-id"] = one.http.headers["mcp-session-id"]
        async with (
            stream_of(one) as wanted,
            stream_of(other) as unwanted,
            stream_of(stranger) as hidden,
        ):
            await subscribe(one)
            assert (await asked(other, UNSUBSCRIBE, EVENTS))["result"] == {}
            assert (await asked(stranger, UNSUBSCRIBE, EVENTS))["result"] == {}
            await publish(store, event(1))
            assert await next_of(wanted) == updated(EVENTS)
            feed.close()
            assert [await rest_of(each) for each in (wanted, unwanted, hidden)] == [[], [], []]


@pytest.mark.parametrize(
    ("uri", "code"), [("gateway://nothing", -32602), ("gateway://contracts/no.tool", -32602)]
)
async def test_what_cannot_be_read_cannot_be_subscribed_to(
    socket_site: str, admin_key: str, greeter_key: str, uri: str, code: int
) -> None:
    """It is the error of a reading, also for what exists and may not be seen."""
    async with (
        session_of(socket_site, admin_key) as client,
        session_of(socket_site, greeter_key) as greeter,
    ):
        known = [await asked(client, method, uri) for method in (SUBSCRIBE, "resources/read")]
        hidden = [await asked(greeter, method, EVENTS) for method in (SUBSCRIBE, "resources/read")]
        elsewhere = await asked(client, SUBSCRIBE, EVENTS, "/mcp/example")
    assert known[0]["error"] == known[1]["error"]
    assert hidden[0]["error"] == hidden[1]["error"] == elsewhere["error"]
    assert (known[0]["error"]["code"], known[0]["error"]["data"]) == (code, {"uri": uri})


async def test_a_subscription_leaves_the_record_of_a_reading(
    site: Any, socket_site: str, admin_key: str
) -> None:
    async with session_of(socket_site, admin_key) as client:
        await subscribe(client)
        await subscribe(client, CONTRACT)
        await asked(client, SUBSCRIBE, "gateway://nothing")
    seen = [(each.operation, each.outcome) for each in await site.records()]
    assert seen == [
        ("gateway.events", "ok"),
        ("gateway.contracts", "ok"),
        ("mcp:resources/read", "TOOL_NOT_FOUND"),
    ]


@pytest.mark.parametrize("method", [SUBSCRIBE, UNSUBSCRIBE])
async def test_without_a_session_there_are_no_subscriptions(
    socket_site: str, admin_key: str, method: str
) -> None:
    async with session_of(socket_site, admin_key) as client:
        del client.http.headers["mcp-session-id"]
        answer = await asked(client, method, EVENTS)
    assert answer["error"]["code"] == -32600
    assert "Mcp-Session-Id" in answer["error"]["message"]


@pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")
async def test_the_newest_revision_does_not_have_the_methods(site: Any) -> None:
    async with site.mcp() as client:
        with pytest.raises(MCPError, match="not found"):
            await client.subscribe_resource(EVENTS)


async def test_one_subscription_too_many_is_refused(
    socket_site: str, admin_key: str, store: SqlStore
) -> None:
    async with session_of(socket_site, admin_key) as client:
        name = client.http.headers["mcp-session-id"]
        own = SubscribedSession("key-of-administrator", name)
        for number in range(MAX_URIS):
            assert await store.subscriptions.add(own, f"x://{number}")
        refused = await asked(client, SUBSCRIBE, EVENTS)
        assert refused["error"]["data"]["code"] == "RATE_LIMIT_ERROR"
        assert refused["error"]["message"].startswith("This session has 64 subscriptions")
        await asked(client, UNSUBSCRIBE, "x://0")
        await subscribe(client)


async def test_any_text_may_be_named_to_unsubscribe(socket_site: str, admin_key: str) -> None:
    async with session_of(socket_site, admin_key) as client:
        assert (await asked(client, UNSUBSCRIBE, "\x00" * 300))["result"] == {}


async def test_a_subscription_outlives_the_process(
    socket_site: str, admin_key: str, store: SqlStore, feed: Feed
) -> None:
    """Another application on the same database goes on, and says what may have been missed."""
    async with session_of(socket_site, admin_key) as client:
        await subscribe(client)
        await subscribe(client, CONTRACT)
        names = dict(client.http.headers)
    another = build_running(feed, subscriptions=store.subscriptions)
    async with (
        serving(another),
        served(another.app) as url,
        session_of(url, admin_key) as client,
    ):
        client.http.headers["mcp-session-id"] = names["mcp-session-id"]
        async with stream_of(client) as messages:
            assert await next_of(messages) == updated(EVENTS)
            assert await next_of(messages) == updated(CONTRACT)
            await publish(store, event(1))
            assert await next_of(messages) == updated(EVENTS)


async def test_a_subscription_in_another_process_counts(
    socket_site: str, admin_key: str, store: SqlStore
) -> None:
    async with session_of(socket_site, admin_key) as client, stream_of(client) as messages:
        name = client.http.headers["mcp-session-id"]
        await store.subscriptions.add(SubscribedSession("key-of-administrator", name), EVENTS)
        await publish(store, event(1))
        assert await next_of(messages) == updated(EVENTS)


async def test_a_gateway_that_is_replaced_says_last_that_all_may_have_changed(
    socket_site: str, admin_key: str, greeter_key: str, feed: Feed
) -> None:
    async with (
        session_of(socket_site, admin_key) as client,
        session_of(socket_site, greeter_key) as other,
    ):
        await subscribe(client)
        await subscribe(client, CONTRACT)
        async with stream_of(client) as messages, stream_of(other) as others:
            # What has changed before the stream began is said first.
            first = [await next_of(messages) for _ in range(2)]
            await until(lambda: feed.followers == 2)
            feed.close(is_replaced=True)
            last, *rest = [await rest_of(each) for each in (messages, others)]
    assert first == [updated(EVENTS), updated(CONTRACT)]
    lists = [{"jsonrpc": "2.0", "method": each} for each in LISTS]
    assert last == [*lists, updated(EVENTS), updated(CONTRACT)]
    assert rest == [lists]


async def test_a_stopping_gateway_ends_the_stream_and_opens_no_other(
    socket_site: str, admin_key: str, feed: Feed
) -> None:
    async with session_of(socket_site, admin_key) as client:
        await subscribe(client, CONTRACT)
        async with stream_of(client) as messages:
            assert await next_of(messages) == updated(CONTRACT)
            feed.close()
            assert await rest_of(messages) == []
        answer = await client.http.get("/mcp", headers=STREAM)
    assert (answer.status_code, answer.json()["code"]) == (503, "STOPPING")


async def test_of_the_streams_of_a_session_the_newest_has_the_messages(
    socket_site: str, admin_key: str, store: SqlStore, feed: Feed
) -> None:
    """The others stay open: a client that opened them again would end the newest, and so on."""
    async with (
        session_of(socket_site, admin_key) as client,
        session_of(socket_site, admin_key) as other,
        stream_of(client) as older,
        stream_of(other) as another,
    ):
        async with stream_of(client) as newer:
            await until(lambda: feed.followers == 3)
            await subscribe(client)
            await subscribe(other)
            await publish(store, event(1))
            assert await next_of(newer) == updated(EVENTS)
            assert await next_of(another) == updated(EVENTS)
        await until(lambda: feed.followers == 2)
        assert await next_of(older) == updated(EVENTS), "it may have changed meanwhile"
        await publish(store, event(2))
        assert await next_of(older) == updated(EVENTS)
        feed.close()
        assert await rest_of(older) == []


async def test_a_stream_ends_when_its_key_is_revoked(
    site: Any, socket_site: str, admin_key: str, store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "RECHECK_SECONDS", 0.0)
    async with session_of(socket_site, admin_key) as client, stream_of(client) as messages:
        await subscribe(client)
        monkeypatch.delitem(site.agents, admin_key)
        await publish(store, event(1))
        assert await rest_of(messages) in ([], [updated(EVENTS)])


async def test_an_idle_stream_has_pings_and_keeps_its_subscriptions(
    socket_site: str, admin_key: str, store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscriptions, "PING_SECONDS", 0.01)
    monkeypatch.setattr(subscriptions, "SEEN_SECONDS", 0.01)
    seen = asyncio.Event()
    see = store.subscriptions.see

    async def note(session: SubscribedSession) -> None:
        await see(session)
        seen.set()

    monkeypatch.setattr(store.subscriptions, "see", note)
    async with (
        session_of(socket_site, admin_key) as client,
        client.http.stream("GET", "/mcp", headers=STREAM) as response,
        asyncio.timeout(PATIENCE_SECONDS),
    ):
        lines = response.aiter_lines()
        assert [await anext(lines) for _ in range(6)] == [": ping", ""] * 3
        await seen.wait()


REFUSED: list[tuple[dict[str, str | None], int, str]] = [
    ({"accept": "application/json"}, 406, "NOT_ACCEPTABLE"),
    ({"accept": ""}, 406, "NOT_ACCEPTABLE"),
    ({"mcp-session-id": None}, 405, "METHOD_NOT_ALLOWED"),
    ({"mcp-session-id": "x" * 129}, 405, "METHOD_NOT_ALLOWED"),
    ({"last-event-id": "7"}, 400, "VALIDATION_ERROR"),
    ({"gateway-timeout": "7"}, 400, "VALIDATION_ERROR"),
    ({"mcp-protocol-version": "2026-07-28"}, 405, "METHOD_NOT_ALLOWED"),
    ({"mcp-protocol-version": "1"}, 405, "METHOD_NOT_ALLOWED"),
    ({"authorization": "Bearer wrong"}, 401, "AUTHENTICATION_ERROR"),
]


async def test_a_client_that_does_not_say_what_it_accepts_gets_the_stream(
    socket_site: str, admin_key: str
) -> None:
    async with session_of(socket_site, admin_key) as client:
        asked = client.http.build_request("GET", "/mcp", timeout=PATIENCE_SECONDS)
        del asked.headers["accept"]
        answer = await client.http.send(asked, stream=True)
        try:
            assert answer.status_code == 200
            assert answer.headers["content-type"] == "text/event-stream"
        finally:
            await answer.aclose()


async def test_a_stream_that_cannot_be_opened_is_refused(
    socket_site: str, admin_key: str, feed: Feed
) -> None:
    shown = {
        "accept": "text/event-stream",
        "authorization": f"Bearer {admin_key}",
        "mcp-protocol-version": "2025-11-25",
        "mcp-session-id": "any-name",
    }
    for changed, status, code in REFUSED:
        fields = {name: text for name, text in (shown | changed).items() if text is not None}
        async with httpx.AsyncClient(base_url=socket_site) as http:
            answer = await http.get("/mcp", headers=fields)
        assert (answer.status_code, answer.json()["code"]) == (status, code), changed
        assert feed.followers == 0


async def test_a_path_with_a_stream_says_so_and_deletes_nothing(site: Any) -> None:
    async with site.http() as http:
        old, new = [
            await http.delete("/mcp", headers={"mcp-protocol-version": version})
            for version in ("2025-11-25", "2026-07-28")
        ]
    assert (old.status_code, old.headers["allow"]) == (405, "GET, POST")
    assert (new.status_code, new.headers["allow"]) == (405, "POST")


async def test_an_agent_has_a_limited_number_of_streams(
    socket_site: str, admin_key: str, feed: Feed
) -> None:
    with ExitStack() as seats:
        for _ in range(feed.limits.followers_of_one):
            seats.enter_context(feed.seat("administrator"))
        async with session_of(socket_site, admin_key) as client:
            answer = await client.http.get("/mcp", headers=STREAM)
    # As if there was no stream: hosts ask again after 429, and stop at 405.
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.json()["detail"] == "Too many streams of events are open."
