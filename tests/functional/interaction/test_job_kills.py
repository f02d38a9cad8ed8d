"""`kill -9` while calls become jobs: each id is known, each job ends, no write is made twice."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.eventually import PATIENCE_SECONDS
from tests.functional.interaction.long_program import EFFECTS, LEASE_SECONDS, noted
from tests.gateway_process import REPOSITORY, clean_environment
from tests.interaction.long_site import open_site

PROGRAM = "tests.functional.interaction.long_program"
POINTS = ["task.adopted:3", "task.made:2"]


def promised(folder: Path, database: str, point: str) -> list[str]:
    """The ids that a process returned before it was killed at the failpoint."""
    environment = clean_environment({"GATEWAY_FAILPOINT": point})
    done = subprocess.run(
        [sys.executable, "-m", PROGRAM, str(folder), database],
        capture_output=True,
        text=True,
        env={**os.environ, **environment, "PYTHONPATH": str(REPOSITORY)},
        cwd=REPOSITORY,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == -9, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("point", POINTS)
async def test_after_a_kill_each_job_is_known_and_ends(tmp_path: Path, point: str) -> None:
    database = f"sqlite:///{tmp_path}/g.db"
    ids = promised(tmp_path, database, point)
    async with open_site(
        database, tmp_path, acts=noted(tmp_path), lease_seconds=LEASE_SECONDS
    ) as site:
        listed = (await site.get("/v1/jobs?limit=200")).json()["items"]
        ended = [await site.ended(f"/v1/jobs/{each['id']}") for each in listed]

    assert {*ids} <= {job["id"] for job in ended}
    assert {job["status"] for job in ended} <= {"succeeded", "failed"}
    problems = {job["problem"]["code"] for job in ended if job["status"] == "failed"}
    assert problems <= {"OUTCOME_UNKNOWN"}
    made = Counter((tmp_path / EFFECTS).read_text().split())
    assert {*made.values()} <= {1}
