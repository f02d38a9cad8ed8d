"""The progress of jobs: the newest report is stored, seldom, and none after the end."""

import asyncio
from typing import Any, cast

import pytest

from gateway.calls.jobs.running import JobReports
from gateway.errors import StoreError
from gateway.store.records import Claim
from tests.eventually import eventually

pytestmark = pytest.mark.usefixtures("time_leaps")


CLAIM = cast("Claim", object())


class Notes:
    """Stands for the store of tasks."""

    def __init__(self) -> None:
        self.reports: list[tuple[float, str]] = []
        self.fails = False

    async def report(self, claim: Claim, progress: float, text: str) -> None:
        assert claim is CLAIM
        if self.fails:
            raise StoreError("away")
        self.reports.append((progress, text))

    async def have(self, count: int) -> None:
        async def look() -> bool | None:
            return len(self.reports) >= count or None

        await eventually(look)


def reports(notes: Notes, pass_on: Any = None, pause_seconds: float = 60) -> JobReports:
    return JobReports(cast("Any", notes), pass_on, pause_seconds=pause_seconds)


async def test_the_newest_report_is_stored_also_if_it_was_made_before() -> None:
    notes = Notes()
    of_call = reports(notes)
    of_call.report(1, "one")
    of_call.report(2, "two")
    async with of_call.stored_for(CLAIM):
        await notes.have(1)
        of_call.report(3, "three")
        await asyncio.sleep(0.01)

    assert notes.reports == [(2, "two")]


async def test_reports_are_stored_again_after_the_pause_and_only_if_they_grow() -> None:
    notes = Notes()
    of_call = reports(notes, pause_seconds=0.001)
    async with of_call.stored_for(CLAIM):
        of_call.report(2, "two")
        await notes.have(1)
        of_call.report(1, "one")
        await asyncio.sleep(0.01)
        of_call.report(3, "three")
        await notes.have(2)

    assert notes.reports == [(2, "two"), (3, "three")]


async def test_a_job_goes_on_while_the_store_is_away() -> None:
    notes = Notes()
    notes.fails = True
    of_call = reports(notes, pause_seconds=0.001)
    async with of_call.stored_for(CLAIM):
        of_call.report(1, "one")
        await asyncio.sleep(0.01)
        notes.fails = False
        of_call.report(2, "two")
        await notes.have(1)

    assert notes.reports == [(2, "two")]


async def test_the_block_ends_when_its_call_is_cancelled() -> None:
    notes = Notes()
    of_call = reports(notes)

    async def run() -> None:
        async with of_call.stored_for(CLAIM):
            await asyncio.Event().wait()

    work = asyncio.create_task(run())
    await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work

    assert notes.reports == []


async def test_each_report_is_passed_on() -> None:
    heard: list[tuple[float, str]] = []
    of_call = reports(Notes(), lambda done, message, _: heard.append((done, message)))
    of_call.report(1, "one")

    assert heard == [(1, "one")]
