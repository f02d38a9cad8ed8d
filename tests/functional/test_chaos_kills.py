"""Deaths at random moments and at each failpoint, and what becomes of the work of the dead.

These are the chaos scripts, in runs small enough for a merge.
"""

import pytest

from tests.chaos import ALONE, BOTH, IS_FULL, figures

KILLS, RATE = (100, "100") if IS_FULL else (3, "20")
PLACES = (
    "ingest.after_body",
    "ingest.after_verify",
    "ingest.before_commit",
    "ingest.after_commit",
    "jobs.after_claim",
    "jobs.mid_run",
    "jobs.before_commit",
    "jobs.after_commit",
    "jobs.in_heartbeat",
    "jobs.in_retry",
    "jobs.in_dead_letter",
    "jobs.in_sweep",
    "events.before_send",
    "events.after_send",
    "retention.before_commit",
    "migration.before_commit",
)
"""All failpoints."""
HIT = (
    PLACES
    if IS_FULL
    else ("ingest.after_commit", "jobs.before_commit", "events.after_send", PLACES[-2])
)
"""One of each kind. Of the others, each has a test of its own: `test_worker_processes.py`,
`test_webhook_ingest.py` and `conformance/test_killed_programs.py`."""


@pytest.mark.parametrize("engine", BOTH)
def test_r1_kills_at_random_lose_and_repeat_nothing(engine: str) -> None:
    found = figures("kill.py", engine, "--kills", str(KILLS), "--lease", "3", "--rate", RATE)
    assert sum(found["kills"].values()) == KILLS
    assert found["accepted"] == found["completed"] + found["dead_letter"] > 0


@pytest.mark.parametrize("engine", ALONE)
def test_r2_each_failpoint_is_hit_and_survived(engine: str) -> None:
    named = [word for place in HIT for word in ("--place", place)]
    found = figures("failpoints.py", engine, "--times", "1", "--rate", "8", *named)
    assert found["deaths"] == dict.fromkeys(HIT, 1)


if IS_FULL:  # Of every merge: `test_worker_processes.py`.

    @pytest.mark.parametrize("engine", BOTH)
    def test_r3_r4_the_dead_are_replaced_and_zombies_refused(engine: str) -> None:
        # The margin of a trial is a second; here others may be at work on the machine.
        size = ("--claims", "100", "--zombies", "2", "--lease", "3", "--margin", "300")
        found = figures("takeover.py", engine, *size)
        assert found["claims_of_the_dead"] >= 100
        assert found["claims_held_past_their_lease"] > 0
