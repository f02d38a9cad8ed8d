"""Token buckets, budgets of bytes, and turns: exact, in bounded memory, and given back."""

import asyncio
from functools import partial
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.bounds.rates import Bucket, PeerBuckets, Spread
from gateway.bounds.shares import BodyBudgets, BodyCharge, ByteBudget, LoopTurns
from gateway.contract.webhook import SourceRate
from tests.clocks import ManualClock

RATE = SourceRate(per_second=10, burst=3)


def test_a_bucket_gives_its_burst_at_once_and_then_its_rate() -> None:
    bucket = Bucket(RATE, 0.0)
    assert [bucket.take(0.0) for _ in range(3)] == [0.0, 0.0, 0.0]
    assert bucket.take(0.0) == pytest.approx(0.1)
    assert bucket.take(0.05) == pytest.approx(0.05)
    assert bucket.take(0.1) == 0.0
    assert bucket.take(0.1) > 0.0


def test_looking_takes_nothing() -> None:
    bucket = Bucket(RATE, 0.0)
    assert [bucket.wait_seconds(0.0) for _ in range(9)] == [0.0] * 9
    assert [bool(bucket.take(0.0)) for _ in range(4)] == [False, False, False, True]


@given(st.lists(st.floats(0, 2), max_size=200))
def test_no_more_than_burst_and_rate_are_given_in_any_time(pauses) -> None:
    bucket, now, given_away = Bucket(RATE, 0.0), 0.0, 0
    for pause in pauses:
        now += pause
        given_away += not bucket.take(now)
    assert given_away <= RATE.burst + RATE.per_second * now + 1e-6


def test_a_clock_that_goes_back_gives_nothing_away() -> None:
    bucket = Bucket(RATE, 100.0)
    for _ in range(3):
        bucket.take(100.0)
    assert bucket.take(50.0) > 0.0


def test_each_peer_has_its_own_bucket() -> None:
    peers = PeerBuckets(SourceRate(per_second=1, burst=1), ManualClock())
    for text in ("192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1"):
        assert peers.take(ip_address(text)) == 0.0
        assert peers.take(ip_address(text)) > 0.0
    assert peers.take(None) == 0.0
    assert peers.take(None) > 0.0


def test_who_has_one_address_of_an_ipv6_network_has_them_all() -> None:
    peers = PeerBuckets(SourceRate(per_second=1, burst=1), ManualClock())
    assert peers.take(ip_address("2001:db8::1")) == 0.0
    assert peers.take(ip_address("2001:db8::ffff:1")) > 0.0


def test_a_million_peers_take_the_memory_of_a_few() -> None:
    clock = ManualClock()
    peers = PeerBuckets(SourceRate(per_second=1, burst=1), clock, max_peers=100)
    for number in range(100_000):
        peers.take(ip_address(number + 1))
    assert len(peers) == 100
    assert peers.take(ip_address(100_000)) > 0.0, "the latest is still known"


def test_one_host_may_hold_its_part_and_all_together_the_whole() -> None:
    budget = ByteBudget(10, 4)
    assert budget.take("a", 4)
    assert not budget.take("a", 1)
    assert budget.take("b", 4)
    assert not budget.take("c", 3)
    budget.give("a", 4)
    assert budget.take("c", 3)
    assert budget.taken == 7


def test_a_proxy_is_too_much_only_together_with_all_others() -> None:
    budget = ByteBudget(10, 4)
    assert budget.take(None, 9)
    assert not budget.take(None, 2)
    budget.give(None, 9)
    assert budget.taken == 0


def test_what_unauthenticated_clients_hold_is_not_missing_to_callers() -> None:
    budgets = BodyBudgets(ByteBudget(4, 4), ByteBudget(8, 8))
    unauthenticated, caller = BodyCharge(budgets, "a"), BodyCharge(budgets, "a")
    assert unauthenticated.take(4, "a", is_authenticated=False)
    assert not unauthenticated.take(1, "a", is_authenticated=False)
    assert caller.take(8, "a", is_authenticated=True)
    assert not caller.take(1, "a", is_authenticated=True)
    for charge in (unauthenticated, caller, unauthenticated):
        charge.release()
    assert (budgets.unauthenticated.taken, budgets.callers.taken) == (0, 0)
    assert budgets.unauthenticated._of_host == {}


def test_what_waits_for_its_turn_is_an_unauthenticated_clients_until_it_is_read() -> None:
    budgets = BodyBudgets(ByteBudget(8, 4), ByteBudget(8, 8))
    charge, left = BodyCharge(budgets, None), BodyCharge(budgets, "proxy")
    assert charge.queue(2)
    assert charge.queue(2)
    assert left.queue(4)
    assert not charge.queue(1)
    assert charge.take(6, "a", is_authenticated=True)
    assert (budgets.unauthenticated.taken, budgets.callers.taken) == (4, 6)
    for each in (charge, left, left):
        each.release()
    assert (budgets.unauthenticated.taken, budgets.callers.taken) == (0, 0)
    assert budgets.unauthenticated._of_host == {}


def test_what_comes_at_once_falls_due_one_after_the_other() -> None:
    spread = Spread(1.0, 0.25, 9.0)
    assert [spread.next(10.0) for _ in range(4)] == [11.0, 11.25, 11.5, 11.75]


def test_what_comes_alone_waits_for_nobody() -> None:
    spread = Spread(1.0, 0.25, 9.0)
    spread.next(10.0)
    assert spread.next(20.0) == pytest.approx(21.0)


def test_nothing_is_put_off_for_longer_however_much_there_was() -> None:
    """A host that leaves before its refusals are due does not put off those of others."""
    spread = Spread(1.0, 0.25, 2.0)
    assert max(spread.next(10.0) for _ in range(1000)) == pytest.approx(12.0)


async def test_one_part_is_done_in_each_pass_of_the_loop():
    turns, done = LoopTurns(), []
    for part in range(3):
        turns.wait("one", partial(done.append, part))
    seen = []
    for _ in range(3):
        await asyncio.sleep(0)
        seen.append(len(done))
    assert seen == [1, 2, 3]


async def test_owners_take_turns_however_much_each_has_to_do():
    turns, done = LoopTurns(), []
    for part in range(3):
        turns.wait("much", partial(done.append, f"much {part}"))
    turns.wait("little", partial(done.append, "little"))
    for _ in range(4):
        await asyncio.sleep(0)
    assert done == ["much 0", "little", "much 1", "much 2"]


async def test_work_may_wait_for_another_turn():
    turns, done = LoopTurns(), []

    def again():
        done.append("again")
        if len(done) < 4:
            turns.wait("one", again)

    turns.wait("one", again)
    turns.wait("two", partial(done.append, "two"))
    for _ in range(4):
        await asyncio.sleep(0)
    assert done == ["again", "two", "again", "again"]


async def test_who_waits_again_a_little_later_loses_no_turn():
    turns, done = LoopTurns(), []

    async def work(owner):
        for _ in range(3):
            await turns.turn(owner)
            done.append(owner)

    await asyncio.gather(work("much"), work("much"), work("little"))
    assert "".join(owner[0] for owner in done) == "mlmlmlmmm"


async def test_who_is_cancelled_loses_the_turn():
    turns = LoopTurns()
    waits = asyncio.create_task(turns.turn("one"))
    await asyncio.sleep(0)
    waits.cancel()
    await turns.turn("one")
    assert waits.cancelled()


async def test_what_finds_room_does_not_wait_and_the_rest_takes_turns():
    turns = LoopTurns(at_once=2)
    assert [turns.take() for _ in range(3)] == [True, True, False]
    done = []
    for owner in ("much", "much", "much", "little"):
        turns.wait(owner, partial(done.append, owner))
    await asyncio.sleep(0)
    assert done == ["much", "little"]
    assert not turns.take(), "it would go before those that wait"
    await asyncio.sleep(0)
    assert done == ["much", "little", "much", "much"]
    await asyncio.sleep(0)
    assert turns.take()
