"""The table of attacks is made of markers, and its trial finds each planted fault."""

import ast
import importlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "attacks.py"


@pytest.fixture
def script(tmp_path, monkeypatch):
    """The script as a module, with a folder of tests and its own page."""
    spec = importlib.util.spec_from_file_location("attacks_script", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = tmp_path / "attacks.md"
    page.write_text(f"# Attacks\n\n{module.BEGIN}old\n{module.END}after\n", "utf-8")
    folder = tmp_path / "adversarial"
    folder.mkdir()
    for name, value in {"FOLDER": folder, "PAGE": page, "ROOT": tmp_path}.items():
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(sys, "argv", ["attacks"])
    return module


WHOLE = '''
"""Keys that are guessed. More words."""

@pytest.mark.parametrize("key", ["a"])
@pytest.mark.attack("a key " "is guessed", required="401")
async def test_guessing(key): ...

class TestOthers:
    @pytest.mark.attack("a method", required="nothing happens")
    def test_method(self): ...

def no_test(): ...
'''


def test_the_table_holds_what_the_markers_say(script):
    (script.FOLDER / "test_keys.py").write_text(WHOLE, "utf-8")
    assert script.main() == 0
    page = script.PAGE.read_text("utf-8")
    assert "\n## Keys that are guessed. More words\n" in page
    assert "| a key is guessed | 401 | `test_keys.py::test_guessing` |\n" in page
    assert "| a method | nothing happens | `test_keys.py::test_method` |\n" in page
    assert "no_test" not in page
    assert "old" not in page
    assert page.startswith("# Attacks\n")
    assert page.endswith("after\n")


def test_check_writes_nothing_and_fails_until_the_page_is_written(script, monkeypatch, capsys):
    (script.FOLDER / "test_keys.py").write_text(WHOLE, "utf-8")
    before = script.PAGE.read_text("utf-8")
    monkeypatch.setattr(sys, "argv", ["attacks", "--check"])
    assert script.main() == 1
    assert "fix: scripts/attacks.py" in capsys.readouterr().err
    assert script.PAGE.read_text("utf-8") == before
    monkeypatch.setattr(sys, "argv", ["attacks"])
    assert script.main() == 0
    monkeypatch.setattr(sys, "argv", ["attacks", "--check"])
    assert script.main() == 0


@pytest.mark.parametrize(
    "decorators",
    [
        "",
        "@pytest.mark.slow",
        "@pytest.mark.attack",
        '@pytest.mark.attack("a")',
        '@pytest.mark.attack(required="b")',
        '@pytest.mark.attack("a", required="")',
        '@pytest.mark.attack("a", required=TEXT)',
        '@pytest.mark.attack(f"{a}", required="b")',
        '@pytest.mark.attack("a | b", required="b")',
        '@pytest.mark.attack("a <script>", required="b")',
        '@pytest.mark.attack("a", required="b", other="c")',
        '@pytest.mark.attack("a", required="b")\n@pytest.mark.attack("a", required="b")',
    ],
)
def test_a_marker_that_is_missing_or_no_use_is_found(script, decorators):
    tree = ast.parse(f"{decorators}\ndef test_it(): ...\n")
    with pytest.raises(script.InvalidMarkerError, match=r"test_x\.py::test_it.*\nfix: "):
        script.read_attacks("test_x.py", tree)


def test_a_file_without_a_docstring_and_a_page_without_a_place_are_found(script, capsys):
    (script.FOLDER / "test_keys.py").write_text("", "utf-8")
    assert script.main() == 1
    assert "test_keys.py: the file has no docstring" in capsys.readouterr().err
    (script.FOLDER / "test_keys.py").write_text('"""Keys."""\n', "utf-8")
    script.PAGE.write_text("# Attacks\n", "utf-8")
    assert script.main() == 1
    assert "no place for the table" in capsys.readouterr().err


FOLDER = Path(__file__).resolve().parents[3] / "scripts" / "chaos"
FAST, SLOW = [0.01] * 200, [0.01] * 190 + [0.04] * 10


@pytest.fixture(scope="module")
def modules():
    sys.path.insert(0, str(FOLDER))
    try:
        names = ("hostile_verdict", "hostile_kinds", "hostile_documents", "hostile_upstream")
        return [importlib.import_module(name) for name in names]
    finally:
        sys.path.remove(str(FOLDER))


def found(verdict: Any, alone: dict[str, Any], beside: dict[str, Any], **changes: Any) -> Any:
    """A trial in which nothing is wrong but the changes."""
    values = {
        "kind": "bombs",
        "alone": verdict.Window(calls=FAST, jobs=FAST, **alone),
        "beside": verdict.Window(**{"calls": FAST, "jobs": FAST} | beside),
        "peak_mb": 150.0,
        "answers": {"502": 10},
        "findings": [],
        "lived": True,
    }
    return verdict.Found(**values | changes)


def test_a_trial_without_a_fault_meets_all_bars(modules):
    verdict = modules[0]
    trial = found(verdict, {}, {})
    assert trial.failures == []
    assert verdict.table([trial], {})[1].endswith("met")


@pytest.mark.parametrize(
    ("alone", "beside", "changes", "failure"),
    [
        ({}, {"calls": SLOW}, {}, "calls: the p99 is 4.0 times that alone"),
        ({}, {"jobs": SLOW}, {}, "jobs: the p99 is 4.0 times that alone"),
        ({}, {"calls": []}, {}, "calls: none was answered"),
        ({}, {"failed": {"rest 429": 1}}, {}, "others were refused: rest 429 1"),
        ({"failed": {"rest 429": 1}}, {}, {}, "others were refused without an attack: rest 429 1"),
        ({}, {}, {"peak_mb": 401.0}, "401 MB are resident"),
        ({}, {}, {"lived": False}, "the process died"),
        ({}, {}, {"findings": ["canary: the log"]}, "canary: the log"),
        ({}, {}, {"answers": {"404": 5}}, "the attack did not reach the gateway"),
    ],
)
def test_each_planted_fault_is_found(modules, alone, beside, changes, failure):
    verdict = modules[0]
    trial = found(verdict, alone, beside, **changes)
    assert trial.failures == [failure]
    assert verdict.table([trial], {})[1].endswith("missed")


def test_windows_of_several_turns_are_one(modules):
    verdict = modules[0]
    both = verdict.Window(calls=[1.0], failed={"rest 429": 1})
    both.add(verdict.Window(calls=[2.0], jobs=[3.0], failed={"rest 429": 2, "job failed": 1}))
    assert (both.calls, both.jobs) == ([1.0, 2.0], [3.0])
    assert both.failed == {"rest 429": 3, "job failed": 1}


def test_each_attack_has_what_it_asks_for(modules):
    _, kinds, documents, upstream = modules
    assert set(kinds.LASTING) <= set(kinds.KINDS)
    offered = documents.evil()["paths"]
    assert {f"/{name}" for name in upstream.NAMES} == set(offered)
    assert {"/oauth/echo", *(f"/{name}" for name in upstream.ECHOES)} == set(
        documents.secretive()["paths"]
    )
    assert {f"/{name}" for name in documents.chained()} == set(documents.chains()["paths"])
    assert json.loads(documents.hanging())["openapi"] == "3.1.0"
