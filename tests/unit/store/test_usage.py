"""The rule by which calls are counted."""

from itertools import pairwise

from gateway.store.usage import Demand, Entries, LimitKind, take_all

SECOND = 1_000_000


def test_a_large_window_keeps_groups_and_never_holds_too_much() -> None:
    demand = Demand(counter="c", max=300, kind=LimitKind.WINDOW, seconds=100)
    held: Entries = {}
    times: list[float] = []

    for tick in range(4000):
        now = tick * SECOND // 13
        if not take_all([demand], {"c": held}, "call", now).refused:
            times.append(now / SECOND)
        assert len(held) <= 258

    assert max(sum(start <= each < start + 100 for each in times) for start in times) == 300
    assert len(times) > 880
    assert all(later - earlier < 101 for earlier, later in pairwise(times))
