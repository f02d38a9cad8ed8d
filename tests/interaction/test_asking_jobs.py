"""Jobs that wait for answers of their clients (SEP-2663)."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.auth.principal import Credentials
from gateway.calls.asking import Asking, Given, InputRequired
from gateway.calls.call import Call
from gateway.contract.context import CallContext
from gateway.contract.operation import Effect, TaskMode
from gateway.contract.policies.questions import ASK_KINDS, Elicitation
from gateway.store.sql.tasks import SqlTasks
from tests.eventually import eventually
from tests.interaction.asking_site import (
    ALICE,
    NAME,
    Handler,
    greet,
    open_asking,
    outcomes,
    post,
)
from tests.interaction.long_site import ADA, LongSite

LATE_TURNS = 100
"""Turns of the event loop in which a call would have become a job."""


@pytest.fixture
def handler() -> Handler:
    return Handler()


@pytest.fixture
async def site(tmp_path: Path, handler: Handler) -> AsyncIterator[LongSite]:
    async with open_asking(tmp_path, handler, task="required") as opened:
        yield opened


async def made(site: LongSite) -> str:
    created = (await greet(site, tasks=True))["result"]
    assert created["resultType"] == "task"
    return str(created["taskId"])


async def task(site: LongSite, task_id: str) -> dict[str, Any]:
    answer = await post(site, "tasks/get", {"taskId": task_id}, tasks=True)
    found: dict[str, Any] = answer["result"]
    return found


async def reached(site: LongSite, task_id: str, status: str) -> dict[str, Any]:
    async def look() -> dict[str, Any] | None:
        found = await task(site, task_id)
        return found if found["status"] == status else None

    return await eventually(look)


async def update(site: LongSite, task_id: str, answers: dict[str, Any]) -> dict[str, Any]:
    params = {"taskId": task_id, "inputResponses": answers}
    return await post(site, "tasks/update", params, tasks=True)


async def test_a_task_waits_for_its_answer_and_goes_on(site: LongSite, handler: Handler) -> None:
    task_id = await made(site)
    waiting = await reached(site, task_id, "input_required")
    job = (await site.get(f"/v1/jobs/{task_id}")).json()
    shown = await post(site, "tools/call", {"name": "job_status", "arguments": {"job_id": task_id}})
    ignored = await update(site, task_id, {"other": ALICE})
    still = await task(site, task_id)
    done = await update(site, task_id, {"user": ALICE})
    ended = await reached(site, task_id, "completed")

    assert [*waiting["inputRequests"]] == ["user"]
    assert (job["status"], [*job["input_requests"]]) == ("input_required", ["user"])
    assert shown["result"]["structuredContent"]["status"] == "input_required"
    assert ignored["result"].keys() <= {"resultType", "_meta"}
    assert still["status"] == "input_required"
    assert done["result"]["resultType"] == "complete"
    assert ended["result"]["structuredContent"] == {"greeting": "accept Alice"}
    assert (handler.runs, handler.effects) == (2, 1)
    assert await outcomes(site) == ["ok", "INPUT_REQUIRED", "ok"]
    assert await outcomes(site, "jobs.input") == ["ok", "ok"]


async def test_a_task_waits_until_all_questions_are_answered(
    site: LongSite, handler: Handler
) -> None:
    async def act(context: CallContext) -> str:
        answers = await context.ask_all({each: Elicitation(each, NAME) for each in ("a", "b")})
        return repr([*answers])

    handler.act = act  # type: ignore[method-assign]  # the test's own handler
    task_id = await made(site)
    await reached(site, task_id, "input_required")
    await update(site, task_id, {"a": ALICE})
    some = await task(site, task_id)
    await update(site, task_id, {"b": ALICE})
    ended = await reached(site, task_id, "completed")

    assert (some["status"], [*some["inputRequests"]]) == ("input_required", ["b"])
    assert ended["result"]["structuredContent"] == {"greeting": "['a', 'b']"}


async def test_an_invalid_answer_is_refused_and_changes_nothing(site: LongSite) -> None:
    task_id = await made(site)
    await reached(site, task_id, "input_required")
    refused = await update(site, task_id, {"user": {"action": "accept", "content": {"name": 1}}})

    assert refused["error"]["code"] == -32602
    assert (await task(site, task_id))["status"] == "input_required"


async def test_only_its_owner_answers(site: LongSite) -> None:
    task_id = await made(site)
    await reached(site, task_id, "input_required")
    other = await site.new_key()
    params = {"taskId": task_id, "inputResponses": {"user": ALICE}}
    refused = await post(site, "tasks/update", params, tasks=True, key=other.key)

    assert refused["error"]["message"] == "Task not found"
    assert (await task(site, task_id))["status"] == "input_required"


async def test_a_waiting_task_can_be_cancelled(site: LongSite, handler: Handler) -> None:
    task_id = await made(site)
    await reached(site, task_id, "input_required")
    await post(site, "tasks/cancel", {"taskId": task_id}, tasks=True)
    late = await update(site, task_id, {"user": ALICE})

    assert (await task(site, task_id))["status"] == "cancelled"
    assert late["result"]["resultType"] == "complete"
    assert (handler.runs, handler.effects) == (1, 0)


async def test_a_task_that_nobody_answers_expires(site: LongSite, handler: Handler) -> None:
    task_id = await made(site)
    await reached(site, task_id, "input_required")
    tasks = site.gateway.parts.store.tasks

    assert await tasks.end_unanswered(3600, 10) == 0
    assert await tasks.end_unanswered(-1, 10) == 1
    assert (await task(site, task_id))["status"] == "cancelled"
    assert handler.effects == 0


async def test_a_caller_who_could_not_answer_is_not_left_waiting(
    site: LongSite, handler: Handler
) -> None:
    over_rest = await site.post("/v1/example/greet", ADA)
    handle = (await greet(site))["result"]["structuredContent"]
    jobs = over_rest.headers["location"], f"/v1/jobs/{handle['job_id']}"
    ended = [await site.ended(each) for each in jobs]

    assert [each["problem"]["code"] for each in ended] == ["CAPABILITY_MISSING"] * 2
    assert handler.effects == 0


async def test_a_tool_that_requires_answers_is_refused_before_the_job_is_stored(
    tmp_path: Path, handler: Handler
) -> None:
    requires = ("tasks", "elicitation")
    async with open_asking(tmp_path, handler, task="required", requires=requires) as site:
        refused = await site.post("/v1/example/greet", ADA)
        jobs = (await site.get("/v1/jobs")).json()["items"]

    assert (refused.status_code, refused.json()["code"]) == (400, "CAPABILITY_MISSING")
    assert jobs == []


@pytest.fixture
def adopted(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set when a running call has become a job."""
    seen = asyncio.Event()
    adopt = SqlTasks.adopt

    async def noted(*stored: Any, **options: Any) -> Any:
        made = await adopt(*stored, **options)
        seen.set()
        return made

    monkeypatch.setattr(SqlTasks, "adopt", noted)
    return seen


async def test_a_call_asks_by_a_round_and_then_becomes_a_task(
    tmp_path: Path, handler: Handler, adopted: asyncio.Event
) -> None:
    async def act(context: CallContext) -> str:
        first = await context.ask("Name?", NAME, key="user")
        await adopted.wait()
        second = await context.ask("Sure?", NAME, key="sure")
        return f"{first.content['name']} {second.content['name']}"

    handler.act = act  # type: ignore[method-assign]  # the test's own handler
    async with open_asking(tmp_path, handler, task="auto", effect=Effect.READ) as site:
        first = await greet(site, tasks=True)
        created = (await greet(site, first, {"user": ALICE}, tasks=True))["result"]
        waiting = await reached(site, created["taskId"], "input_required")
        await update(site, created["taskId"], {"sure": ALICE})
        ended = await reached(site, created["taskId"], "completed")

    assert (first["result"]["resultType"], created["resultType"]) == ("input_required", "task")
    assert "requestState" not in created
    assert [*waiting["inputRequests"]] == ["sure"]
    assert ended["result"]["structuredContent"] == {"greeting": "Alice Alice"}


async def asks_late(context: CallContext) -> str:
    for _ in range(LATE_TURNS):
        await asyncio.sleep(0)
    return (await context.ask("Sure?", NAME, key="user")).action


async def test_a_call_that_could_not_ask_as_a_job_does_not_become_one(
    tmp_path: Path, handler: Handler
) -> None:
    handler.act = asks_late  # type: ignore[method-assign]  # the test's own handler
    async with open_asking(tmp_path, handler, task="auto", job_after_seconds=0) as site:
        first = await greet(site)
        second = await greet(site, first, {"user": ALICE})
        jobs = (await site.get("/v1/jobs")).json()["items"]

    assert [*first["result"]["inputRequests"]] == ["user"]
    assert second["result"]["structuredContent"] == {"greeting": "accept"}
    assert jobs == []


async def test_an_adopted_call_of_a_caller_who_cannot_answer_ends_with_the_problem(
    tmp_path: Path, handler: Handler, adopted: asyncio.Event
) -> None:
    async def act(context: CallContext) -> str:
        await adopted.wait()
        return (await context.ask("Sure?", NAME, key="user")).action

    handler.act = act  # type: ignore[method-assign]  # the test's own handler
    async with open_asking(tmp_path, handler, task="auto") as site:
        job = (await site.post("/v1/example/greet", ADA)).headers["location"]
        ended = await site.ended(job)

    assert ended["problem"]["code"] == "CAPABILITY_MISSING"


@pytest.mark.parametrize("mode", ["auto", "required"])
async def test_without_a_worker_a_call_that_asks_runs_to_its_end(
    tmp_path: Path, handler: Handler, mode: TaskMode
) -> None:
    handler.act = asks_late  # type: ignore[method-assign]  # the test's own handler
    can = Asking(kinds=ASK_KINDS, job_kinds=ASK_KINDS)
    answered = Asking(
        kinds=ASK_KINDS, job_kinds=ASK_KINDS, given={"user": Given({"action": "decline"})}
    )
    async with open_asking(tmp_path, handler, task=mode, is_at_work=False) as site:
        parts = site.gateway.parts
        pipeline = site.gateway.local_pipeline("administrator")
        invoke = parts.work.long.of(pipeline, has_worker=False).invoke
        call = Call(
            operation_id="example.greet",
            credentials=Credentials(),
            arguments=b'{"name": "Ada"}',
            transport="local",
            request_id="request-1",
            asking=can,
        )
        with pytest.raises(InputRequired):
            await invoke(call)
        result = await invoke(replace(call, asking=answered))

    assert (result.job_id, result.values) == (None, {"greeting": "decline"})


async def test_what_a_model_said_without_a_text_is_refused_and_changes_nothing(
    site: LongSite, handler: Handler
) -> None:
    async def act(context: CallContext) -> str:
        return (await context.sample("Hi", max_tokens=5, key="model")).text

    handler.act = act  # type: ignore[method-assign]  # the test's own handler
    task_id = await made(site)
    await reached(site, task_id, "input_required")
    said = {"role": "assistant", "content": {"type": "text"}, "model": "m"}
    refused = await update(site, task_id, {"model": said})
    still = await task(site, task_id)
    said["content"] = {"type": "text", "text": "Hello"}
    await update(site, task_id, {"model": said})
    ended = await reached(site, task_id, "completed")

    assert (refused["error"]["code"], still["status"]) == (-32602, "input_required")
    assert ended["result"]["structuredContent"] == {"greeting": "Hello"}


async def test_a_form_that_is_no_schema_is_a_defect_before_it_is_shown(
    site: LongSite, handler: Handler
) -> None:
    async def act(context: CallContext) -> str:
        form = {"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}}
        return (await context.ask("Name?", form)).action

    handler.act = act  # type: ignore[method-assign]  # the test's own handler
    job = await site.ended(f"/v1/jobs/{await made(site)}")

    assert job["problem"]["code"] == "INTERNAL_ERROR"
