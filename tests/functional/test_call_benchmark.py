"""The call benchmark runs from end to end, so that it can be trusted on the day it is needed."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.gateway_process import REPOSITORY, clean_environment

SCRIPT = REPOSITORY / "scripts" / "bench" / "calls.py"
BRIEFLY = ("--rounds", "1", "--seconds", "0.3", "--starts", "1", "--without-peers")


def measured(*options: str) -> subprocess.CompletedProcess[str]:
    """The benchmark with `options`, in a run too short to mean anything."""
    return subprocess.run(
        [sys.executable, str(SCRIPT), *BRIEFLY, *options],
        capture_output=True,
        text=True,
        env=clean_environment(),
        timeout=120,
        check=False,
    )


@pytest.mark.slow
def test_at_a_rate_the_overhead_over_the_upstream_is_reported() -> None:
    done = measured("--rate", "200", "--json")
    assert done.returncode == 0, done.stderr
    overheads = json.loads(done.stdout)["overhead_ms_of_the_median_call"]
    assert list(overheads) == [
        "bare proxy",
        "bare prototype",
        "gateway REST",
        "gateway MCP 2026-07-28",
    ]
    assert all(overhead.keys() >= {"median"} for overhead in overheads.values())


@pytest.mark.slow
def test_every_contender_of_two_checkouts_answers_every_call() -> None:
    """A failed call ends the benchmark with an error, so exit 0 means that none did."""
    done = measured("--against", str(REPOSITORY), "--json")
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    gateways = ["gateway REST", "gateway MCP 2026-07-28", "gateway MCP 2025-11-25"]
    pairs = [each for name in gateways for each in (name, f"{name}, other")]
    assert list(report["contenders"]) == ["upstream itself", "bare proxy", "bare prototype", *pairs]
    assert list(report["extra_cpu_us_per_call"]) == gateways
    assert "gateway REST / gateway REST, other" in report["ratios_of_cpu_per_call"]
    for name in ("seconds", "cpu_seconds", "rss_mb"):
        assert report["gateway_start"][name]["median"] > 0
    assert report["other_start"]["cpu_seconds"]["median"] > 0


def test_the_other_checkout_must_be_one(tmp_path: Path) -> None:
    done = measured("--against", str(tmp_path))
    assert done.returncode == 2
    assert done.stderr == (
        f"error: {tmp_path} is no checkout of the gateway; `git worktree add` makes one\n"
    )


def test_a_tool_that_does_not_exist_is_one_clear_line() -> None:
    done = measured("--tool", "avinode.fly", "--starts", "0")
    assert done.returncode == 2
    assert done.stderr == (
        "error: there is no tool 'avinode.fly'; `gateway tools list` lists them\n"
    )
