"""Calls that become jobs, over REST: one job, one effect, and one owner."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from gateway.contract.operation import Effect
from gateway.errors import StoreError
from gateway.store.records import NewTask
from gateway.store.tables import JOBS as JOB_ROWS
from tests.eventually import PATIENCE_SECONDS, eventually
from tests.interaction.lifespan import on_a_socket
from tests.interaction.long_site import ADA, AUTO, REQUIRED, SUM, Acts, LongSite, open_site

JOBS = "/v1/jobs"
READ, WRITE = Effect.READ, Effect.WRITE


@pytest.fixture
def effects() -> tuple[Effect, Effect]:
    """What the tools do; a test may put others in their place."""
    return WRITE, WRITE


@pytest.fixture
async def site(tmp_path: Path, effects: tuple[Effect, Effect]) -> AsyncIterator[LongSite]:
    async with open_site("memory:", tmp_path, effects) as opened:
        yield opened


async def records(site: LongSite, operation: str) -> list[tuple[str, str, int]]:
    """The transport, the outcome and the status of each call, oldest first."""
    await site.gateway.parts.audit.flush()
    found = (await site.gateway.parts.store.audit.latest(100))[::-1]
    of_calls = [each for each in found if each.operation == operation]
    return [(each.transport, each.outcome, each.status) for each in of_calls]


async def test_a_required_call_is_answered_with_its_job(site: LongSite) -> None:
    answer = await site.post(REQUIRED, ADA)
    path = answer.headers["location"]
    await site.acts.entered.wait()
    running = (await site.get(path)).json()
    early = await site.get(f"{path}/result")
    site.acts.release.set()
    ended = await site.ended(path)
    result = await site.get(f"{path}/result")

    assert answer.status_code == 202
    assert path == f"{JOBS}/{answer.json()['id']}"
    assert answer.json()["status"] in {"queued", "running"}
    assert (running["status"], running["operation"]) == ("running", "example.greet")
    assert (early.status_code, early.json()["code"]) == (409, "JOB_UNDER_WAY")
    assert early.headers["retry-after"] == "1"
    assert (ended["status"], ended["result"]) == ("succeeded", {"greeting": "Hello Ada"})
    assert ended["expires_at"] > ended["updated_at"]
    assert (result.status_code, result.json()) == (200, {"greeting": "Hello Ada"})
    assert site.acts.made == 1
    assert await records(site, "example.greet") == [("rest", "ok", 202), ("job", "ok", 200)]


CALLS: list[tuple[str, dict[str, Any]]] = [(REQUIRED, ADA), (AUTO, SUM)]


async def test_a_job_stays_in_the_trace_of_its_call(site: LongSite) -> None:
    parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    for path, body in CALLS:
        site.acts.renew()
        job = (await site.post(path, body, traceparent=parent)).headers["location"]
        await site.acts.entered.wait()
        site.acts.release.set()
        await site.ended(job)
        assert site.acts.parents == [parent]
    await site.gateway.parts.audit.flush()
    found = await site.gateway.parts.store.audit.latest(100)

    made = [each.trace_id for each in found if each.operation.startswith("example.")]
    assert {*made} == {parent[3:35]}


async def test_a_call_that_is_refused_makes_no_job(site: LongSite) -> None:
    invalid = await site.post(REQUIRED, {})
    key = await site.new_key("orchestrator")
    async with site.http(key.key) as http:
        ungranted = await http.post(REQUIRED, json=ADA)

    assert (invalid.status_code, ungranted.status_code) == (422, 404)
    assert (await site.get(JOBS)).json() == {"items": [], "next": None}


async def test_a_call_becomes_a_job_when_it_takes_long(site: LongSite) -> None:
    slow = await site.post(AUTO, SUM)
    site.acts.release.set()
    ended = await site.ended(slow.headers["location"])

    assert (slow.status_code, slow.json()["status"]) == (202, "running")
    assert ended["result"] == {"result": 3}
    assert site.acts.made == 1
    assert await records(site, "example.calculate") == [("rest", "ok", 200)]


async def test_a_call_that_ends_before_becomes_no_job(tmp_path: Path) -> None:
    async with open_site("memory:", tmp_path, job_after_seconds=60) as site:
        site.acts.release.set()
        answer = await site.post(AUTO, SUM)
        jobs = await site.get(JOBS)

    assert (answer.status_code, answer.json()) == (200, {"result": 3})
    assert jobs.json() == {"items": [], "next": None}


async def test_the_same_key_gets_the_same_job(site: LongSite) -> None:
    for path, body in CALLS:
        site.acts.renew()
        await same_key_same_job(site, path, body)


async def same_key_same_job(site: LongSite, path: str, body: dict[str, Any]) -> None:
    key = {"idempotency-key": path}
    first = await site.post(path, body, **key)
    again = await site.post(path, body, **key)
    changed = {name: "Bob" if name == "name" else 9 for name in ("name", "a") if name in body}
    other = await site.post(path, body | changed, **key)
    site.acts.release.set()
    ended = await site.ended(first.headers["location"])
    after = await site.post(path, body, **key)

    assert {first.status_code, again.status_code, after.status_code} == {202}
    assert {each.headers["location"] for each in (again, after)} == {first.headers["location"]}
    assert again.headers["idempotency-replayed"] == "true"
    assert (other.status_code, other.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")
    assert (ended["status"], after.json()["status"]) == ("succeeded", "succeeded")
    assert site.acts.made == 1


async def test_the_problem_of_the_call_is_that_of_the_job(site: LongSite) -> None:
    site.acts.refuse = "out_of_range"
    for path, body in CALLS:
        site.acts.renew()
        job = (await site.post(path, body)).headers["location"]
        site.acts.release.set()
        ended = await site.ended(job)
        result = await site.get(f"{job}/result")

        assert ended["status"] == "failed"
        assert ended["problem"]["request_id"] == ended["id"]
        assert result.status_code == ended["problem"]["status"]
        assert result.json()["code"] == ended["problem"]["code"]


async def test_a_job_of_another_caller_does_not_exist(site: LongSite) -> None:
    job = (await site.post(REQUIRED, ADA)).headers["location"]
    other = await site.new_key()
    async with site.http(other.key) as http:
        answers = [
            await http.get(job),
            await http.get(f"{job}/result"),
            await http.post(f"{job}/cancel"),
            await http.get(f"{JOBS}/01a208ef-fcc9-7808-a327-4b07e84158e6"),
            await http.get(f"{JOBS}/%27"),
        ]
        listed = await http.get(JOBS)
        async with site.http("nobody") as unknown:
            refused = await unknown.get(job)

    assert {answer.status_code for answer in answers} == {404}
    assert {answer.json()["code"] for answer in answers} == {"JOB_NOT_FOUND"}
    assert listed.json()["items"] == []
    assert refused.status_code == 401
    assert (await site.get(job)).json()["status"] in {"queued", "running"}


async def test_the_list_has_pages(site: LongSite) -> None:
    ids = [(await site.post(REQUIRED, ADA)).json()["id"] for _ in range(3)]
    first = (await site.get(f"{JOBS}?limit=2")).json()
    second = (await site.get(f"{JOBS}?limit=2&after={first['next']}")).json()
    sizes = "0", "x", "201", "0200000", "9" * 5000
    wrong = [
        await site.get(f"{JOBS}?{query}") for query in ("state=x", *map("limit={}".format, sizes))
    ]

    assert [each["id"] for each in first["items"] + second["items"]] == ids[::-1]
    assert second["next"] is None
    assert [answer.status_code for answer in wrong] == [400, *[422] * len(sizes)]


@pytest.mark.parametrize("effects", [(WRITE, WRITE), (READ, READ)], ids=["write", "read"])
async def test_a_cancellation_reaches_the_running_call(
    site: LongSite, effects: tuple[Effect, Effect]
) -> None:
    for path, body in CALLS:
        site.acts.renew()
        job = (await site.post(path, body)).headers["location"]
        await site.acts.entered.wait()
        cancelled = await site.post(f"{job}/cancel")
        await site.acts.cancelled.wait()
        again = await site.post(f"{job}/cancel")
        result = await site.get(f"{job}/result")

        assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
        assert again.json() == cancelled.json()
        assert ("problem" in cancelled.json()) == (effects[0] is WRITE)
        assert (result.status_code, result.json()["code"]) == (409, "OUTCOME_UNKNOWN")
    assert await records(site, "jobs.cancel") == [("rest", "ok", 200)] * 2 * len(CALLS)


async def test_a_job_that_waits_is_cancelled_without_an_effect(tmp_path: Path) -> None:
    async with open_site("memory:", tmp_path, is_at_work=False) as site:
        job = (await site.post(REQUIRED, ADA)).headers["location"]
        cancelled = (await site.post(f"{job}/cancel")).json()
        async with site.gateway.at_work():
            other = (await site.post(REQUIRED, ADA)).headers["location"]
            site.acts.release.set()
            await site.ended(other)

    assert (cancelled["status"], "problem" in cancelled) == ("cancelled", False)
    assert site.acts.made == 1


async def test_what_a_caller_sends_beside_is_refused(site: LongSite) -> None:
    job = (await site.post(REQUIRED, ADA)).headers["location"]
    answers = [
        await site.post(f"{job}/cancel", {"reason": "rain"}),
        await site.post(f"{job}/cancel", **{"idempotency-key": "k"}),
        await site.get(f"{job}/cancel"),
        await site.send("DELETE", job),
        await site.get(f"{job}?wait=1"),
        await site.get(f"{job}/rows"),
    ]
    assert [answer.status_code for answer in answers] == [400, 400, 405, 405, 400, 404]


async def test_the_grants_and_the_key_are_checked_when_the_job_runs(tmp_path: Path) -> None:
    async with open_site("memory:", tmp_path, is_at_work=False) as site:
        key = await site.new_key()
        async with site.http(key.key) as http:
            job = (await http.post(REQUIRED, json=ADA)).json()["id"]
        await site.gateway.parts.keys.revoke(key.record.id)
        async with site.gateway.at_work():

            async def look() -> Any:
                found = await site.gateway.parts.store.tasks.find(job)
                return found and found.ending

            ending = await eventually(look)

    assert b"AUTHENTICATION_ERROR" in ending.body
    assert site.acts.made == 0


@pytest.mark.parametrize(("effect", "status"), [(WRITE, "failed"), (READ, "succeeded")])
async def test_after_a_kill_only_a_read_runs_again(
    tmp_path: Path, effect: Effect, status: str
) -> None:
    """The process that ran the call has died: its claim ends, and nobody settles the job."""
    async with open_site(f"sqlite:///{tmp_path}/g.db", tmp_path, (effect, effect)) as site:
        tasks = site.gateway.parts.store.tasks
        subject = (await site.gateway.parts.keys.list())[0].id
        task = NewTask(
            job_id="01a208ef-fcc9-7808-a327-4b07e84158e6",
            subject=subject,
            agent="administrator",
            operation="example.calculate",
            arguments=b'{"operation":"add","a":1,"b":2}',
            is_read=effect is READ,
        )
        await tasks.adopt(task, "dead", lease_seconds=0.01)
        site.acts.release.set()
        ended = await site.ended(f"{JOBS}/{task.job_id}")

    assert ended["status"] == status
    assert ended.get("problem", {}).get("code") == (None if effect is READ else "OUTCOME_UNKNOWN")
    assert site.acts.made == (1 if effect is READ else 0)


async def test_a_job_is_run_by_the_next_process(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/g.db"
    async with open_site(database, tmp_path, is_at_work=False) as site:
        job = (await site.post(REQUIRED, ADA)).headers["location"]
    acts = Acts()
    acts.release.set()
    async with open_site(database, tmp_path, acts=acts) as site:
        ended = await site.ended(job)

    assert (ended["status"], acts.made) == ("succeeded", 1)


async def test_a_job_of_a_restored_backup_is_not_made_again(tmp_path: Path) -> None:
    """Here it is still waiting, but elsewhere it may have run since the backup."""
    database = f"sqlite:///{tmp_path}/g.db"
    async with open_site(database, tmp_path, is_at_work=False) as site:
        job = (await site.post(REQUIRED, ADA)).headers["location"]
        restored = update(JOB_ROWS).values(actor="gateway restore")
        await site.gateway.parts.store.database.write(lambda to, _: to.execute(restored))
    acts = Acts()
    acts.release.set()
    async with open_site(database, tmp_path, acts=acts) as site:
        ended = await site.ended(job)

    assert (ended["problem"]["code"], acts.made) == ("OUTCOME_UNKNOWN", 0)


async def test_no_job_is_promised_that_is_not_stored(
    site: LongSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> None:
        raise StoreError("the disk is full")

    tasks = type(site.gateway.parts.store.tasks)

    async def fail_to_adopt(*_: Any) -> None:
        site.acts.release.set()
        await fail()

    monkeypatch.setattr(tasks, "add", fail)
    monkeypatch.setattr(tasks, "adopt", fail_to_adopt)
    required = await site.post(REQUIRED, ADA)
    auto = await site.post(AUTO, SUM)

    assert (required.status_code, required.json()["retryable"]) == (503, True)
    assert (auto.status_code, auto.json()) == (200, {"result": 3})


async def test_a_job_ends_before_its_process_does(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/g.db"
    async with open_site(database, tmp_path) as site:
        job = (await site.post(AUTO, SUM)).headers["location"]
        site.acts.release.set()
    async with open_site(database, tmp_path, is_at_work=False) as site:
        assert (await site.get(job)).json()["status"] == "succeeded"


async def test_tools_execute_answers_with_the_job_too(site: LongSite) -> None:
    answer = await site.post("/tools/execute", {"name": "example.greet", "arguments": ADA})
    assert answer.status_code == 202
    assert answer.json()["result"]["id"] in answer.headers["location"]


async def test_events_follow_the_job_until_it_has_ended(site: LongSite) -> None:
    job = (await site.post(REQUIRED, ADA)).headers["location"]
    following = asyncio.create_task(site.get(f"{job}/events", accept="text/event-stream"))
    await site.acts.entered.wait()
    site.acts.release.set()
    stream = await following
    after = await site.get(f"{job}/events", accept="text/event-stream")
    refused = await site.get(f"{job}/events", accept="application/json")
    unknown = await site.get(f"{JOBS}/none/events", accept="text/event-stream")

    events = [json.loads(line[6:]) for line in stream.text.splitlines() if line[:6] == "data: "]
    assert stream.headers["content-type"] == "text/event-stream"
    assert events[-1]["status"] == "succeeded"
    assert events[-1]["result"] == {"greeting": "Hello Ada"}
    assert [event["status"] for event in events] == sorted({each["status"] for each in events})
    assert after.text.count("event: job") == 1
    assert (refused.status_code, unknown.status_code) == (406, 404)


async def test_a_stop_ends_the_events_of_a_job(site: LongSite) -> None:
    job = (await site.post(REQUIRED, ADA)).headers["location"]
    shown = {"authorization": f"Bearer {site.key}", "accept": "text/event-stream"}
    async with (
        on_a_socket(site.app) as url,
        httpx.AsyncClient(base_url=url, headers=shown, timeout=PATIENCE_SECONDS) as http,
        http.stream("GET", f"{job}/events") as stream,
    ):
        lines = stream.aiter_lines()
        assert await anext(lines) == "event: job"
        site.gateway.stop_streams()
        rest = [line async for line in lines]

    assert stream.status_code == 200
    assert "succeeded" not in "".join(rest)


async def test_an_expired_job_is_answered_with_when_it_ended(site: LongSite) -> None:
    site.acts.release.set()
    job = (await site.post(REQUIRED, ADA)).headers["location"]
    await site.ended(job)
    await site.gateway.parts.store.database.write(
        lambda to, now: to.execute(update(JOB_ROWS).values(updated_at=now - timedelta(days=2)))
    )
    found = await site.gateway.parts.store.tasks.find(job.rpartition("/")[2])
    answers = [
        await site.get(job),
        await site.get(f"{job}/result"),
        await site.get(f"{job}/events", accept="text/event-stream"),
        await site.post(f"{job}/cancel"),
    ]

    assert found is not None
    when = found.job.updated_at.isoformat(timespec="seconds")
    for answer in answers:
        assert (answer.status_code, answer.json()["code"]) == (410, "JOB_EXPIRED")
        assert f"ended at {when}." in answer.json()["detail"]


async def test_the_openapi_document_has_jobs(site: LongSite) -> None:
    document = (await site.get("/openapi.json")).json()
    paths = document["paths"]
    accepted = paths["/v1/golf/book_tee_time"]["post"]["responses"]["202"]

    found = {path: [*item] for path, item in paths.items() if path.startswith(JOBS)}
    assert found == {
        JOBS: ["get"],
        f"{JOBS}/{{job_id}}": ["get"],
        f"{JOBS}/{{job_id}}/result": ["get"],
        f"{JOBS}/{{job_id}}/events": ["get"],
        f"{JOBS}/{{job_id}}/cancel": ["post"],
    }
    assert "Location" in accepted["headers"]
    assert "202" not in paths["/v1/golf/search_tee_times"]["post"]["responses"]
    assert "job" in document["components"]["schemas"]


async def test_operators_choose_after_how_long_a_call_becomes_a_job(tmp_path: Path) -> None:
    """The program's own policy would never let it become one."""
    settings = {"job_after_seconds": 0.1}
    async with open_site("memory:", tmp_path, job_after_seconds=3600, given=settings) as site:
        answer = await site.post(AUTO, SUM)
        assert answer.status_code == 202
