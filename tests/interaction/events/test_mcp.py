"""The events over MCP, as the SDK's own client sees them."""

import asyncio
import json
from contextlib import ExitStack
from typing import Any

import pytest
from mcp.client.subscriptions import ResourceUpdated, ToolsListChanged
from mcp.shared.exceptions import MCPError

from gateway.events.feed import Feed
from gateway.store.sql.store import SqlStore
from gateway.transports.mcp import events
from gateway.transports.mcp.events import EVENTS_URI
from tests.bridged import bridged
from tests.eventually import PATIENCE_SECONDS
from tests.interaction.events.published import event, publish, until
from tests.leaping import ShortSleeps

MODERN = "2026-07-28"
ERAS = pytest.mark.parametrize("mode", [MODERN, "legacy"])
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}


@ERAS
async def test_who_may_follow_can_list_and_read_the_newest_events(
    site: Any, store: SqlStore, mode: str
) -> None:
    await publish(store, *map(event, range(60)))
    async with site.mcp(mode=mode) as client:
        (resource,) = (await client.list_resources()).resources
        assert (str(resource.uri), resource.name) == (EVENTS_URI, "events")
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == ["gateway://contracts/{operation}"]
        (contents,) = (await client.read_resource(EVENTS_URI)).contents
    assert contents.mime_type == resource.mime_type == "application/cloudevents-batch+json"
    ids = [each["id"] for each in json.loads(contents.text)]
    assert ids == [f"event-{number}" for number in range(10, 60)]


@ERAS
async def test_an_empty_log_is_an_empty_list(site: Any, mode: str) -> None:
    async with site.mcp(mode=mode) as client:
        (contents,) = (await client.read_resource(EVENTS_URI)).contents
    assert contents.text == "[]"


@ERAS
async def test_for_others_the_resource_does_not_exist(
    site: Any, mode: str, greeter_key: str
) -> None:
    async with site.mcp(greeter_key, mode=mode) as client:
        assert (await client.list_resources()).resources == []
        refusals = [await refusal(client, uri) for uri in (EVENTS_URI, "gateway://nothing")]
    async with site.mcp(path="/mcp/example", mode=mode) as client:
        assert (await client.list_resources()).resources == []
        refusals.append(await refusal(client, EVENTS_URI))
    assert [(each.code, each.message) for each in refusals] == [(-32602, "Resource not found")] * 3


@pytest.mark.parametrize(("version", "has_title"), [("2025-03-26", False), ("2025-06-18", True)])
async def test_a_resource_has_a_title_since_the_revision_that_has_titles(
    site: Any, version: str, has_title: bool
) -> None:
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": version,
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "resources/list"}
    async with site.http() as http:
        answer = await http.post("/mcp", headers=headers, json=body)
    (data,) = [line for line in answer.text.splitlines() if line.startswith("data: {")]
    (resource,) = json.loads(data.removeprefix("data: "))["result"]["resources"]
    assert ("title" in resource) is has_title


async def refusal(client: Any, uri: str) -> Any:
    with pytest.raises(MCPError) as caught:
        await client.read_resource(uri)
    assert caught.value.data == {"uri": uri}
    return caught.value.error


async def test_a_reading_leaves_one_record(site: Any, greeter_key: str) -> None:
    async with site.mcp() as client:
        await client.read_resource(EVENTS_URI)
    async with site.mcp(greeter_key) as client:
        await refusal(client, EVENTS_URI)
    seen = [(each.operation, each.transport, each.outcome) for each in await site.records()]
    assert seen == [
        ("gateway.events", "mcp", "ok"),
        ("gateway.events", "mcp", "TOOL_NOT_FOUND"),
    ]


async def test_a_listener_is_informed_that_there_is_more(
    site: Any, socket_site: str, store: SqlStore, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "asyncio", ShortSleeps(1 / 50))
    async with site.mcp(url=socket_site) as client:
        async with client.listen(
            tools_list_changed=True,
            prompts_list_changed=True,
            resources_list_changed=True,
            resource_subscriptions=[EVENTS_URI, "gateway://nothing"],
        ) as subscription:
            honoured = subscription.honored
            assert honoured.tools_list_changed is True
            assert honoured.prompts_list_changed is None
            assert honoured.resources_list_changed is True
            assert honoured.resource_subscriptions == [EVENTS_URI]
            for number in range(2):
                await store.events.append([event(number)])
                async with asyncio.timeout(PATIENCE_SECONDS):
                    assert await anext(aiter(subscription)) == ResourceUpdated(EVENTS_URI)
                (contents,) = (await client.read_resource(EVENTS_URI)).contents
                assert len(json.loads(contents.text)) == number + 1
        await until(lambda: feed.followers == 0)


async def test_a_listener_is_informed_through_the_bridge(
    socket_site: str, admin_key: str, store: SqlStore, feed: Feed
) -> None:
    """And no longer when it has left, since that closes the connection of the bridge."""
    async with bridged(f"{socket_site}/mcp", admin_key) as client:
        async with client.listen(resource_subscriptions=[EVENTS_URI]) as subscription:
            await store.events.append([event(1)])
            async with asyncio.timeout(PATIENCE_SECONDS):
                assert await anext(aiter(subscription)) == ResourceUpdated(EVENTS_URI)
            assert feed.followers == 1
        await until(lambda: feed.followers == 0)


async def test_what_the_caller_may_not_see_is_not_acknowledged(
    site: Any, socket_site: str, greeter_key: str, store: SqlStore, feed: Feed
) -> None:
    async with (
        site.mcp(greeter_key, url=socket_site) as client,
        client.listen(tools_list_changed=True, resource_subscriptions=[EVENTS_URI]) as subscription,
    ):
        assert not subscription.honored.resource_subscriptions
        await publish(store, event(1))
        # What was published earlier would come earlier.
        feed.close(is_replaced=True)
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert [each async for each in subscription] == [ToolsListChanged()]


async def test_a_stopping_gateway_ends_listening_gracefully(
    site: Any, socket_site: str, feed: Feed
) -> None:
    async with site.mcp(url=socket_site) as client:
        async with client.listen(resource_subscriptions=[EVENTS_URI]) as subscription:
            feed.close()
            async with asyncio.timeout(PATIENCE_SECONDS):
                assert [each async for each in subscription] == []
        with pytest.raises(MCPError, match="stopping"):
            async with client.listen(resource_subscriptions=[EVENTS_URI]):
                pass


async def test_one_listener_too_many_is_told_so(site: Any, socket_site: str, feed: Feed) -> None:
    with ExitStack() as seats:
        for _ in range(feed.limits.followers_of_one):
            seats.enter_context(feed.seat("administrator"))
        async with site.mcp(url=socket_site) as client:
            with pytest.raises(MCPError, match="Too many streams") as refused:
                async with client.listen(resource_subscriptions=[EVENTS_URI]):
                    pass
    assert refused.value.error.code == -32000
    assert refused.value.error.data["code"] == "RATE_LIMIT_ERROR"


async def test_a_gateway_that_is_replaced_says_that_tools_changed(
    site: Any, socket_site: str, feed: Feed
) -> None:
    """Only to those who asked for it, and before their stream ends."""
    async with (
        site.mcp(url=socket_site) as client,
        client.listen(tools_list_changed=True) as asked,
        client.listen(resource_subscriptions=[EVENTS_URI]) as other,
    ):
        feed.close(is_replaced=True)
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert [each async for each in asked] == [ToolsListChanged()]
            assert [each async for each in other] == []


async def test_each_frame_bears_the_id_of_the_request(
    site: Any, socket_site: str, admin_key: str, store: SqlStore
) -> None:
    """As it stands on the wire: acknowledged first, then notified, each under the request's id."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(socket_site.rpartition(":")[2]))
    params = {"_meta": ENVELOPE, "notifications": {"resourceSubscriptions": [EVENTS_URI]}}
    body = json.dumps(
        {"jsonrpc": "2.0", "id": "sub-7", "method": "subscriptions/listen", "params": params}
    ).encode()
    head = (
        "POST /mcp HTTP/1.1\r\nhost: gateway.test\r\ncontent-type: application/json\r\n"
        "accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n"
        f"mcp-method: subscriptions/listen\r\nauthorization: Bearer {admin_key}\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    frames = []
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(frames) < 2:
            line = await reader.readline()
            if line.startswith(b"data: "):
                frames.append(json.loads(line[6:]))
                await store.events.append([event(1)])
    writer.close()
    assert [frame["method"] for frame in frames] == [
        "notifications/subscriptions/acknowledged",
        "notifications/resources/updated",
    ]
    for frame in frames:
        assert frame["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "sub-7"


@pytest.mark.parametrize("path", ["/mcp", "/mcp/example"])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_server_declares_what_it_does_and_no_more(
    site: Any, mode: str, path: str
) -> None:
    """Each revision has a stream on which a client is notified of changes."""
    async with site.mcp(mode=mode, path=path) as client:
        shown = client.server_capabilities.model_dump(exclude_none=True, by_alias=True)
    assert shown == {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "completions": {},
    }
