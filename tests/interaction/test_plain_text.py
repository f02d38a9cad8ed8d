"""Results that are served as plain text: over REST if JSON is not accepted, over MCP as block."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.catalogue import Entry
from gateway.contract.operation import Effect
from tests.interaction.long_site import ADA, REQUIRED, LongSite, open_site
from tests.interaction.test_tasks import LOG, call, ended

READS = (Effect.READ, Effect.READ)


def _as_text(entry: Entry) -> Entry:
    """The tool with one member in its result serves it as text, and never becomes a job."""
    if entry.id != "example.greet":
        return replace(entry, operation=replace(entry.operation, task="never"))
    return replace(entry, operation=replace(entry.operation, task="never", text_member="greeting"))


def _as_text_of_a_job(entry: Entry) -> Entry:
    is_greeting = entry.id == "example.greet"
    member = "greeting" if is_greeting else None
    return replace(entry, operation=replace(entry.operation, text_member=member))


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[LongSite]:
    async with open_site("memory:", tmp_path, READS, change=_as_text) as opened:
        opened.acts.release.set()
        yield opened


ANSWERS = [
    ("text/plain", "text/plain; charset=utf-8", "Hello Ada"),
    ("text/plain, application/problem+json", "text/plain; charset=utf-8", "Hello Ada"),
    ("text/plain, application/json", "application/json", '{"greeting":"Hello Ada"}'),
    ("*/*", "application/json", '{"greeting":"Hello Ada"}'),
    ("text/plain;q=0, */*", "application/json", '{"greeting":"Hello Ada"}'),
]


async def test_rest_sends_text_to_a_client_that_does_not_accept_json(site: LongSite) -> None:
    for accept, media_type, body in ANSWERS:
        answer = await site.post(REQUIRED, ADA, accept=accept)

        assert (answer.status_code, answer.headers["content-type"]) == (200, media_type), accept
        assert answer.text == body


async def test_text_that_an_upstream_may_have_made_is_never_rendered(site: LongSite) -> None:
    answer = await site.post(REQUIRED, ADA, accept="text/plain")

    assert answer.headers["content-disposition"] == "attachment"


async def test_a_tool_without_text_refuses_a_client_that_accepts_only_text(site: LongSite) -> None:
    answer = await site.post(
        "/v1/example/calculate", {"operation": "add", "a": 1, "b": 2}, accept="text/plain"
    )

    assert (answer.status_code, answer.json()["code"]) == (406, "NOT_ACCEPTABLE")


@pytest.mark.parametrize("meta", [{}, LOG], ids=["fast", "sdk"])
async def test_mcp_sends_the_text_as_its_block_beside_the_object(
    site: LongSite, meta: dict[str, Any]
) -> None:
    result = await call(site, "example_greet", ADA, meta=meta)

    assert result["content"] == [{"type": "text", "text": "Hello Ada"}]
    assert result["structuredContent"] == {"greeting": "Hello Ada"}


async def test_the_result_of_a_task_is_text_too(tmp_path: Path) -> None:
    async with open_site("memory:", tmp_path, READS, change=_as_text_of_a_job) as site:
        site.acts.release.set()
        created = await call(site, "example_greet", ADA)
        task = await ended(site, created["taskId"])

    assert task["result"]["content"] == [{"type": "text", "text": "Hello Ada"}]
