"""A caller asks for less time than the tool's contract allows, over every transport."""

import asyncio
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from tests.bridged import bridged

MODERN = "2026-07-28"
SECONDS = "contract-gateway/timeoutSeconds"
ATTEMPTS = "contract-gateway/maxAttempts"
LOGGED = {"io.modelcontextprotocol/logLevel": "info"}
"""What no fast path takes."""
ADA = {"name": "Ada"}
ERAS = pytest.mark.parametrize("mode", [MODERN, "legacy"])


@pytest.mark.parametrize(
    "given",
    [
        {"gateway-timeout": "0.05"},
        {"request-timeout": "0.05"},
        {"gateway-timeout": "0.05", "request-timeout": "0.050"},
    ],
)
async def test_a_shorter_deadline_over_rest(site: Any, given: dict[str, str]) -> None:
    async with site.http(**given, **{"gateway-max-attempts": "1"}) as http:
        answer = await http.post("/v1/example/wait", json=ADA)
    assert answer.status_code == 504
    assert answer.json()["detail"] == "No answer in 0.05 seconds."
    assert site.handlers.cancelled is True
    assert [record.outcome for record in await site.records()] == ["TIMEOUT_ERROR"]


@ERAS
@pytest.mark.parametrize("meta", [{}, LOGGED], ids=["fast", "sdk"])
async def test_a_shorter_deadline_over_mcp(site: Any, mode: str, meta: dict[str, Any]) -> None:
    async with site.mcp(mode=mode) as client:
        result = await client.call_tool("example_wait", ADA, meta={SECONDS: 0.05, **meta})
    assert result.is_error is True
    assert "No answer in 0.05 seconds." in result.content[0].text
    assert [record.outcome for record in await site.records()] == ["TIMEOUT_ERROR"]


@pytest.mark.parametrize(
    "name", [b"contract-gateway\\/timeoutSeconds", b"\\u0063ontract-gateway/timeoutSeconds"]
)
async def test_a_bound_is_heard_however_its_name_is_escaped(site: Any, name: bytes) -> None:
    body = (
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "example_wait",'
        b' "arguments": {"name": "Ada"}, "_meta": {"%b": 0.05}}}' % name
    )
    headers = {
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": "2025-11-25",
    }
    async with site.http(**headers) as http:
        answer = await http.post("/mcp", content=body)
    assert "No answer in 0.05 seconds." in answer.text


@ERAS
async def test_a_shorter_deadline_through_the_bridge(
    site: Any, socket_site: str, admin_key: str, mode: str
) -> None:
    async with (
        bridged(f"{socket_site}/mcp", admin_key, mode) as client,
    ):
        result = await client.call_tool("example_wait", ADA, meta={SECONDS: 0.05, "other": 1})
    assert "No answer in 0.05 seconds." in result.content[0].text


async def test_a_longer_deadline_is_the_contracts(site: Any) -> None:
    """The contract says 5 seconds; a caller that asks for 6 waits no longer."""
    entry = site.catalogue.find("example.wait")
    assert entry.operation.timeout_seconds < 9999
    async with site.http(**{"gateway-timeout": "9999"}) as http:
        call = asyncio.create_task(http.post("/v1/example/wait", json=ADA))
        await site.handlers.entered.wait()
        site.handlers.release.set()
        assert (await call).status_code == 200


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("gateway-timeout", "0"),
        ("gateway-timeout", "-1"),
        ("gateway-timeout", "1e3"),
        ("gateway-timeout", "nan"),
        ("gateway-timeout", "99999"),
        ("gateway-timeout", ""),
        ("request-timeout", "0"),
        ("request-timeout", "5s"),
        ("gateway-max-attempts", "0"),
        ("gateway-max-attempts", "10"),
        ("gateway-max-attempts", "1.0"),
    ],
)
async def test_headers_that_mean_nothing_are_refused_and_nothing_runs(
    site: Any, header: str, value: str
) -> None:
    async with site.http(**{header: value}) as http:
        answer = await http.post("/v1/example/greet", json=ADA)
    assert answer.status_code == 400
    assert answer.json()["code"] == "VALIDATION_ERROR"
    assert [record.outcome for record in await site.records()] == ["VALIDATION_ERROR"]


async def test_two_deadlines_that_differ_are_refused(site: Any) -> None:
    async with site.http(**{"gateway-timeout": "1", "request-timeout": "2"}) as http:
        answer = await http.post("/v1/example/greet", json=ADA)
    assert answer.status_code == 400
    assert "Gateway-Timeout and Request-Timeout differ" in answer.json()["detail"]


async def test_a_header_that_comes_twice_is_refused(site: Any) -> None:
    async with site.http() as http:
        answer = await http.post(
            "/v1/example/greet",
            headers=[("gateway-timeout", "1"), ("gateway-timeout", "2")],
            json=ADA,
        )
    assert answer.status_code == 400


@ERAS
@pytest.mark.parametrize(
    "meta", [{SECONDS: 0}, {SECONDS: "5"}, {SECONDS: True}, {ATTEMPTS: 0}, {ATTEMPTS: 1.5}]
)
async def test_meta_that_means_nothing_is_refused_and_nothing_runs(
    site: Any, mode: str, meta: dict[str, Any]
) -> None:
    async with site.mcp(mode=mode) as client:
        with pytest.raises(MCPError, match="of a call must be a number"):
            await client.call_tool("example_greet", ADA, meta=meta)
    assert await site.records() == []
