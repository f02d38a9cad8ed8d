"""Storms, lost answers and disconnects: the chaos scripts, in runs small enough for a merge.

The same scripts do the large ones. In a small one, a trial runs on one engine, where the engine
does not matter: `make chaos` runs it on both.
"""

import pytest

from tests.chaos import ALONE, BOTH, IS_FULL, figures

IDS, PARALLEL, STORM_JOBS = (50, 50, 400) if IS_FULL else (8, 20, 60)
CALLS = 60 if IS_FULL else 20
FOLLOWERS, RESUMES = (5, 6) if IS_FULL else (3, 3)
KILLS = 2 if IS_FULL else 1


@pytest.mark.parametrize("engine", ALONE)
def test_r5_r6_storms_are_stored_once_and_crowds_work_once(engine: str) -> None:
    size = ("--ids", str(IDS), "--parallel", str(PARALLEL), "--jobs", str(STORM_JOBS))
    found = figures("storm.py", engine, *size, "--workers", "8")
    assert found["answers"] == {"202": IDS, "200": IDS * (PARALLEL - 1)}
    assert found["completed"] == found["jobs"] == STORM_JOBS


@pytest.mark.parametrize("engine", ALONE)
def test_r14_followers_see_every_event_once(engine: str) -> None:
    """On PostgreSQL: `test_following.py`."""
    size = ("--followers", str(FOLLOWERS), "--disconnects", str(RESUMES), "--kills", str(KILLS))
    assert figures("resume.py", engine, *size)["resumes"] >= FOLLOWERS * RESUMES


@pytest.mark.parametrize("engine", ALONE)
def test_lost_answers_cause_no_effect_twice(engine: str) -> None:
    # After a kill on PostgreSQL, leases of 30 seconds must end.
    kills = KILLS if engine == "sqlite" else 0
    found = figures("lost_answers.py", engine, "--calls", str(CALLS), "--kills", str(kills))
    assert found["lost_answers"] >= CALLS
    assert sum(found["ended"].values()) == CALLS


if IS_FULL:  # Of every merge: `interaction/test_job_kills.py`.

    @pytest.mark.parametrize("engine", BOTH)
    def test_jobs_outlive_kills_and_clients_that_leave(engine: str) -> None:
        size = ("--jobs", "40", "--kills", str(KILLS), "--disconnects", "30", "--lease", "4")
        found = figures("jobs.py", engine, *size)
        assert found["kills"] == KILLS
        assert found["compared"] == found["ids"] > 5
        assert sum(found["disconnects"].values()) > 5
