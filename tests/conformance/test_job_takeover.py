"""What becomes of a job that is taken back from its worker, on each engine.

A write that has certainly not begun is made by another worker. One that may have begun is not.
"""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, update

from gateway.audit.log import OpenRecord
from gateway.store.records import AuditRecord, Changes
from gateway.store.sql.store import SqlStore
from gateway.store.tables import AUDIT_RECORDS, JOBS
from tests.eventually import PATIENCE_SECONDS, eventually
from tests.interaction.long_site import ADA, AUTO, REQUIRED, SUM, LongSite, open_site

LONG_AGO = datetime(1970, 1, 2, tzinfo=UTC)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def site_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/gateway.db"
    url: str = request.getfixturevalue("prepared_url")("gateway")
    return url


def store_of(site: LongSite) -> SqlStore:
    store = site.gateway.parts.store
    assert isinstance(store, SqlStore)
    return store


async def changed(site: LongSite, statement: Any) -> None:
    await store_of(site).database.write(lambda to, _: to.execute(statement))


async def expire(site: LongSite) -> None:
    """The lease of the running job ends, as that of a dead or frozen worker does."""
    running = update(JOBS).where(JOBS.c.state == "processing")
    await changed(site, running.values(lease_until=LONG_AGO))


async def claimed_by_the_dead(site: LongSite, path: str) -> str:
    """Submit a call, and let a worker claim its job and die. Returns the address of the job."""
    job: str = (await site.post(path, ADA)).headers["location"]
    queue = store_of(site).queue
    assert len(await queue.claim("dead", ["task"], 1, 30.0)) == 1
    await expire(site)
    assert await queue.sweep(10, 0.0, lambda _: Changes()) == (1, 0)
    return job


def record_of(job: str, **facts: Any) -> AuditRecord:
    """A record that names the job: as it is, that of a run."""
    now = datetime.now(UTC)  # an older record would be removed by the cleaner
    moment = f"{int(now.timestamp() * 1000):012x}"
    values: dict[str, Any] = {
        "id": f"{moment[:8]}-{moment[8:]}-7000-8000-000000000001",
        "at": now,
        "transport": "job",
        "operation": "example.greet",
        "subject": None,
        "agent": None,
        "outcome": "PENDING",
        "stage": None,
        "status": 202,
        "backend": None,
        "duration_ms": 0.0,
        "arguments": None,
        "request_id": job.rpartition("/")[2],
        "job_id": job.rpartition("/")[2],
    }
    return AuditRecord(**{**values, **facts})


async def end_of(site: LongSite, job: str) -> tuple[str, str | None, int]:
    """The status and the problem of the job once it has ended, and how often it was made."""
    site.acts.release.set()
    async with site.gateway.at_work():
        ended = await site.ended(job)
    return ended["status"], ended.get("problem", {}).get("code"), site.acts.made


async def test_what_a_dead_worker_did_not_begin_is_made(site_url: str, tmp_path: Path) -> None:
    async with open_site(site_url, tmp_path, is_at_work=False) as site:
        job = await claimed_by_the_dead(site, REQUIRED)
        assert await end_of(site, job) == ("succeeded", None, 1)


@pytest.mark.parametrize(
    "ended",
    [
        {"outcome": "RATE_LIMIT_ERROR", "stage": "admit", "status": 429},
        {"outcome": "NOT_RECORDED", "stage": "record", "status": 503},
    ],
)
async def test_a_run_that_was_not_made_is_no_beginning(
    site_url: str, tmp_path: Path, ended: dict[str, Any]
) -> None:
    async with open_site(site_url, tmp_path, is_at_work=False) as site:
        job = await claimed_by_the_dead(site, REQUIRED)
        await store_of(site).audit.append([record_of(job, **ended)])
        assert await end_of(site, job) == ("succeeded", None, 1)


@pytest.mark.parametrize(
    "ended",
    [
        {},
        {"outcome": "CUT_OFF"},
        {"outcome": "ok", "status": 200},
        {"outcome": "CANCELLED", "status": 499},
        {"outcome": "RATE_LIMIT_ERROR", "stage": "send", "status": 429},
    ],
)
async def test_what_a_dead_worker_may_have_begun_is_not_made_again(
    site_url: str, tmp_path: Path, ended: dict[str, Any]
) -> None:
    async with open_site(site_url, tmp_path, is_at_work=False) as site:
        job = await claimed_by_the_dead(site, REQUIRED)
        await store_of(site).audit.append([record_of(job, **ended)])
        assert await end_of(site, job) == ("failed", "OUTCOME_UNKNOWN", 0)


async def test_without_the_record_of_its_submission_nothing_is_certain(
    site_url: str, tmp_path: Path
) -> None:
    """The record of the run may have been removed too. That of a repetition proves nothing."""
    async with open_site(site_url, tmp_path, is_at_work=False) as site:
        key = {"idempotency-key": "k"}
        first = await site.post(REQUIRED, ADA, **key)
        await site.gateway.parts.audit.flush()
        await changed(site, delete(AUDIT_RECORDS))
        assert (await site.post(REQUIRED, ADA, **key)).headers["location"]
        queue = store_of(site).queue
        await queue.claim("dead", ["task"], 1, 30.0)
        await expire(site)
        await queue.sweep(10, 0.0, lambda _: Changes())
        ended = await end_of(site, first.headers["location"])
    assert ended == ("failed", "OUTCOME_UNKNOWN", 0)


async def test_a_call_that_became_a_job_while_it_ran_has_begun(
    site_url: str, tmp_path: Path
) -> None:
    """Its own record does not name the job yet. That of a repetition with its key looks like a
    submission, also by its id, if it was answered by a machine whose clock is behind."""
    async with open_site(site_url, tmp_path) as site:
        job = (await site.post(AUTO, SUM)).headers["location"]
        await store_of(site).audit.append([record_of(job, transport="rest", outcome="ok")])
        await expire(site)
        ended = await site.ended(job)

    assert (ended["problem"]["code"], site.acts.made) == ("OUTCOME_UNKNOWN", 1)


async def has_woken(site: LongSite) -> bool:
    """Whether a run has noticed that another worker has its job."""
    found = await store_of(site).audit.latest(100)
    return any(each.outcome == "NOT_RECORDED" for each in found)


@pytest.mark.parametrize("is_recorded", [False, True])
async def test_a_worker_that_wakes_up_has_no_effect(
    site_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_recorded: bool
) -> None:
    """It freezes shortly before or after its record is durable, until its job was taken back."""
    frozen, thaw = asyncio.Event(), asyncio.Event()
    begin = OpenRecord.begin

    async def freeze(record: OpenRecord) -> None:
        if record.job_id is None or frozen.is_set():
            return await begin(record)
        if is_recorded:
            await begin(record)
        frozen.set()
        await thaw.wait()
        if not is_recorded:
            await begin(record)
        return None

    monkeypatch.setattr(OpenRecord, "begin", freeze)
    async with open_site(site_url, tmp_path) as site:
        site.acts.release.set()
        job = (await site.post(REQUIRED, ADA)).headers["location"]
        await asyncio.wait_for(frozen.wait(), PATIENCE_SECONDS)
        await expire(site)
        ended = await site.ended(job)
        thaw.set()
        await eventually(lambda: has_woken(site))

    if is_recorded:
        assert (ended["problem"]["code"], site.acts.made) == ("OUTCOME_UNKNOWN", 0)
    else:
        assert (ended["status"], site.acts.made) == ("succeeded", 1)
