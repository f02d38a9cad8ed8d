"""Wrong calls, repaired from the error alone: what `scripts/bench/repair.py` measures."""

import json
import subprocess
import sys
from pathlib import Path

from tests.gateway_process import clean_environment

SCRIPT = Path(__file__).parents[2] / "scripts" / "bench" / "repair.py"


def test_wrong_calls_are_repaired_from_the_error_alone() -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, "--json"],
        capture_output=True,
        text=True,
        env=clean_environment({}),
        cwd=SCRIPT.parents[2],
        check=False,
    )
    assert done.stdout, done.stderr[-3000:]
    outcomes = json.loads(done.stdout)["outcomes"]
    assert {name: what for name, what in outcomes.items() if what != "repaired"} == {}
    assert (done.returncode, len(outcomes)) == (0, 30)
