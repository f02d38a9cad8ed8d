"""The advisory check: what it says, and what it calls an error."""

import json
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
