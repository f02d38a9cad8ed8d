"""A tool that requires something of MCP clients is listed and called for those that declare it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.catalogue import Entry
from tests.interaction.long_site import ADA, REQUIRED, LongSite, open_site
from tests.interaction.test_tasks import LOG, TASKS, ask, call

PATHS: list[dict[str, Any]] = [{}, LOG]
"""The fast path, and that of the SDK."""


def _requiring(entry: Entry) -> Entry:
    is_greeting = entry.id == "example.greet"
    return replace(entry, tool=replace(entry.tool, requires=("tasks",) if is_greeting else ()))


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[LongSite]:
    async with open_site("memory:", tmp_path, change=_requiring) as opened:
        opened.acts.release.set()
        yield opened


async def _names(site: LongSite, *, declared: bool, meta: dict[str, Any]) -> set[str]:
    _, answer = await ask(site, "tools/list", {}, declared=declared, meta=meta)
    return {tool["name"] for tool in answer["result"]["tools"]}


async def test_it_is_listed_exactly_for_clients_that_declare_it(site: LongSite) -> None:
    for meta in PATHS:
        with_it = await _names(site, declared=True, meta=meta)
        without = await _names(site, declared=False, meta=meta)

        assert with_it - without == {"example_greet"}


async def test_a_call_of_another_client_is_refused_by_the_protocol(site: LongSite) -> None:
    asked = {"name": "example_greet", "arguments": ADA}
    for meta in PATHS:
        status, answer = await ask(site, "tools/call", asked, declared=False, meta=meta)

        assert (status, answer["error"]["code"]) == (400, -32021)
        assert answer["error"]["data"]["requiredCapabilities"] == {"extensions": {TASKS: {}}}
    assert site.acts.made == 0


async def test_the_refusal_leaves_one_audit_record(site: LongSite) -> None:
    asked = {"name": "example_greet", "arguments": ADA}
    await ask(site, "tools/call", asked, declared=False)
    await site.gateway.parts.audit.flush()
    found = await site.gateway.parts.store.audit.latest(100)

    assert [each.outcome for each in found if each.operation == "example.greet"] == [
        "CAPABILITY_MISSING"
    ]


async def test_a_caller_without_the_grant_gets_no_hint_that_it_exists(site: LongSite) -> None:
    key = await site.new_key("golf_concierge")
    asked = {"name": "example_greet", "arguments": ADA}
    _, answer = await ask(site, "tools/call", asked, declared=False, key=key.key)

    assert answer["error"]["code"] == -32602


async def test_a_client_of_the_handshake_revisions_gets_the_problem_as_result(
    site: LongSite,
) -> None:
    async with site.mcp("legacy") as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        result = await client.call_tool("example_greet", ADA)

    assert "example_greet" not in listed
    assert result.is_error
    assert (result.meta or {})["contract-gateway/problem"]["requires"] == ["tasks"]


async def test_it_is_a_task_for_a_client_that_declares_it_and_a_job_over_rest(
    site: LongSite,
) -> None:
    created = await call(site, "example_greet", ADA)
    answer = await site.post(REQUIRED, ADA)

    assert created["resultType"] == "task"
    assert answer.status_code == 202
