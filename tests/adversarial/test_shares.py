"""One caller who takes all that there is of something, so that others get nothing."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from gateway.auth.principal import Principal
from gateway.calls.jobs import watching
from gateway.store.records import CallEnding
from gateway.store.sql.tasks import SqlTasks
from tests.eventually import eventually
from tests.interaction.long_site import ADA, AUTO, REQUIRED, SUM, LongSite, open_site

MODES = ["2026-07-28", "legacy"]


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[LongSite]:
    settings = {"max_calls_per_key": 2}
    async with open_site("memory:", tmp_path, job_after_seconds=3600, given=settings) as opened:
        yield opened


@pytest.mark.attack(
    "One key makes as many slow calls as there are connections or places for calls, behind a"
    " proxy that hides how many clients there are.",
    required="Beyond its share its calls are refused with 429 and `Retry-After`, on REST and in"
    " both eras of MCP. The calls of other keys are served.",
)
@pytest.mark.parametrize("mode", MODES)
async def test_the_slow_calls_of_one_key_leave_places_for_others(site: LongSite, mode: str) -> None:
    places = site.gateway.parts.pipeline.admission.places
    slow = [asyncio.create_task(site.post(AUTO, SUM)) for _ in range(2)]
    await eventually(lambda: _when(places.taken == 2))

    refused = await site.post(AUTO, SUM)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert refused.json()["detail"].startswith("At most 2 calls with this key may be under way.")
    async with site.mcp(mode) as client:
        result = await client.call_tool("example_calculate", SUM)
        assert result.is_error
        assert "At most 2 calls with this key may be under way." in result.content[0].text

    other = await site.new_key()
    site.acts.release.set()
    async with site.http(other.key) as http:
        assert (await http.post(AUTO, json=SUM)).status_code == 200
    assert [each.status_code for each in await asyncio.gather(*slow)] == [200, 200]
    assert (await site.post(AUTO, SUM)).status_code == 200


@pytest.fixture
async def jobs(tmp_path: Path) -> AsyncIterator[LongSite]:
    async with open_site("memory:", tmp_path) as opened:
        yield opened


@pytest.mark.attack(
    "One key watches its jobs as often as there are places for watches.",
    required="Beyond its share it gets 429. Others still watch their jobs.",
)
async def test_the_watches_of_one_key_leave_places_for_others(
    jobs: LongSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "MAX_WATCHES_OF_ONE", 2)
    owned = jobs.gateway.parts.work.long.owned
    owner, job_id = await _watched(jobs)

    async with aclosing(owned.watch(owner, job_id)) as one, aclosing(owned.watch(owner, job_id)):
        assert await anext(one) is not None
        with owned.watches.seat(owner.subject):
            refused = await jobs.get(f"/v1/jobs/{job_id}/events", accept="text/event-stream")
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
            assert refused.json()["detail"].startswith("You watch 2 jobs")
            with owned.watches.seat("another"):
                pass
    jobs.acts.release.set()
    served = await jobs.get(f"/v1/jobs/{job_id}/events", accept="text/event-stream")
    assert "succeeded" in served.text


@pytest.mark.attack(
    "One key watches one job hundreds of times, so that the database only answers watches.",
    required="All watches together cost one look-up at a time, and one more when the job changes.",
)
async def test_watches_cost_the_store_no_more_than_one_watch(
    jobs: LongSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: Counter[str] = Counter()
    marks, find = SqlTasks.marks, SqlTasks.find

    async def counted_marks(self: SqlTasks, job_ids: Any) -> Any:
        asked["marks"] += 1
        assert len(job_ids) == 1
        return await marks(self, job_ids)

    async def counted_find(self: SqlTasks, *which: Any) -> Any:
        asked["find"] += 1
        return await find(self, *which)

    owned = jobs.gateway.parts.work.long.owned
    owner, job_id = await _watched(jobs)
    monkeypatch.setattr(SqlTasks, "marks", counted_marks)
    monkeypatch.setattr(SqlTasks, "find", counted_find)

    async def watched() -> str:
        async with aclosing(owned.watch(owner, job_id)) as views:
            return [view.status async for view in views if view is not None][-1]

    watches = [asyncio.create_task(watched()) for _ in range(100)]
    await eventually(lambda: _when(asked["marks"] >= 5))
    first = asked["find"]
    assert first <= 101, "each watch looks its job up when it begins"
    jobs.acts.release.set()
    assert set(await asyncio.gather(*watches)) == {"succeeded"}
    # What the run itself asks is in it.
    assert asked["find"] - first < 10


@pytest.mark.attack(
    "A job that is watched is cancelled by another process, which notifies nobody here.",
    required="The watch sees it and ends.",
)
async def test_a_watch_sees_what_another_process_does(jobs: LongSite) -> None:
    owner, job_id = await _watched(jobs)
    async with aclosing(jobs.gateway.parts.work.long.owned.watch(owner, job_id)) as views:
        assert (await anext(views)).status == "running"
        tasks = jobs.gateway.parts.store.tasks
        await tasks.cancel(job_id, CallEnding(outcome="unknown"), "another")
        assert [each.status async for each in views] == ["cancelled"]


async def _watched(jobs: LongSite) -> tuple[Principal, str]:
    """The owner and the id of a job that runs."""
    job_id = (await jobs.post(REQUIRED, ADA)).json()["id"]
    await jobs.acts.entered.wait()
    stored = await jobs.gateway.parts.store.tasks.find(job_id)
    assert stored is not None
    return Principal(subject=stored.subject, agent=stored.agent), job_id


async def _when(is_so: bool) -> bool | None:
    return is_so or None
