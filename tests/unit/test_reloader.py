"""What the reloader does when an old generation has ended."""

import asyncio
import logging
from types import SimpleNamespace

import pytest

from gateway.app.reloading import Generation, Reloader


class Retiring:
    """A reloader that ends an old generation, and what happens to the generations."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.noted: list[str] = []
        parts = SimpleNamespace(
            work=SimpleNamespace(wake=lambda: self.noted.append("woken")),
            store=SimpleNamespace(forget_statements=lambda: self.noted.append("forgotten")),
        )
        new = SimpleNamespace(gateway=SimpleNamespace(parts=parts), close=self._close_new)
        old = Generation.__new__(Generation)
        old._requests = set()
        old.gateway = SimpleNamespace(parts=SimpleNamespace(catalogue=None))
        old.drain, old.close = self._drain, self._close_old
        self._failure = failure
        self.reloader = Reloader(SimpleNamespace(current=new), None, None, None, "")
        self.reloader._settling.plan = lambda *_: None
        self.task = asyncio.create_task(self.reloader._retire(old, 1.0))
        self.reloader._retiring[old] = self.task

    async def _drain(self, _seconds: float) -> int:
        return 0

    async def _close_old(self) -> None:
        self.noted.append("old closed")
        if self._failure is not None:
            raise self._failure

    async def _close_new(self) -> None:
        self.noted.append("new closed")


async def test_what_an_old_generation_gave_back_is_looked_for_at_once():
    """On SQLite nobody looks often, because whoever adds a job wakes its own worker."""
    retiring = Retiring()
    await retiring.task
    assert retiring.noted == ["old closed", "woken", "forgotten"]


async def test_one_that_cannot_be_closed_keeps_no_other_open(caplog: pytest.LogCaptureFixture):
    retiring = Retiring(OSError("no disk"))
    await retiring.reloader.close()
    assert retiring.noted == ["old closed", "woken", "forgotten", "new closed"]
    assert "could not be closed" in caplog.text
    assert [each.levelno for each in caplog.records] == [logging.ERROR]
