"""The gateway keeps its promises in any order of events, and leaves nothing behind."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.calls import dispatch
from tests.simulation.simulate import Outcome, make_template, simulate

Simulate = Callable[[int], Outcome]
GROUPS = 40


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_template(tmp_path_factory.mktemp("template"))


@pytest.fixture
def run(tmp_path: Path, template: Path) -> Simulate:
    """Runs a seed in a folder of its own."""
    runs = iter(range(1000))

    def simulated(seed: int) -> Outcome:
        folder = tmp_path / f"{seed}-{next(runs)}"
        folder.mkdir()
        return simulate(seed, folder, template)

    return simulated


@pytest.mark.slow
@pytest.mark.parametrize("group", range(GROUPS))
def test_nothing_is_violated(run: Simulate, group: int) -> None:
    """Two hundred seeds. `scripts/chaos/simulation.py` runs as many as one likes."""
    seeds = range(5 * group, 5 * (group + 1))
    violations = {seed: outcome.violations for seed in seeds if (outcome := run(seed)).violations}
    assert violations == {}


@pytest.mark.parametrize("seed", [7, 719])
def test_a_seed_gives_the_same_run_again(run: Simulate, seed: int) -> None:
    """In 719, two lanes have equal shares, and workers draw lots."""
    assert run(seed) == run(seed)
    assert run(seed).trace != run(8).trace


def test_a_planted_bug_is_found(run: Simulate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Locks that each generation has for itself: two calls hold one of them across a reload."""
    begin = dispatch.Dispatcher.__init__

    def forgetful(self: Any, *arguments: Any, locks: Any = None, **options: Any) -> None:
        begin(self, *arguments, locks=None, **options)

    monkeypatch.setattr(dispatch.Dispatcher, "__init__", forgetful)
    assert any("two calls hold one lock" in run(seed).violations for seed in range(115, 300))
