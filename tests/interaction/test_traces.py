"""A caller's trace reaches the audit, the log and the upstream, over every transport."""

import json
import logging
from typing import Any

import pytest

from gateway.observability.logs import configure_logs
from gateway.testing.suite.secrets import everything_logged
from tests.interaction.webhook_site import serving_webhooks

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"
OTHER = "0af7651916cd43dd8448eb211c80319c"
MODERN = "2026-07-28"
LOGGED = {"io.modelcontextprotocol/logLevel": "info"}
"""What no fast path takes."""
ADA = {"name": "Ada"}


async def traces(site: Any) -> list[str | None]:
    return [record.trace_id for record in await site.records()]


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        ({"traceparent": PARENT}, TRACE),
        ({"traceparent": PARENT, "tracestate": "a=1"}, TRACE),
        ({"traceparent": "00-junk-01"}, None),
        ({"traceparent": f"{PARENT}, {PARENT}"}, None),
        ({}, None),
    ],
)
async def test_a_trace_in_the_headers(
    site: Any, headers: dict[str, str], found: str | None
) -> None:
    async with site.http(**headers) as http:
        answers = [
            await http.post("/v1/example/greet", json=ADA),
            await http.post("/tools/execute", json={"name": "example_greet", "arguments": ADA}),
            await http.post("/v1/example/nothing", json=ADA),
        ]
    assert [each.status_code for each in answers] == [200, 200, 404]
    assert await traces(site) == [found] * 3


@pytest.mark.parametrize("mode", [MODERN, "legacy"])
@pytest.mark.parametrize("meta", [{}, LOGGED], ids=["fast", "sdk"])
async def test_a_trace_in_meta(site: Any, mode: str, meta: dict[str, Any]) -> None:
    async with site.mcp(mode=mode) as client:
        for parent in (PARENT, f"00-{OTHER}-{SPAN}-00", "junk"):
            await client.call_tool("example_greet", ADA, meta={"traceparent": parent, **meta})
    assert await traces(site) == [TRACE, OTHER, None]


async def test_meta_goes_before_a_header_and_escapes_are_read(site: Any) -> None:
    body = (
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "example_greet",'
        b' "arguments": {"name": "Ada"}, "_meta": {"\\u0074raceparent": "%s"}}}' % PARENT.encode()
    )
    headers = {
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": "2025-11-25",
        "traceparent": f"00-{OTHER}-{SPAN}-01",
    }
    async with site.http(**headers) as http:
        await http.post("/mcp", content=body)
        await http.post("/mcp", content=body.replace(b"\\u0074", b"\\u0054"))
    assert await traces(site) == [TRACE, OTHER]


async def test_lines_of_a_traced_request_name_the_trace(site: Any) -> None:
    with everything_logged() as stream:
        configure_logs(level="debug", form="json", stream=stream)
        async with site.http(traceparent=PARENT) as http:
            await http.post("/v1/example/crash", json=ADA)
        async with site.http() as http:
            await http.post("/v1/example/crash", json=ADA)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    found = [line.get("trace_id") for line in lines if line["level"] == "error"]
    assert found == [TRACE, None]
    logging.getLogger().setLevel(logging.WARNING)


async def test_a_webhook_keeps_the_trace_of_its_request() -> None:
    async with serving_webhooks() as site:
        answer = await site.post_acme(extra=[("traceparent", PARENT)])
        assert answer.status == 202
        (stored,) = site.inbox.stored
    assert stored.trace == PARENT
