"""Calls that become jobs, over MCP, for clients that know no tasks: a handle and three tools."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from gateway.auth.principal import LOCAL_SUBJECT, Credentials, Principal
from gateway.calls.call import Result
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.tools import Tools
from tests.eventually import eventually
from tests.interaction.long_site import ADA, SUM, LongSite, open_site

MODERN = "2026-07-28"
LOGGED = {"io.modelcontextprotocol/logLevel": "info"}
"""What no fast path takes."""
KEY = "contract-gateway/idempotencyKey"
CLIENTS = [(MODERN, {}), (MODERN, LOGGED), ("legacy", {}), ("legacy", LOGGED)]
TOOLS = {"job_status", "job_result", "job_cancel"}


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[LongSite]:
    async with open_site("memory:", tmp_path) as opened:
        yield opened


async def ended(client: Client, job_id: str) -> dict[str, Any]:
    """The job when it has ended."""

    async def look() -> dict[str, Any] | None:
        job = (await client.call_tool("job_status", {"job_id": job_id})).structured_content
        return job if "poll_after_ms" not in job else None

    return await eventually(look)


async def test_a_call_returns_a_handle_and_later_its_result(site: LongSite) -> None:
    for mode, meta in CLIENTS:
        site.acts.renew()
        await handle_and_result(site, mode, meta)


async def handle_and_result(site: LongSite, mode: str, meta: dict[str, Any]) -> None:
    async with site.mcp(mode) as client:
        handle = await client.call_tool("example_greet", ADA, meta=meta)
        job_id = handle.structured_content["job_id"]
        early = await client.call_tool("job_result", {"job_id": job_id})
        site.acts.release.set()
        job = await ended(client, job_id)
        result = await client.call_tool("job_result", {"job_id": job_id})

    assert not handle.is_error
    assert "job_status" in handle.content[0].text
    assert handle.structured_content["status"] in {"queued", "running"}
    assert early.is_error
    assert "JOB_UNDER_WAY" in early.content[0].text
    assert job["status"] == "succeeded"
    assert result.structured_content == {"greeting": "Hello Ada"}
    assert site.acts.made == 1


async def test_the_tools_are_listed_where_a_tool_needs_them(site: LongSite) -> None:
    async with site.mcp(MODERN) as client, site.mcp(MODERN, "/mcp/weather") as other:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        elsewhere = {tool.name for tool in (await other.list_tools()).tools}

    assert listed >= TOOLS
    assert not elsewhere & TOOLS


async def test_a_job_is_cancelled_by_its_tool(site: LongSite) -> None:
    async with site.mcp(MODERN) as client:
        handle = await client.call_tool("example_calculate", SUM)
        job = {"job_id": handle.structured_content["job_id"]}
        cancelled = await client.call_tool("job_cancel", job)
        unknown = await client.call_tool("job_status", {"job_id": "nothing"})
        result = await client.call_tool("job_result", job)

    assert cancelled.structured_content["status"] == "cancelled"
    assert cancelled.structured_content["problem"]["code"] == "OUTCOME_UNKNOWN"
    assert "JOB_NOT_FOUND" in unknown.content[0].text
    assert result.is_error
    assert site.acts.cancelled.is_set()


async def test_the_same_key_gets_the_same_job_over_all_transports(site: LongSite) -> None:
    rest = await site.post("/v1/example/greet", ADA, **{"idempotency-key": "k"})
    async with site.mcp("legacy") as client:
        handle = await client.call_tool("example_greet", ADA, meta={KEY: "k"})

    assert handle.structured_content["job_id"] == rest.json()["id"]


async def test_the_problem_of_the_call_is_that_of_the_result(site: LongSite) -> None:
    site.acts.refuse = "division_by_zero"
    async with site.mcp(MODERN) as client:
        handle = await client.call_tool("example_calculate", SUM)
        site.acts.release.set()
        job = await ended(client, handle.structured_content["job_id"])
        result = await client.call_tool("job_result", {"job_id": job["job_id"]})

    assert job["problem"]["reason"] == "division_by_zero"
    assert result.is_error
    assert "division_by_zero" in result.content[0].text


async def test_a_process_without_a_worker_makes_the_calls_itself(tmp_path: Path) -> None:
    """As `gateway mcp` on stdio does."""
    async with open_site("memory:", tmp_path, is_at_work=False) as site:
        tools = site.gateway.local_tools("administrator")
        caller = Caller(
            principal=Principal(subject=LOCAL_SUBJECT, agent="administrator"),
            credentials=Credentials(),
            transport="stdio",
            request_id="r",
        )
        handle = await called(tools, caller, "example_greet", b'{"name":"Ada"}')
        job = b'{"job_id":"%s"}' % handle.values["job_id"].encode()
        site.acts.release.set()

        async def look() -> Result | None:
            found = await called(tools, caller, "job_status", job)
            return found if found.values["status"] == "succeeded" else None

        await eventually(look)
        result = await called(tools, caller, "job_result", job)

    assert handle.values["status"] == "running"
    assert result.values == {"greeting": "Hello Ada"}
    assert site.acts.made == 1


async def called(tools: Tools, caller: Caller, name: str, arguments: bytes) -> Result:
    outcome = await tools.call(caller, name, arguments)
    assert isinstance(outcome, Result), outcome
    return outcome
