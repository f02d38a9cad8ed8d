"""How what has ended is freed: by itself, a part at a time, and nothing else is visited."""

import asyncio
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

import pytest

from gateway.app import memory
from gateway.app.memory import Settling
from tests.eventually import PATIENCE_SECONDS

MANY = 20_000


class Node:
    """Refers to itself, so only a collection frees it."""

    def __init__(self, *others: object) -> None:
        self.itself = self
        self.others = [*others]


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_LET_GO_SECONDS", 0.01)
    monkeypatch.setattr(memory, "_APART_SECONDS", 0.01)


@contextmanager
def collections() -> Iterator[list[int]]:
    """The generations of the collector that are collected meanwhile. None of them by itself."""
    seen: list[int] = []

    def note(phase: str, found: dict[str, Any]) -> None:
        if phase == "start":
            seen.append(found["generation"])

    before = gc.get_threshold()
    gc.set_threshold(0)
    gc.callbacks.append(note)
    try:
        yield seen
    finally:
        gc.callbacks.remove(note)
        gc.set_threshold(*before)


async def settled(settling: Settling, alive: "WeakSet[Node]") -> None:
    """Wait until it has nothing to do, which it may not before all of `alive` are freed."""
    assert settling._task is not None
    await asyncio.wait_for(settling._task, PATIENCE_SECONDS)
    assert not alive


async def test_what_has_ended_is_freed_and_only_the_youngest_objects_are_visited() -> None:
    """It is as old as all that stays, which would take longer to visit."""
    living = [Node() for _ in range(10)]
    parts = [Node(living[0]), Node(living[1]), Node(living[2])]
    for first, second in ((0, 1), (1, 2)):
        parts[first].others += [Node(parts[second], living[3]) for _ in range(MANY)]
    alive = WeakSet[Node](parts)
    gc.collect()
    settling = Settling(lambda: living)
    with collections() as seen:
        settling.plan(*parts)
        parts.clear()
        await settled(settling, alive)
    assert set(seen) == {0}
    assert all(each.itself is each and each.others == [] for each in living)


async def test_each_part_is_freed_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is freed at once stops all calls: the pauses are shorter, not the work."""
    freed: list[int] = []
    last = Node()
    second = Node(last)
    parts = [Node(second), second, last]
    del second, last
    alive = WeakSet(parts)
    monkeypatch.setattr(memory, "give_back", lambda: freed.append(3 - len(alive)))
    settling = Settling(lambda: None)
    settling.plan(*parts)
    parts.clear()
    await settled(settling, alive)
    assert freed == [1, 2, 3]


async def test_generations_that_end_while_one_is_freed_are_freed_after_it() -> None:
    settling, alive = Settling(lambda: None), WeakSet[Node]()
    for _ in range(5):
        parts = [Node(), Node(), Node()]
        alive.update(parts)
        settling.plan(*parts)
        del parts
        await asyncio.sleep(0.01)
    await settled(settling, alive)


async def test_generations_that_end_together_are_freed_at_once() -> None:
    """They come faster than one is looked for. Memory counts more than the pause."""
    settling, alive = Settling(lambda: None), WeakSet[Node]()
    with collections() as seen:
        for _ in range(3):
            parts = [Node(), Node(), Node()]
            alive.update(parts)
            settling.plan(*parts)
            del parts
        await settled(settling, alive)
    assert seen == [2]


async def test_what_is_cut_short_leaves_the_collector_on() -> None:
    settling = Settling(lambda: None)
    settling.plan(Node([Node() for _ in range(MANY)]))
    await asyncio.sleep(0.02)
    await settling.close()
    assert gc.isenabled()
