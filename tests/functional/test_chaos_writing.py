"""Commands that write a project, killed at changes of files: a small run of the chaos script."""

import json
import subprocess
import sys

from tests.chaos import CHAOS, IS_FULL
from tests.gateway_process import clean_environment

KILLS, COMMANDS = (100, ()) if IS_FULL else (3, ("--command", "update"))


def test_r21_a_command_that_is_killed_loses_nothing() -> None:
    """The unit tests of `placing` stop a change at each of its steps."""
    done = subprocess.run(
        [sys.executable, CHAOS / "writing.py", "--json", "--kills", str(KILLS), *COMMANDS],
        capture_output=True,
        text=True,
        env=clean_environment({}),
        check=False,
    )
    assert done.stdout, done.stderr[-3000:]
    found = json.loads(done.stdout)["engines"]["files"]
    assert (done.returncode, found["failures"]) == (0, [])
    assert sum(found["kills"].values()) == KILLS
