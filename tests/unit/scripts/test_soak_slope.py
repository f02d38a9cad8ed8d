"""The slope of memory is that of most pairs of samples, whatever a few of them are."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

CHAOS = Path(__file__).parents[3] / "scripts" / "chaos"


@pytest.fixture
def slope(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(CHAOS))
    return importlib.import_module("slope")


def test_a_line_has_its_slope_and_no_doubt(slope: ModuleType) -> None:
    found = slope.theil_sen([(at, 150 + 2 * at) for at in range(10)])
    assert (found.value, found.low, found.high) == (2, 2, 2)


def test_outliers_move_nothing(slope: ModuleType) -> None:
    points = [(at, 150.0 + 2 * at) for at in range(40)]
    points[7] = (7, 500.0)
    points[30] = (30, 0.0)
    assert slope.theil_sen(points).value == pytest.approx(2)


def test_noise_without_a_trend_has_zero_in_its_interval(slope: ModuleType) -> None:
    points = [(at, 150.0 + (at * 7919 % 13)) for at in range(60)]
    found = slope.theil_sen(points)
    assert found.low < 0 < found.high


def test_a_trend_in_noise_has_no_zero_in_its_interval(slope: ModuleType) -> None:
    points = [(at, 150.0 + at + (at * 7919 % 13)) for at in range(60)]
    found = slope.theil_sen(points)
    assert 0 < found.low < 1 < found.high


def test_two_samples_have_no_slope(slope: ModuleType) -> None:
    with pytest.raises(ValueError, match="three points"):
        slope.theil_sen([(0, 1), (1, 2)])
