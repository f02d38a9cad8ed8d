"""Calls that become jobs, for MCP clients that declare `io.modelcontextprotocol/tasks`."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from gateway.calls.jobs.owned import JobView
from gateway.store.tables import JOBS as JOB_ROWS
from gateway.transports.json_rpc import RpcError
from gateway.transports.mcp.jobs import error_in, task_of
from tests.bridged import pipes
from tests.eventually import eventually
from tests.interaction.lifespan import on_a_socket
from tests.interaction.long_site import ADA, SUM, Acts, LongSite, open_site
from tests.interaction.test_revisions import exchange

MODERN = "2026-07-28"
TASKS = "io.modelcontextprotocol/tasks"
LOG = {"io.modelcontextprotocol/logLevel": "info"}
"""What no fast path takes."""
PATHS = pytest.mark.parametrize("meta", [{}, LOG], ids=["fast", "sdk"])
NOTHING = "00000000-0000-0000-0000-000000000000"
ENDED = {"completed", "failed", "cancelled"}


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[LongSite]:
    async with open_site("memory:", tmp_path) as opened:
        yield opened


async def ask(
    site: LongSite,
    method: str,
    params: dict[str, Any],
    *,
    declared: bool = True,
    meta: dict[str, Any] | None = None,
    key: str | None = None,
    **headers: str,
) -> tuple[int, dict[str, Any]]:
    """The HTTP status and the answer to one request of the revision 2026-07-28."""
    known = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {
            "extensions": {TASKS: {}} if declared else {}
        },
        **(meta or {}),
    }
    name = params.get("name") or params.get("taskId")
    shown = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": MODERN,
        "mcp-method": method,
        **({} if name is None else {"mcp-name": name}),
        **headers,
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": known}}
    async with site.http(key, **shown) as http:
        answer = await http.post("/mcp", json=body)
    return answer.status_code, answer.json()


async def call(site: LongSite, name: str, arguments: Any, **options: Any) -> dict[str, Any]:
    status, answer = await ask(
        site, "tools/call", {"name": name, "arguments": arguments}, **options
    )
    assert status == 200, answer
    result: dict[str, Any] = answer["result"]
    return result


async def get(site: LongSite, task_id: str) -> dict[str, Any]:
    status, answer = await ask(site, "tasks/get", {"taskId": task_id})
    assert status == 200, answer
    result: dict[str, Any] = answer["result"]
    return result


async def ended(site: LongSite, task_id: str) -> dict[str, Any]:
    async def look() -> dict[str, Any] | None:
        task = await get(site, task_id)
        return task if task["status"] in ENDED else None

    return await eventually(look)


@pytest.mark.parametrize(
    ("name", "arguments", "values", "meta"),
    [
        ("example_greet", ADA, {"greeting": "Hello Ada"}, {}),
        ("example_calculate", SUM, {"result": 3}, LOG),
    ],
)
async def test_a_call_becomes_a_task_and_the_task_has_its_result(
    site: LongSite, name: str, arguments: Any, values: Any, meta: dict[str, Any]
) -> None:
    created = await call(site, name, arguments, meta=meta)
    at_once = await get(site, created["taskId"])
    job = (await site.get(f"/v1/jobs/{created['taskId']}")).json()
    site.acts.release.set()
    task = await ended(site, created["taskId"])

    assert created["resultType"] == "task"
    assert (created["status"], at_once["status"], at_once["resultType"]) == (
        "working",
        "working",
        "complete",
    )
    assert created.keys() & {"result", "error", "content", "structuredContent", "task"} == set()
    assert created["ttlMs"] is None
    assert created["pollIntervalMs"] == 1000
    assert datetime.fromisoformat(created["createdAt"]) == datetime.fromisoformat(job["created_at"])
    assert created["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "contract-gateway"
    assert job["status"] in {"queued", "running"}
    assert task["status"] == "completed"
    assert task["result"]["structuredContent"] == values
    assert (task["result"]["resultType"], task["result"]["isError"]) == ("complete", False)
    assert task["ttlMs"] >= timedelta(days=1) / timedelta(milliseconds=1)
    assert "pollIntervalMs" not in task
    assert site.acts.made == 1


@PATHS
async def test_without_the_extension_no_call_becomes_a_task(
    site: LongSite, meta: dict[str, Any]
) -> None:
    handle = await call(site, "example_greet", ADA, declared=False, meta=meta)

    assert handle["resultType"] == "complete"
    assert "taskId" not in handle
    assert "job_id" in handle["structuredContent"]


@PATHS
async def test_a_call_that_ends_before_has_its_result(tmp_path: Path, meta: dict[str, Any]) -> None:
    async with open_site("memory:", tmp_path, job_after_seconds=60) as site:
        site.acts.release.set()
        result = await call(site, "example_calculate", SUM, meta=meta)

    assert (result["resultType"], result["structuredContent"]) == ("complete", {"result": 3})


async def test_what_the_tool_says_of_its_progress_is_seen_everywhere(site: LongSite) -> None:
    site.acts.says = "The first of two holes."
    for name, arguments in (("example_greet", ADA), ("example_calculate", SUM)):
        site.acts.renew()
        await progress_is_seen(site, name, arguments)


async def progress_is_seen(site: LongSite, name: str, arguments: Any) -> None:
    task_id = (await call(site, name, arguments))["taskId"]

    async def said() -> dict[str, Any] | None:
        job: dict[str, Any] = (await site.get(f"/v1/jobs/{task_id}")).json()
        return job.get("progress")

    progress = await eventually(said)
    task = await get(site, task_id)
    async with site.mcp(MODERN) as client:
        handle = await client.call_tool("job_status", {"job_id": task_id})
    site.acts.release.set()
    events = await site.get(f"/v1/jobs/{task_id}/events", accept="text/event-stream")

    assert progress == {"done": 1.0, "message": "The first of two holes."}
    assert (task["status"], task["statusMessage"]) == ("working", "The first of two holes.")
    assert handle.structured_content["progress"] == progress
    assert '"message":"The first of two holes."' in events.text
    assert "statusMessage" not in await ended(site, task_id)


@pytest.mark.parametrize("mode", [MODERN, "legacy"])
async def test_progress_is_notified_of_calls_that_become_no_job(tmp_path: Path, mode: str) -> None:
    heard: list[tuple[float, str | None]] = []

    async def hear(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, message))

    acts = Acts(says="The first of two holes.", upstreams=("weather",))
    acts.release.set()
    opened = open_site("memory:", tmp_path, acts=acts, job_after_seconds=60)
    async with opened as site, site.mcp(mode) as client:
        result = await client.call_tool("example_calculate", SUM, progress_callback=hear)

    assert result.structured_content == {"result": 3}
    assert heard == [(1.0, "The first of two holes.")]


async def test_the_bridge_carries_tasks(site: LongSite) -> None:
    meta = {"io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS: {}}}}
    known = {"_meta": {"io.modelcontextprotocol/protocolVersion": MODERN, **meta}}
    async with (
        on_a_socket(site.app) as url,
        exchange(pipes(f"{url}/mcp", site.key), MODERN) as send,
    ):
        params = {"name": "example_greet", "arguments": ADA, **known}
        created = (await send("tools/call", params))["result"]
        site.acts.release.set()

        async def look() -> dict[str, Any] | None:
            task = (await send("tasks/get", {"taskId": created["taskId"], **known}))["result"]
            return task if task["status"] in ENDED else None

        task = await eventually(look)
    assert created["resultType"] == "task"
    assert task["result"]["structuredContent"] == {"greeting": "Hello Ada"}


async def test_a_tool_that_fails_completes_its_task(site: LongSite) -> None:
    site.acts.refuse = "division_by_zero"
    created = await call(site, "example_calculate", SUM)
    site.acts.release.set()
    task = await ended(site, created["taskId"])

    assert task["status"] == "completed"
    assert task["result"]["isError"] is True
    assert "division_by_zero" in task["result"]["content"][0]["text"]
    assert "error" not in task


async def test_a_call_whose_outcome_is_unknown_fails_its_task(site: LongSite) -> None:
    site.acts.breaks = True
    created = await call(site, "example_greet", ADA)
    site.acts.release.set()
    task = await ended(site, created["taskId"])

    assert task["status"] == "failed"
    assert task["error"]["code"] == -32603
    assert task["error"]["data"]["code"] == "OUTCOME_UNKNOWN"
    assert task["statusMessage"] == task["error"]["message"]
    assert "result" not in task


async def test_a_tool_that_is_not_granted_any_more_fails_its_task() -> None:
    at = datetime(2026, 11, 23, tzinfo=UTC)
    problem = {"title": "Tool not found", "code": "TOOL_NOT_FOUND"}
    view = JobView(
        id="1",
        operation="example.greet",
        status="failed",
        created_at=at,
        updated_at=at,
        problem=problem,
    )

    assert task_of(view)["status"] == "failed"
    assert error_in(view) == RpcError(-32602, "Tool not found", problem)


async def test_a_task_is_cancelled_and_this_can_be_repeated(site: LongSite) -> None:
    created = await call(site, "example_calculate", SUM)
    acknowledged = [
        await ask(site, "tasks/cancel", {"taskId": created["taskId"]}) for _ in range(2)
    ]
    task = await get(site, created["taskId"])

    assert [status for status, _ in acknowledged] == [200, 200]
    for _, answer in acknowledged:
        assert answer["result"].keys() == {"resultType", "_meta"}
        assert answer["result"]["resultType"] == "complete"
    assert task["status"] == "cancelled"
    assert task.keys() & {"result", "error"} == set()
    assert "check whether" in task["statusMessage"]
    assert site.acts.cancelled.is_set()


async def test_answers_that_no_task_asked_for_are_acknowledged(site: LongSite) -> None:
    created = await call(site, "example_greet", ADA)
    params = {"taskId": created["taskId"], "inputResponses": {"name": {"action": "accept"}}}
    status, answer = await ask(site, "tasks/update", params)

    assert (status, answer["result"].keys()) == (200, {"resultType", "_meta"})
    assert (await get(site, created["taskId"]))["status"] == "working"


async def test_the_task_of_another_key_is_unknown(site: LongSite) -> None:
    other = await site.new_key()
    task = {"taskId": (await call(site, "example_greet", ADA))["taskId"]}
    answers = [
        await ask(site, "tasks/get", task, key=other.key),
        await ask(site, "tasks/cancel", task, key=other.key),
        await ask(site, "tasks/update", {**task, "inputResponses": {}}, key=other.key),
        await ask(site, "tasks/get", {"taskId": NOTHING}),
        await ask(site, "tasks/get", {"taskId": "nothing"}),
    ]

    assert {status for status, _ in answers} == {400}
    assert {answer["error"]["code"] for _, answer in answers} == {-32602}
    assert len({answer["error"]["message"] for _, answer in answers}) == 1
    assert (await get(site, task["taskId"]))["status"] == "working"


async def test_a_task_is_kept_for_a_day_after_its_end(site: LongSite) -> None:
    site.acts.release.set()
    created = await call(site, "example_greet", ADA)
    await ended(site, created["taskId"])
    old = timedelta(days=1, seconds=1)
    await site.gateway.parts.store.database.write(
        lambda to, now: to.execute(update(JOB_ROWS).values(updated_at=now - old))
    )
    status, answer = await ask(site, "tasks/get", {"taskId": created["taskId"]})

    assert (status, answer["error"]["code"]) == (400, -32602)
    assert answer["error"]["data"]["code"] == "JOB_EXPIRED"


async def test_the_methods_need_the_extension(site: LongSite) -> None:
    for method, more in (
        ("tasks/get", {}),
        ("tasks/cancel", {}),
        ("tasks/update", {"inputResponses": {}}),
    ):
        status, answer = await ask(site, method, {"taskId": NOTHING, **more}, declared=False)

        assert (status, answer["error"]["code"]) == (400, -32021), method
        assert answer["error"]["data"] == {"requiredCapabilities": {"extensions": {TASKS: {}}}}


async def test_without_the_extension_parameters_do_not_matter(site: LongSite) -> None:
    for method in ("tasks/get", "tasks/cancel", "tasks/update"):
        status, answer = await ask(site, method, {}, declared=False)
        assert (status, answer["error"]["code"]) == (400, -32021), method
        older = {"mcp-protocol-version": "2025-11-25"}
        body = {"jsonrpc": "2.0", "id": 1, "method": method}
        shown = {"accept": "application/json", **older}
        answer = (await site.post("/mcp", body, **shown)).json()
        assert answer["error"]["code"] == -32601, method


async def test_a_parameter_that_is_missing_is_named(site: LongSite) -> None:
    for params, name in (({}, "taskId"), ({"taskId": NOTHING}, "inputResponses")):
        status, answer = await ask(site, "tasks/update", params)
        assert (status, answer["error"]["code"]) == (400, -32602)
        assert f"params.{name} " in answer["error"]["message"]


async def test_the_header_names_the_task(site: LongSite) -> None:
    task = {"taskId": (await call(site, "example_greet", ADA))["taskId"]}
    for name in ("other", "=?base64?!?=", ""):
        status, answer = await ask(site, "tasks/get", task, **{"mcp-name": name})

        assert (status, answer["error"]["code"]) == (400, -32020), name


async def test_methods_of_earlier_revisions_do_not_exist(site: LongSite) -> None:
    for method in ("tasks/list", "tasks/result"):
        status, answer = await ask(site, method, {"taskId": NOTHING})

        assert (status, answer["error"]["code"]) == (404, -32601), method


async def test_the_server_declares_the_extension(site: LongSite) -> None:
    _, answer = await ask(site, "server/discover", {})

    capabilities = answer["result"]["capabilities"]
    assert capabilities["extensions"] == {TASKS: {}}
    assert "tasks" not in capabilities


async def test_the_handshake_revisions_have_no_tasks(site: LongSite) -> None:
    """Some clients declare the extension in `initialize` too."""
    declared = {"extensions": {TASKS: {}}}
    first = {
        "protocolVersion": "2025-11-25",
        "capabilities": declared,
        "clientInfo": {"name": "t", "version": "1"},
    }
    meta = {"io.modelcontextprotocol/clientCapabilities": declared}
    greet = {"name": "example_greet", "arguments": ADA, "_meta": meta}
    opened = await legacy(site, "initialize", first)
    called = await legacy(site, "tools/call", greet)
    got = await legacy(site, "tasks/get", {"taskId": NOTHING, "_meta": meta})

    assert "extensions" not in opened["result"]["capabilities"]
    assert "job_id" in called["result"]["structuredContent"]
    assert got["error"]["code"] == -32601


async def legacy(site: LongSite, method: str, params: dict[str, Any]) -> dict[str, Any]:
    shown = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2025-11-25",
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    async with site.http(**shown) as http:
        answer = await http.post("/mcp", json=body)
    text = answer.text
    if text.startswith("event"):
        text = text.partition("data: ")[2]
    found: dict[str, Any] = json.loads(text)
    return found
