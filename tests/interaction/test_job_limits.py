"""Limits of calls that become jobs: one count, when they are submitted."""

from pathlib import Path
from typing import Any

import pytest

from gateway.contract.policies.limits import CallWindow, ToolLimits
from gateway.errors import StoreError
from gateway.limits.standing import NotCounted
from gateway.store.usage import Decision
from tests.eventually import eventually
from tests.interaction.long_site import ADA, AUTO, REQUIRED, SUM, LongSite, open_site

TWICE = ToolLimits(calls=(CallWindow(max=2, seconds=3600),))
ONE_AT_A_TIME = ToolLimits(concurrent=1)


async def submitted(site: LongSite, count: int, **headers: str) -> list[Any]:
    return [await site.post(REQUIRED, ADA, **headers) for _ in range(count)]


async def ended(site: LongSite, answers: list[Any]) -> list[str]:
    return [(await site.ended(each.headers["location"]))["status"] for each in answers]


async def test_a_submission_over_the_limit_is_refused_and_no_job_is(tmp_path: Path) -> None:
    async with open_site("memory:", tmp_path, is_at_work=False, limits=TWICE) as site:
        *accepted, refused = await submitted(site, 3)
        async with site.mcp("auto") as client:
            over_mcp = await client.call_tool("example_greet", ADA)
        site.acts.release.set()
        async with site.gateway.at_work():
            ends = await ended(site, accepted)

    assert [each.status_code for each in (*accepted, refused)] == [202, 202, 429]
    assert [each.headers["ratelimit"].split(";")[1] for each in accepted] == ["r=1", "r=0"]
    assert refused.json()["limit"]["used"] == 2
    assert int(refused.headers["retry-after"]) > 3000
    assert over_mcp.is_error
    assert "RATE_LIMIT_ERROR" in str(over_mcp.content)
    assert ends == ["succeeded", "succeeded"]
    assert site.acts.made == 2


async def test_a_repetition_gets_its_job_when_the_limit_is_used_up(tmp_path: Path) -> None:
    async with open_site("memory:", tmp_path, limits=TWICE) as site:
        site.acts.release.set()
        answers = await submitted(site, 4, **{"idempotency-key": "greet-ada-once"})
        other = (await submitted(site, 2))[0]
        again = (await submitted(site, 1, **{"idempotency-key": "greet-ada-once"}))[0]

    assert {each.headers["location"] for each in answers} == {again.headers["location"]}
    assert (other.status_code, again.status_code) == (202, 202)


async def test_jobs_wait_for_a_place(tmp_path: Path) -> None:
    async with open_site("memory:", tmp_path, limits=ONE_AT_A_TIME) as site:
        answers = await submitted(site, 2)
        await site.acts.entered.wait()

        async def look() -> bool:
            jobs = (await site.get("/v1/jobs")).json()["items"]
            return sorted(each["status"] for each in jobs) == ["queued", "running"]

        await eventually(look)
        site.acts.release.set()
        ends = await ended(site, answers)

    assert ends == ["succeeded", "succeeded"]


async def test_a_call_that_becomes_a_job_while_it_runs_is_counted_once(tmp_path: Path) -> None:
    async with open_site("memory:", tmp_path, limits=TWICE) as site:
        answers = [await site.post(AUTO, SUM) for _ in range(3)]
        site.acts.release.set()
        ends = await ended(site, answers[:2])

    assert [each.status_code for each in answers] == [202, 202, 429]
    assert ends == ["succeeded", "succeeded"]


async def test_a_job_waits_while_its_place_cannot_be_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_site("memory:", tmp_path, limits=ONE_AT_A_TIME) as site:
        usage = site.gateway.parts.store.usage
        take, failures = usage.take, 0

        async def taking(*demands: Any) -> Decision:
            nonlocal failures
            failures += 1
            if failures == 1:
                raise StoreError("the store does not answer")
            return await take(*demands)

        monkeypatch.setattr(usage, "take", taking)
        monkeypatch.setattr(NotCounted, "retry_after_seconds", 0.0)
        site.acts.release.set()
        ends = await ended(site, await submitted(site, 1))

    assert (ends, failures) == (["succeeded"], 2)
