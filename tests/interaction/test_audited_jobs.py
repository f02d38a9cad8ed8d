"""An audit record names the job that its call became, and a job's records are found by its id."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.eventually import eventually
from tests.interaction.long_site import ADA, AUTO, REQUIRED, SUM, LongSite, open_site


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[LongSite]:
    async with open_site("memory:", tmp_path) as opened:
        yield opened


async def records_of(site: LongSite, job_id: str) -> list[dict[str, Any]]:
    page = (await site.get(f"/operator/audit?job={job_id}")).json()
    return sorted(page["items"], key=lambda each: str(each["at"]))


@pytest.mark.parametrize(
    ("path", "body", "statuses"), [(REQUIRED, ADA, [202, 200]), (AUTO, SUM, [200])]
)
async def test_the_records_of_a_job_are_found_by_its_id(
    site: LongSite, path: str, body: Any, statuses: list[int]
) -> None:
    """One of the submission and one of the run, or one of the call that was going on."""
    answer = await site.post(path, body)
    job = answer.json()["id"]
    site.acts.release.set()
    await site.ended(answer.headers["location"])

    async def complete() -> list[dict[str, Any]] | None:
        found = await records_of(site, job)
        return found if len(found) == len(statuses) else None

    found = await eventually(complete)

    assert [each["status"] for each in found] == statuses
    assert {each["job_id"] for each in found} == {job}
    assert found[0]["request_id"] == answer.headers["x-request-id"]


async def test_a_call_that_became_no_job_names_none(site: LongSite) -> None:
    site.acts.release.set()
    await site.post(AUTO, SUM)
    await site.gateway.parts.audit.flush()
    (record,) = await site.gateway.parts.store.audit.latest(1)
    assert record.job_id is None
