"""When memory is settled after generations have ended."""

import asyncio

import pytest

from gateway.app import memory
from gateway.app.memory import Settling
from tests.eventually import PATIENCE_SECONDS

pytestmark = pytest.mark.usefixtures("time_leaps")


async def test_generations_that_end_together_are_settled_once_and_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last of them may have ended just before the first time."""
    times = asyncio.Queue[None]()
    monkeypatch.setattr(memory, "settle", lambda: times.put_nowait(None))
    monkeypatch.setattr(memory, "_LET_GO_SECONDS", 0.01)
    settling = Settling()
    for ending, wanted in ((1, 1), (5, 2), (1, 1)):
        for _ in range(ending):
            settling.plan()
        async with asyncio.timeout(PATIENCE_SECONDS):
            for _ in range(wanted):
                await times.get()
        await asyncio.sleep(0.05)
        assert times.empty()
