"""The verdicts of the trial of an upstream that fails."""

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

CHAOS = Path(__file__).parents[3] / "scripts" / "chaos"


@pytest.fixture
def verdict(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(CHAOS))
    return importlib.import_module("upstream_verdict")


def verdicts(verdict: ModuleType, **changes: Any) -> dict[str, str]:
    found = {
        "fault": "503",
        "share": 1.0,
        "calls": 1000,
        "requests": 1000,
        "healthy": {"ok": 40},
        "answers": {"upstream-unavailable": 5, "not-sent": 900, "limit-exceeded": 95},
        "seconds_to_open": 0.2,
        "before": verdict.Times(2, 4),
        "during": verdict.Times(2, 4),
        "ratio": verdict.Ratio(1.0, 0.95, 1.05),
        "other_failed": {},
    }
    made: dict[str, str] = verdict.Found(**found | changes).verdicts
    return made


def test_all_bars_can_be_met(verdict: ModuleType) -> None:
    assert set(verdicts(verdict).values()) == {"met"}


@pytest.mark.parametrize(
    ("bar", "changes"),
    [
        ("requests", {"requests": 1201}),
        ("opens", {"seconds_to_open": 5.1}),
        ("opens", {"seconds_to_open": None}),
        ("codes", {"answers": {"internal-error": 1, "not-sent": 999}}),
        ("codes", {"answers": {"no-answer": 1, "not-sent": 999}}),
        ("codes", {"answers": {"upstream-timeout": 1000}}),
        ("codes", {"healthy": {"ok": 39, "not-sent": 1}}),
        ("codes", {"healthy": {"limit-exceeded": 40}}),
        ("others", {"other_failed": {"limit-exceeded": 1}}),
    ],
)
def test_each_bar_can_be_missed(verdict: ModuleType, bar: str, changes: dict[str, Any]) -> None:
    found = verdicts(verdict, **changes)
    assert [name for name, each in found.items() if each != "met"] == [bar]
    assert found[bar] == "missed"


def test_a_breaker_need_not_open_when_half_of_the_replies_are_good(verdict: ModuleType) -> None:
    assert verdicts(verdict, share=0.5, seconds_to_open=None)["opens"] == "-"
    assert verdicts(verdict, share=0.75, seconds_to_open=None)["opens"] == "missed"


def test_a_breaker_need_not_open_when_the_upstream_answers(verdict: ModuleType) -> None:
    garbage = {"fault": "garbage", "answers": {"invalid-reply": 1000}, "seconds_to_open": None}
    assert verdicts(verdict, **garbage) == {
        "requests": "met",
        "opens": "-",
        "codes": "met",
        "others": "met",
    }


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [(0.9, 1.1, "met"), (1.09, 1.11, "unclear"), (0.2, 9.0, "unclear"), (1.11, 1.3, "missed")],
)
def test_the_p99_of_others_is_judged_by_its_interval(
    verdict: ModuleType, low: float, high: float, found: str
) -> None:
    assert verdicts(verdict, ratio=verdict.Ratio(1.0, low, high))["others"] == found


def test_equal_times_have_the_ratio_one_and_no_doubt(verdict: ModuleType) -> None:
    assert verdict.ratio([0.01] * 50, [0.01] * 50) == verdict.Ratio(1.0, 1.0, 1.0)


def test_a_few_slow_calls_widen_the_interval(verdict: ModuleType) -> None:
    found = verdict.ratio([0.01] * 100, [0.01] * 98 + [1.0] * 2)
    assert (found.value, found.low, found.high) == pytest.approx((100.0, 1.0, 100.0))


def test_the_table_has_each_verdict_and_each_code(verdict: ModuleType) -> None:
    trial = verdict.Found(
        fault="503",
        share=1.0,
        calls=10,
        requests=5,
        healthy={"ok": 1},
        answers={"not-sent": 10},
        seconds_to_open=None,
        before=verdict.Times(2, 4),
        during=verdict.Times(3, 6),
        ratio=verdict.Ratio(1.5, 1.2, 1.8),
        other_failed={"no-answer": 3},
    )
    shown = "\n".join(verdict.table([trial]))
    for text in (
        "0.50",
        "2 > 3",
        "4 > 6",
        "1.50 (1.20 to 1.80)",
        "others missed",
        "not-sent 10; others: no-answer 3",
    ):
        assert text in shown
