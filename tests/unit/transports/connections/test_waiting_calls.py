"""Calls that wait for their turn, and processes that share connections."""

import random
from collections import Counter
from functools import partial

from gateway.transports.connections.listen import ConnectionCounts, Turn
from gateway.transports.connections.queue import Flow, WaitingCall, WaitingCalls

HOSTS = "abcd"
TOOLS = (b"one", b"two", b"three")


class Model:
    """The same by counting everything each time."""

    def __init__(self) -> None:
        self.waiting = WaitingCalls()
        self.counts: Counter[Flow] = Counter()

    def of_host(self, host: object) -> int:
        return sum(count for flow, count in self.counts.items() if flow.host == host)

    def may_displace(self, flow: Flow) -> bool:
        own, most = self.of_host(flow.host), max(map(self.of_host, HOSTS))
        if own < most or not own:
            return 2 * (own + 1) <= most
        tools = [count for each, count in self.counts.items() if each.host == flow.host]
        return 2 * (self.counts[flow] + 1) <= max(tools)

    def add(self, flow: Flow) -> None:
        self.counts[flow] += 1
        call = WaitingCall(partial(self._gone, flow), partial(self._gone, flow))
        self.waiting.add(flow, call)

    def _gone(self, flow: Flow) -> None:
        self.counts[flow] -= 1


def test_places_are_given_up_to_who_has_fewer_calls() -> None:
    chance = random.Random(7)  # noqa: S311 - no secret
    model = Model()
    displaced = 0
    for _ in range(5000):
        flow = Flow(chance.choice(HOSTS), chance.choice(TOOLS))
        expected = model.may_displace(flow)
        assert model.waiting.may_displace(flow.host, lambda flow=flow: flow.tool) is expected
        if expected and chance.random() < 0.5:
            before = max(map(model.of_host, HOSTS))
            model.waiting.displace(flow.host).refuse()
            assert max(map(model.of_host, HOSTS)) in {before, before - 1}
            displaced += 1
        if chance.random() < 0.5:
            model.add(flow)
        elif model.waiting:
            model.waiting.take().begin()
        assert len(model.waiting) == sum(model.counts.values())
    assert displaced > 100


def test_hosts_and_their_tools_take_turns() -> None:
    begun: list[tuple[str, bytes]] = []
    waiting = WaitingCalls()
    for host, tool in ("aa", "aa", "ab", "ba", "aa"):
        call = WaitingCall(partial(begun.append, (host, tool.encode())), lambda: None)
        waiting.add(Flow(host, tool.encode()), call)
    while waiting:
        waiting.take().begin()
    assert begun == [("a", b"a"), ("b", b"a"), ("a", b"b"), ("a", b"a"), ("a", b"a")]


def test_a_process_is_busier_than_one_with_fewer_connections() -> None:
    counts = ConnectionCounts(3)
    one, two = Turn(counts, 0), Turn(counts, 1)
    assert not one.is_busier(5), "the others have not started"
    assert not two.is_busier(5)
    assert not two.is_busier(4)
    assert one.is_busier(5)
    assert not one.is_busier(4)


def test_nobody_waits_for_a_process_that_has_ended() -> None:
    counts = ConnectionCounts(2)
    one, two = Turn(counts, 0), Turn(counts, 1)
    assert not two.is_busier(0)
    assert one.is_busier(1)
    counts.forget(1)
    assert not one.is_busier(1)
