"""Subscriptions of a host that has started the gateway as a program."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from gateway.auth.principal import Credentials
from gateway.events.feed import Feed
from gateway.store.publishing import MAX_URIS
from gateway.store.sql.store import SqlStore
from gateway.transports.events import Followers
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.server import build_server
from gateway.transports.mcp.subscriptions import PipeSubscriptions
from tests.eventually import PATIENCE_SECONDS
from tests.interaction.events.published import event, publish, until

EVENTS = "gateway://events"
CONTRACT = "gateway://contracts/example.greet"
pytestmark = pytest.mark.filterwarnings(
    "ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning"
)


@asynccontextmanager
async def host_of(site: Any, key: str, feed: Feed | None) -> AsyncIterator[tuple[Client, Any]]:
    """A host, and the URIs that it is notified of."""
    credentials, pipeline = Credentials(bearer=key), site.pipeline
    principal = await pipeline.identification.identify(credentials)

    async def caller_of(_: Any) -> Caller:
        return Caller(
            principal=principal, credentials=credentials, transport="stdio", request_id="r"
        )

    seen = asyncio.Queue[str]()

    async def note(message: Any) -> None:
        seen.put_nowait(str(message.params.uri))

    own = pipeline.identification, pipeline.policy, pipeline.audit
    followers = None if feed is None else Followers(feed, *own)
    kept = PipeSubscriptions(followers, 0.01)
    server = build_server(site.tools, caller_of, "1", followers, kept=kept)
    async with Client(server, mode="legacy", cache=None, message_handler=note) as client:
        yield client, seen
    await kept.close()


async def test_a_host_is_notified_until_it_unsubscribes(
    site: Any, admin_key: str, store: SqlStore, feed: Feed
) -> None:
    async with host_of(site, admin_key, feed) as (client, seen):
        shown = client.server_capabilities
        assert (shown.resources.subscribe, shown.resources.list_changed) == (True, False)
        for number in range(2):
            await client.subscribe_resource(EVENTS)
            await client.subscribe_resource(EVENTS)
            assert feed.followers == 1
            await publish(store, event(number))
            async with asyncio.timeout(PATIENCE_SECONDS):
                assert await seen.get() == EVENTS
            await client.unsubscribe_resource(EVENTS)
            assert (feed.followers, seen.qsize()) == (0, 0)
        await client.subscribe_resource(CONTRACT)
        await client.subscribe_resource(EVENTS)
        feed.close(is_replaced=True)
        await until(lambda: feed.followers == 0)
        assert seen.empty()


async def test_a_host_has_the_bounds_of_a_session(
    site: Any, admin_key: str, greeter_key: str, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_of(site, greeter_key, feed) as (client, _):
        for uri in (EVENTS, "gateway://nothing"):
            with pytest.raises(MCPError, match="Resource not found"):
                await client.subscribe_resource(uri)
        await client.unsubscribe_resource("gateway://nothing")
    monkeypatch.setattr("gateway.transports.mcp.resources.KINDS", ())
    monkeypatch.setattr(
        "gateway.transports.mcp.resources.OfferedResources.announces", lambda *_: True
    )
    async with host_of(site, admin_key, None) as (client, _):
        for number in range(MAX_URIS):
            await client.subscribe_resource(f"x://{number}")
        await client.subscribe_resource("x://0")
        with pytest.raises(MCPError, match="64 subscriptions"):
            await client.subscribe_resource("x://more")
