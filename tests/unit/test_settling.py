"""When memory is settled after generations have ended."""

import asyncio
from weakref import WeakSet

import pytest

from gateway.app import memory
from gateway.app.memory import Settling
from tests.eventually import PATIENCE_SECONDS

pytestmark = pytest.mark.usefixtures("time_leaps")


class Opened:
    """A catalogue."""


async def test_generations_that_end_together_are_settled_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Their catalogues are kept until after the first time, which then has less to free."""
    alive = WeakSet[Opened]()
    times = asyncio.Queue[int]()
    monkeypatch.setattr(memory, "settle", lambda: times.put_nowait(len(alive)))
    monkeypatch.setattr(memory, "_LET_GO_SECONDS", 0.01)
    settling = Settling()
    for ending in (1, 5, 1):
        for _ in range(ending):
            catalogue = Opened()
            alive.add(catalogue)
            settling.plan(catalogue)
        del catalogue
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert [await times.get(), await times.get()] == [ending, 0]
        await asyncio.sleep(0.05)
        assert times.empty()
