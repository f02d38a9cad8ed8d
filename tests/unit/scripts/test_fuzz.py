"""The fuzzer of proofs finds what is wrong, makes it small, and says the same for the same seed."""

import importlib
import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import pytest

from gateway.contract.schemas.containment import Contained, Undecided, Witness

FOLDER: Final = str(Path(__file__).parents[3] / "scripts" / "fuzz")
MODULES: Final = ("authority", "covers", "outcome", "proofs", "random_schemas", "shrink")


@pytest.fixture
def fuzz(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules of the fuzzer, which are no package."""
    monkeypatch.syspath_prepend(FOLDER)
    for name in MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield {name: importlib.import_module(name) for name in MODULES}
    for name in MODULES:
        sys.modules.pop(name, None)


def run(fuzz: Any, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    code = fuzz["proofs"].main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_the_proofs_of_a_seed_are_right(fuzz: Any, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = run(fuzz, capsys, "--pairs", "300", "--seed", "test")
    assert code == 0, report
    assert report["unsound"] == []
    assert report["total"] >= 300
    assert report["verdicts"]["contained"] > 30
    assert report["verdicts"]["witness"] > 30
    seed = "test/0"
    first, second = fuzz["covers"].trial(seed), fuzz["covers"].trial(seed)
    assert [each.verdict for each in first] == [each.verdict for each in second]


def test_each_proof_is_judged_on_as_many_values_as_wished(
    fuzz: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = run(fuzz, capsys, "--pairs", "100", "--seed", "test", "--draws", "300")
    assert code == 0, report
    proved = report["verdicts"]["contained"]
    assert report["drawn"] > 50 * (proved - report["empty"]) > 0
    assert report["untried"] == 0
    with pytest.raises(SystemExit):
        run(fuzz, capsys, "--kind", "maps", "--draws", "1")


def test_a_value_that_no_sample_has_is_drawn_from_others(fuzz: Any) -> None:
    outer = {"not": {"minimum": 700, "maximum": 900}}
    case = {"outer": outer, "inner": {"type": "number"}}
    assert fuzz["covers"].judged(case, "test").verdict == "witness"
    wrong = fuzz["outcome"].Outcome(fuzz["outcome"].Verdict.CONTAINED, case)
    found = fuzz["covers"].drawn(wrong, "test", 500)
    assert found.verdict == "unsound"
    assert not fuzz["authority"].Authority(outer).admits(found.case["values"][0])


@pytest.mark.parametrize("answer", [Contained(), Witness(None)])
def test_a_wrong_answer_is_found_and_made_small(
    fuzz: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    monkeypatch.setattr(fuzz["covers"], "containment", lambda *_: answer)
    monkeypatch.setattr(fuzz["proofs"], "_SHOWN", 1)
    code, report = run(fuzz, capsys, "--pairs", "10", "--seed", "test")
    assert code == 1
    small = report["unsound"][0]
    assert len(json.dumps([small["outer"], small["inner"]])) < 150


def test_too_much_that_is_undecided_fails(
    fuzz: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz["covers"], "containment", lambda *_: Undecided("no idea"))
    code, report = run(fuzz, capsys, "--pairs", "10")
    assert code == 1
    assert report["reasons"]["no idea"] == report["total"]


def test_the_authority_reads_patterns_and_numbers_exactly(fuzz: Any) -> None:
    authority = fuzz["authority"].Authority
    assert not authority({"pattern": "^a$"}).admits("a\n")
    assert not authority({"patternProperties": {"^a$": False}}).admits({"a": 1})
    assert authority({"patternProperties": {"^a$": False}}).admits({"a\n": 1})
    assert authority({"pattern": r"^[$]\$$"}).admits("$$")
    assert not authority({"pattern": r"^\d$"}).admits("\u0661")
    assert authority({"multipleOf": 0.1}).admits(0.3)
    assert not authority({"multipleOf": 0.01}).admits(1.005)
    assert authority({"type": "integer"}).admits(1.0)


@pytest.mark.parametrize("divisor", [5e-324, 0.3, 0.7, 1.1e-7])
def test_the_authority_divides_large_numbers_exactly(fuzz: Any, divisor: float) -> None:
    is_multiple = Fraction(int(1e300)) % Fraction(repr(divisor)) == 0
    authority = fuzz["authority"].Authority({"multipleOf": divisor})
    assert authority.admits(1e300) == is_multiple
