"""The trial of attacks finds what it must find: each planted fault turns its verdict red."""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

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
