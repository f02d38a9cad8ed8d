"""The parts of a call, read from the samples of a profiler."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).parents[3] / "scripts" / "bench"
SAMPLES = """\
run (asyncio/runners.py:118);serve (gateway/transports/rest.py:9);dumps (json/encoder.py:3) 5
run (asyncio/runners.py:118);run (gateway/calls/pipeline.py:6);send (gateway/calls/sending.py:8) 3
run (threading.py:9);<module> (odd name;x (y.py:1) 1
run (asyncio/runners.py:118) 1
"""


@pytest.fixture
def stacks(monkeypatch) -> ModuleType:
    """The script as a module."""
    monkeypatch.syspath_prepend(str(BENCH))
    module = importlib.import_module("stacks")
    monkeypatch.delitem(sys.modules, "stacks")
    return module


def test_a_sample_counts_for_the_innermost_frame_with_a_part(stacks) -> None:
    assert stacks.shares(stacks.stacks_of(SAMPLES)) == {
        "REST messages": 0.5,
        "upstream: attempts, breaker, limits": 0.3,
        "other": 0.1,
        "event loop": 0.1,
    }


def test_each_part_names_files_that_exist_in_the_gateway_or_in_a_library(stacks) -> None:
    """A room that moves must not vanish from the table without a word."""
    root = BENCH.parents[1]
    own = [
        place
        for _, places in stacks._PARTS
        for place in places
        if place.startswith(("gateway/", "generated/"))
    ]
    assert [place for place in own if not (root / place).exists()] == []
