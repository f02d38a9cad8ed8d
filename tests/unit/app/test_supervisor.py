"""Which processes the supervisor starts."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from gateway.app.processes.supervisor import Callbacks, Supervisor, _Child

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
