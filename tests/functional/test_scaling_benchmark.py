"""The benchmark of several processes runs from end to end."""

import json
import subprocess
import sys

import pytest

from tests.gateway_process import REPOSITORY, clean_environment
from tests.postgres import server_url

SCRIPT = REPOSITORY / "scripts" / "bench" / "scaling.py"


def measured(*options: str) -> subprocess.CompletedProcess[str]:
    """The benchmark with `options`, in a run too short to mean anything."""
    return subprocess.run(
        [sys.executable, str(SCRIPT), "--rounds", "1", "--seconds", "0.5", *options],
        capture_output=True,
        text=True,
        env=clean_environment(),
        timeout=120,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.postgres
def test_the_processes_share_the_calls() -> None:
    done = measured("--postgresql", server_url(), "--json")
    assert done.returncode in {0, 1}, done.stderr  # 1: it did not scale, in so short a time
    report = json.loads(done.stdout)
    one, two = (report["samples"][number][0] for number in ("1", "2"))
    assert one["busiest"] == 1.0
    assert two["busiest"] < 1.0
    assert min(one["calls_per_second"], two["calls_per_second"]) > 0
    assert report["scale"]["median"] > 0


def test_a_server_that_does_not_answer_is_named() -> None:
    done = measured("--postgresql", "postgresql://nobody:secret@127.0.0.1:9/none")
    assert done.returncode == 2
    assert done.stderr.startswith("error: PostgreSQL at 127.0.0.1:9/none does not answer")
    assert "secret" not in done.stderr
