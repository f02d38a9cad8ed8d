"""R1 in a run small enough for every merge: kills at random moments, on each engine."""

import pytest

from tests.chaos import IS_FULL, figures

KILLS = 100 if IS_FULL else 12


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_r1_kills_at_random_lose_and_repeat_nothing(engine: str) -> None:
    found = figures("kill.py", engine, "--kills", str(KILLS), "--lease", "3", "--rate", "100")
    assert sum(found["kills"].values()) == KILLS
    assert found["accepted"] == found["completed"] + found["dead_letter"] > 0
