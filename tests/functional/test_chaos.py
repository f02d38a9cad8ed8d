"""The chaos scripts, in runs small enough for every merge. The same scripts do the large ones."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.chaos import CHAOS, IS_FULL, figures
from tests.gateway_process import clean_environment

PLACES = 16
IDS, STORM_JOBS = (50, 400) if IS_FULL else (20, 200)
JOBS, DISCONNECTS = (40, 30) if IS_FULL else (20, 15)
PROGRAMS = sorted(
    each.name for each in CHAOS.glob("*.py") if "sys.exit(main())" in each.read_text()
)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.slow
def test_r2_each_failpoint_is_hit_and_survived(engine: str) -> None:
    found = figures("failpoints.py", engine, "--times", "1")
    assert len(found["deaths"]) == PLACES
    assert set(found["deaths"].values()) == {1}


@pytest.mark.slow
def test_r3_r4_the_dead_are_replaced_and_zombies_refused(engine: str) -> None:
    # The margin of the large run is a second; here others may be at work on the machine.
    size = ("--claims", "100", "--zombies", "2", "--lease", "3", "--margin", "5")
    found = figures("takeover.py", engine, *size)
    assert found["claims_of_the_dead"] >= 100
    assert found["taken_back_max_seconds"] <= found["limit_seconds"]
    assert found["claims_held_past_their_lease"] > 0


@pytest.mark.slow
def test_r5_r6_storms_are_stored_once_and_crowds_work_once(engine: str) -> None:
    jobs = ("--jobs", str(STORM_JOBS), "--workers", "8")
    size = ("--ids", str(IDS), "--parallel", "50", *jobs)
    found = figures("storm.py", engine, *size)
    assert found["answers"] == {"202": IDS, "200": IDS * 49}
    assert found["completed"] == found["jobs"] == STORM_JOBS


@pytest.mark.slow
def test_r14_followers_see_every_event_once(engine: str) -> None:
    size = ("--followers", "5", "--disconnects", "6", "--kills", "2")
    assert figures("resume.py", engine, *size)["resumes"] >= 20


@pytest.mark.slow
def test_lost_answers_cause_no_effect_twice(engine: str) -> None:
    # After a kill on PostgreSQL, leases of 30 seconds must end: only the large run has kills there.
    kills = "2" if engine == "sqlite" else "0"
    found = figures("lost_answers.py", engine, "--calls", "60", "--kills", kills)
    assert found["lost_answers"] >= 60
    assert sum(found["ended"].values()) == 60


@pytest.mark.slow
def test_jobs_outlive_kills_and_clients_that_leave(engine: str) -> None:
    size = ("--jobs", str(JOBS), "--kills", "2", "--disconnects", str(DISCONNECTS), "--lease", "4")
    found = figures("jobs.py", engine, *size)
    assert found["kills"] == 2
    assert found["compared"] == found["ids"] > 5
    assert sum(found["disconnects"].values()) > 5


@pytest.mark.slow
def test_the_memory_of_slow_calls_and_jobs_is_read() -> None:
    found = figures("job_memory.py", "sqlite", "--calls", "5", "--jobs", "20")
    assert found["pending"] == 25
    assert found["outcomes"] == {"result": 25}


@pytest.mark.slow
def test_r11_an_upstream_that_fails_gets_few_requests() -> None:
    """Counts and codes. A time would be that of the machine, so the exit code says nothing here."""
    done = subprocess.run(
        [
            *(sys.executable, str(CHAOS / "upstream.py"), "--json", "--seconds", "4"),
            *("--faults", "503", "garbage", "latency", "--shares", "1"),
            *("--rate", "20", "--burst", "250"),
        ],
        capture_output=True,
        text=True,
        env=clean_environment(),
        timeout=300,
        check=False,
    )
    assert done.stdout, done.stderr[-3000:]
    trials = json.loads(done.stdout)["trials"]
    assert [each["verdicts"]["codes"] for each in trials] == ["met"] * 3, trials
    assert [each["verdicts"]["requests"] for each in trials] == ["met"] * 3, trials
    # Whether a call too many is refused depends on the machine. No other problem may occur.
    assert {name for each in trials for name in each["other_failed"]} <= {"limit-exceeded"}
    assert [each["calls"] for each in trials] == [250 + 4 * 20] * 3
    assert [each["seconds_to_open"] is None for each in trials] == [False, True, False]
    down, garbage, hanging = trials
    assert down["requests"] < down["calls"] / 4
    assert garbage["requests"] == garbage["answers"]["invalid-reply"]
    assert hanging["answers"]["upstream-timeout"] <= 200


@pytest.mark.parametrize("script", PROGRAMS)
def test_each_script_says_what_it_does(script: str) -> None:
    done = subprocess.run(
        [sys.executable, str(CHAOS / script), "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=Path("/"),
    )
    assert done.returncode == 0, done.stderr
    assert "usage:" in done.stdout
