"""A caller whose job is stored gets the job, whatever the database does next."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.audit import log as audit_log
from gateway.contract.operation import Effect
from gateway.errors import StoreError
from gateway.publication.continuation import Continuation, sealed
from gateway.store.protocols import TaskUncertain
from tests.eventually import PATIENCE_SECONDS, eventually
from tests.interaction.long_site import ADA, AUTO, KEY, REQUIRED, SUM, LongSite, open_site

MODERN = "2026-07-28"
TASKS = "io.modelcontextprotocol/tasks"
Break = Callable[[Any, str], None]


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[LongSite]:
    async with open_site("memory:", tmp_path) as opened:
        yield opened


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Break:
    """Makes a method of a store fail until the changes are undone."""

    async def away(*_: Any, **__: Any) -> None:
        raise StoreError("the disk is slow")

    return lambda part, method: monkeypatch.setattr(type(part), method, away)


@pytest.fixture
def eager_jobs() -> Iterator[None]:
    """A job whose start cannot be recorded is tried again at once, for the whole test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_log.NotBegun, "retry_after_seconds", 0.0)
        yield


async def tool_call(site: LongSite, name: str, arguments: Any, *, as_task: bool) -> dict[str, Any]:
    """The result of a call over MCP."""
    capabilities: dict[str, Any] = {"extensions": {TASKS: {}}} if as_task else {}
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    }
    params = {"name": name, "arguments": arguments, "_meta": meta}
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": MODERN,
        "mcp-method": "tools/call",
        "mcp-name": name,
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    result: dict[str, Any] = (await site.post("/mcp", body, **headers)).json()["result"]
    return result


@pytest.mark.usefixtures("eager_jobs")
@pytest.mark.parametrize("key", [{}, {"idempotency-key": "k"}], ids=["no key", "key"])
async def test_a_stored_job_is_answered_though_its_submission_is_not_recorded_yet(
    site: LongSite, fail: Break, monkeypatch: pytest.MonkeyPatch, key: dict[str, str]
) -> None:
    fail(site.gateway.parts.store.audit, "append")
    monkeypatch.setattr(audit_log, "WAIT_SECONDS", 0.01)
    answer = await site.post(REQUIRED, ADA, **key)
    handle = await tool_call(site, "example_greet", ADA, as_task=False)
    made = site.acts.made
    monkeypatch.undo()
    site.acts.release.set()
    ended = await site.ended(answer.headers["location"])

    async def recorded() -> list[tuple[str, int]] | None:
        found = await site.gateway.parts.store.audit.latest(100)
        known = [(each.transport, each.status) for each in found if each.outcome == "ok"]
        return known if ("rest", 202) in known and ("mcp", 202) in known else None

    records = await eventually(recorded)
    assert answer.status_code == 202
    assert answer.json()["id"] in answer.headers["location"]
    assert handle["structuredContent"]["job_id"]
    assert made == 0
    assert (ended["status"], ended["id"]) == ("succeeded", answer.json()["id"])
    assert records.count(("rest", 202)) == 1


@pytest.mark.parametrize(("path", "body"), [(REQUIRED, ADA), (AUTO, SUM)])
async def test_a_stored_job_is_answered_though_it_cannot_be_read(
    site: LongSite, fail: Break, monkeypatch: pytest.MonkeyPatch, path: str, body: Any
) -> None:
    name = {REQUIRED: "example_greet", AUTO: "example_calculate"}[path]
    fail(site.gateway.parts.store.tasks, "find")
    answer = await site.post(path, body)
    task = await tool_call(site, name, body, as_task=True)
    monkeypatch.undo()
    site.acts.release.set()
    ended = await site.ended(answer.headers["location"])

    assert answer.status_code == 202
    assert answer.json()["status"] in {"queued", "running"}
    assert (ended["id"], ended["status"]) == (answer.json()["id"], "succeeded")
    assert task["resultType"] == "task"
    assert (await site.get(f"/v1/jobs/{task['taskId']}")).status_code == 200


async def test_nobody_is_asked_to_repeat_a_call_that_may_be_stored(
    site: LongSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lose(*_: Any) -> None:
        raise TaskUncertain("the connection was lost")

    monkeypatch.setattr(type(site.gateway.parts.store.tasks), "add", lose)
    unkeyed = await site.post(REQUIRED, ADA)
    keyed = await site.post(REQUIRED, ADA, **{"idempotency-key": "k"})

    assert (unkeyed.status_code, unkeyed.json()["retryable"]) == (409, False)
    assert "look at your jobs" in unkeyed.json()["detail"]
    assert (keyed.status_code, keyed.json()["retryable"]) == (503, True)
    assert "same key" in keyed.json()["detail"]


@pytest.mark.parametrize(
    ("operation", "arguments", "as_task"),
    [("example.greet", ADA, True), ("example.calculate", SUM, False)],
)
async def test_a_continued_read_that_becomes_a_job_is_answered_as_such(
    tmp_path: Path, operation: str, arguments: Any, *, as_task: bool
) -> None:
    part = Continuation(operation, json.dumps(arguments), 1, "")
    continuation = {"continuation": sealed(part, KEY.encode())}
    async with open_site("memory:", tmp_path, (Effect.READ, Effect.READ)) as site:
        result = await tool_call(site, "continue_result", continuation, as_task=as_task)
        await asyncio.wait_for(site.acts.entered.wait(), PATIENCE_SECONDS)

    if as_task:
        assert (result["resultType"], result["status"]) == ("task", "working")
    else:
        assert "job_status" in result["content"][0]["text"]
        assert result["structuredContent"]["status"] in {"queued", "running"}
        assert result["structuredContent"]["job_id"]
