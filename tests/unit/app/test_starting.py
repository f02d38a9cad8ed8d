"""The start of an application: its lifespan, its processes, and what it announces."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from gateway.app.gateway import announce_contract
from gateway.app.processes.supervisor import Callbacks, Supervisor, _Child
from gateway.app.reloading import lifespan_of
from gateway.store.sql.engine import open_store


class Slow:
    """An application whose start waits."""

    def __init__(self) -> None:
        self.is_starting = asyncio.Event()
        self.has_ended = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        self.is_starting.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.has_ended = True


async def test_a_start_that_is_cancelled_leaves_no_application() -> None:
    """As when a server is stopped while it reloads."""
    app = Slow()
    starting = asyncio.create_task(lifespan_of(app).__aenter__())
    await app.is_starting.wait()
    starting.cancel()
    await asyncio.wait([starting])
    assert starting.cancelled()
    assert app.has_ended
    assert asyncio.all_tasks() == {asyncio.current_task()}


PROCESSES = 4


Starts = Callable[[int], _Child]


@pytest.fixture
def sockets() -> Iterator[Callable[[], socket.socket]]:
    with ExitStack() as stack:
        yield lambda: stack.enter_context(socket.socket())


@pytest.fixture
def supervisor(sockets: Callable[[], socket.socket]) -> Iterator[Supervisor]:
    callbacks = Callbacks(on_ready=lambda: None, on_verdict=lambda _: None)
    made = Supervisor(sockets(), PROCESSES, callbacks)
    yield made
    made._selector.close()
    made._mailboxes.close()


@pytest.fixture
def started(supervisor: Supervisor, sockets: Callable[[], socket.socket]) -> Starts:
    """Has the supervisor know that it has just started this process."""

    def start(number: int) -> _Child:
        child = supervisor._children[number] = _Child(number, 100 + number, sockets(), 0)
        return child

    return start


def test_the_others_are_started_when_the_first_one_serves(
    supervisor: Supervisor, started: Starts
) -> None:
    supervisor._note_ready(started(0))
    assert sorted(supervisor._due) == [1, 2, 3]


def test_none_is_started_twice_when_the_first_one_dies_before_all_serve(
    supervisor: Supervisor, started: Starts
) -> None:
    supervisor._note_ready(started(0))
    del supervisor._due[1]
    started(1)
    supervisor._due[2] = (5.0, 1)

    supervisor._note_ready(started(0))

    assert supervisor._due == {2: (5.0, 1), 3: (0.0, 0)}


async def announced(*digests: str, times: int = 1) -> list[str]:
    store = await open_store("memory:")
    try:
        for digest in digests:
            await asyncio.gather(*(announce_contract(store.events, digest) for _ in range(times)))
            await store.events.sequence(100)
        return [each.data["contract"] for each in await store.events.after(0, 100)]
    finally:
        await store.close()


async def test_a_contract_that_comes_back_and_changes_again_is_published_each_time() -> None:
    assert await announced(*"ABABC") == [*"ABABC"]


async def test_what_is_served_as_before_is_not_published() -> None:
    assert await announced(*"AAB") == [*"AB"]


async def test_processes_that_start_at_once_publish_one_change() -> None:
    assert await announced(*"AB", times=4) == [*"AB"]
