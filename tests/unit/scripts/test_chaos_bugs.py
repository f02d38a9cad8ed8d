"""The bugs that are made on purpose still fit the text into which they are written."""

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "scripts" / "chaos"


@pytest.fixture(scope="module")
def bugs():
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module("bugs").BUGS
    finally:
        sys.path.remove(str(FOLDER))


def test_there_are_sixteen(bugs) -> None:
    assert len({bug.name for bug in bugs}) == 16


def test_each_fits_exactly_once(bugs) -> None:
    counts = {bug.name: (ROOT / bug.path).read_text().count(bug.was) for bug in bugs}
    assert {name: number for name, number in counts.items() if number != 1} == {}


def test_each_names_tests_that_exist(bugs) -> None:
    assert [test for bug in bugs for test in bug.tests if not (ROOT / test).is_file()] == []
