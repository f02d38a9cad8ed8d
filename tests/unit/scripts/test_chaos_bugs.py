"""The bugs that are made on purpose fit the text into which they are written."""

import ast
import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "scripts" / "chaos"
SOURCE = '''\
import logging

_log = logging.getLogger(__name__)


def admits(size: int = 1, *, most: int | None = None) -> bool:
    """Whether `size` is small enough."""
    assert size >= 0
    _log.info("%s", size == 1)
    if most is None:
        raise ValueError(f"{size + 1} or {most}")
    return size < most
'''
OTHER = "def other(left: bool, right: bool) -> bool:\n    return left and right\n\n\n"


@pytest.fixture(scope="module")
def modules():
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module("bugs"), importlib.import_module("planting")
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture
def seeded(modules, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """The seeded bugs of a tree with one file of this text."""
    monkeypatch.setattr(modules[1], "BUGS", ())
    (tmp_path / "gateway").mkdir()

    def bugs_of(text: str, per_room: int = 1):
        (tmp_path / "gateway" / "sizes.py").write_text(text)
        return modules[1].bugs_of(tmp_path, 25, per_room)

    return bugs_of


def test_there_are_sixteen(modules) -> None:
    assert len({bug.name for bug in modules[0].BUGS}) == 16


def test_each_fits_exactly_once(modules) -> None:
    counts = {bug.name: (ROOT / bug.path).read_text().count(bug.was) for bug in modules[0].BUGS}
    assert {name: number for name, number in counts.items() if number != 1} == {}


def test_each_names_tests_that_exist(modules) -> None:
    named = [test for bug in modules[0].BUGS for test in bug.tests]
    assert [test for test in named if not (ROOT / test).is_file()] == []


def test_code_elsewhere_chooses_no_other_bug(seeded) -> None:
    (alone,) = seeded(SOURCE)
    both = seeded(OTHER + SOURCE, per_room=2)
    assert alone.id in {bug.id for bug in both}
    assert len({bug.function for bug in both}) == 2


@pytest.mark.parametrize("seed", range(20))
def test_only_what_the_function_does_is_changed(modules, seeded, tmp_path: Path, seed: int) -> None:
    seeded(SOURCE)
    (bug,) = modules[1].bugs_of(tmp_path, seed, 1)
    ast.parse(bug.plant(SOURCE.encode()))
    assert bug.was in {"most is None", "size < most", "return size < most"}


def test_a_function_says_that_it_was_called(modules, seeded, tmp_path: Path) -> None:
    (bug,) = seeded(SOURCE)
    text = modules[1].probes(tmp_path, [bug], tmp_path / "log")[bug.path].decode()
    call = ast.parse(text).body[-1].body[1]
    assert f".reached('{bug.id}')" in ast.unparse(call)
