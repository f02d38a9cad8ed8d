"""The chaos bugs fit their text, and the advisory check says what is an error."""

import ast
import importlib
import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"


def chore(name: str) -> ModuleType:
    """A script, imported."""
    spec = spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answer(*packages: dict[str, Any]) -> str:
    return json.dumps({"dependencies": packages, "fixes": []})


CLEAN = {"name": "yarl", "version": "1.2", "vulns": []}
UNKNOWN = {"name": "own", "skip_reason": "Dependency not found on PyPI"}
ADVISORY = {"id": "PYSEC-2026-1", "aliases": ["CVE-2026-1"], "fix_versions": ["2.0"]}
AFFECTED = {"name": "jinja2", "version": "1.0", "vulns": [ADVISORY]}


def test_an_advisory_is_an_error_and_says_what_to_do() -> None:
    status, text = chore("advisories").outcome(answer(CLEAN, AFFECTED), "")
    assert status == 1
    assert "jinja2 1.0: PYSEC-2026-1, fixed in 2.0" in text
    assert "scripts/lock.py --upgrade" in text


def test_an_accepted_advisory_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    advisories = chore("advisories")
    monkeypatch.setitem(advisories.ACCEPTED, "CVE-2026-1", "the function is not called")
    assert advisories.outcome(answer(CLEAN, AFFECTED), "")[0] == 0


def test_each_accepted_advisory_has_a_reason() -> None:
    assert all(len(reason) > 20 for reason in chore("advisories").ACCEPTED.values())


def test_how_many_packages_were_checked_is_said() -> None:
    assert chore("advisories").outcome(answer(CLEAN, UNKNOWN), "") == (
        0,
        "advisories: none known, 1 of 2 packages checked",
    )


@pytest.mark.parametrize("output", ["", answer(UNKNOWN)], ids=["no answer", "knows no package"])
def test_where_nothing_answers_that_is_said_and_no_error_unless_wanted(output: str) -> None:
    """pip-audit itself calls an index that knows no package free of advisories."""
    advisories = chore("advisories")
    status, text = advisories.outcome(output, "no route to host")
    assert status == 0
    assert "NOT CHECKED" in text
    assert advisories.outcome(output, "no route to host", strict=True)[0] == 1


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
