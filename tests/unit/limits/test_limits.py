"""The limits that apply to a call, and what a refused caller learns."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.auth.principal import Credentials, Grant, Permit, Principal
from gateway.calls.call import Call
from gateway.contract.operation import Effect, Escalation, Operation, PythonBinding
from gateway.contract.policies.limits import AgentLimits, CallWindow, ToolLimits
from gateway.errors import StoreError
from gateway.limits.counting import CallLimits
from gateway.limits.standing import (
    LimitReport,
    LimitUsedUp,
    NotCounted,
    duration,
    rate_limit_headers,
)
from gateway.store.reserving import ReservedUsage
from gateway.store.sql.store import SqlStore
from gateway.store.usage import Return
from tests.clocks import ManualClock
from tests.work import timed

TWICE_AN_HOUR = ToolLimits(calls=(CallWindow(max=2, seconds=3600),))


def operation(name: str, limits: ToolLimits | None = None, **facts: Any) -> Operation:
    return Operation(
        id=f"golf.{name}",
        connector="golf",
        title=name,
        description=name,
        effect=Effect.READ,
        timeout_seconds=10,
        errors=(),
        binding=PythonBinding(run=lambda *_: None),
        limits=limits,
        route=f"/v1/golf/{name}",
        **facts,
    )


class Contracts:
    """Some operations, and the limits of agents."""

    def __init__(self, *operations: Operation, **limits: AgentLimits) -> None:
        self._entries = {
            each.id: SimpleNamespace(id=each.id, operation=each) for each in operations
        }
        self.limits = limits

    def find(self, operation_id: str) -> Any:
        return self._entries[operation_id]


class Limited:
    """Calls counted against the limits of some contracts."""

    def __init__(self, store: SqlStore, clock: ManualClock, *operations: Operation, **limits: Any):
        self.refusals: list[tuple[str, str]] = []
        self.contracts: Any = Contracts(*operations, **limits)
        self.usage = ReservedUsage(store.usage, clock)
        self.limits = CallLimits(
            self.usage, self.contracts, clock, lambda *refusal: self.refusals.append(refusal)
        )

    def call(
        self,
        name: str,
        subject: str = "key_1",
        *,
        agent: str = "golfer",
        effect: Effect = Effect.READ,
        report: LimitReport | None = None,
    ) -> Any:
        principal = Principal(subject=subject, agent=agent)
        permit = Permit(Grant(principal, self.contracts.find(f"golf.{name}")))
        call = Call(
            operation_id=permit.entry.id,
            credentials=Credentials(),
            arguments=b"{}",
            transport="rest",
            request_id="1",
            limits=report,
        )
        return self.limits.counted(permit, effect, call)

    async def made(self, name: str, subject: str = "key_1", **facts: Any) -> bool:
        """Whether a call that ends at once was counted."""
        try:
            async with self.call(name, subject, **facts):
                return True
        except LimitUsedUp:
            return False


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def store(clock: ManualClock) -> AsyncIterator[SqlStore]:
    opened = await timed("memory:", clock)
    yield opened
    await opened.close()


async def test_each_caller_of_a_tool_has_its_own_limit(store, clock) -> None:
    limited = Limited(store, clock, operation("book", TWICE_AN_HOUR), operation("look"))

    made = [await limited.made("book", f"key_{each}") for each in (1, 1, 2, 1, 2, 2)]

    assert made == [True, True, True, False, True, False]
    assert await limited.made("book", agent="other")
    assert all([await limited.made("look") for _ in range(5)])
    assert limited.refusals == [("golf.book", "hour")] * 2


async def test_all_keys_of_an_agent_share_its_limit(store, clock) -> None:
    agent = AgentLimits(calls=(CallWindow(max=3, seconds=60),))
    limited = Limited(store, clock, operation("book"), operation("look"), golfer=agent)

    made = [await limited.made(name, key) for name in ("book", "look") for key in ("k1", "k2")]

    assert made == [True, True, True, False]
    assert await limited.made("look", agent="other")
    assert limited.refusals == [("golf.look", "agent-minute")]


async def test_a_call_that_a_tool_refuses_takes_nothing_of_its_agent(store, clock) -> None:
    agent = AgentLimits(budget=10)
    limited = Limited(
        store, clock, operation("book", TWICE_AN_HOUR), operation("look"), golfer=agent
    )

    assert [await limited.made("book") for _ in range(9)] == [True, True, *[False] * 7]
    assert [await limited.made("look") for _ in range(9)] == [*[True] * 8, False]


async def test_a_costly_call_takes_more_of_the_budget(store, clock) -> None:
    limited = Limited(
        store,
        clock,
        operation("book", ToolLimits(cost=6)),
        operation("look"),
        golfer=AgentLimits(budget=10),
    )

    assert await limited.made("book")
    with pytest.raises(LimitUsedUp) as refused:
        await limited.call("book").__aenter__()

    assert "6 of 10 units" in refused.value.detail
    assert "this call costs 6" in refused.value.detail
    assert refused.value.retry_after_seconds == 9.5 * 3600
    assert await limited.made("look"), "a cheap call still fits"


async def test_a_failed_call_counts(store, clock) -> None:
    limited = Limited(store, clock, operation("book", TWICE_AN_HOUR))

    for _ in range(2):
        with pytest.raises(ValueError, match="boom"):
            async with limited.call("book"):
                raise ValueError("boom")

    assert not await limited.made("book")


async def test_a_read_that_writes_counts_for_the_tool_whose_grant_it_needs(store, clock) -> None:
    escalation = Escalation(when="auto_book", grant="golf.book")
    limited = Limited(
        store, clock, operation("book", TWICE_AN_HOUR), operation("search", escalation=escalation)
    )

    assert await limited.made("book")
    assert await limited.made("search", effect=Effect.WRITE)
    assert await limited.made("search")
    assert not await limited.made("search", effect=Effect.WRITE)
    assert not await limited.made("book")
    assert limited.refusals == [("golf.search", "golf.book-hour"), ("golf.book", "hour")]


async def test_places_are_free_again_when_calls_end(store, clock) -> None:
    limited = Limited(store, clock, operation("book", ToolLimits(concurrent=2)))

    async with limited.call("book"), limited.call("book", "key_1"):
        assert not await limited.made("book")
        assert await limited.made("book", "key_2")
        with pytest.raises(LimitUsedUp, match="2 of 2 calls") as busy:
            await limited.call("book").__aenter__()

    assert busy.value.retry_after_seconds == 1.0
    assert await limited.made("book")
    assert await store.usage.readings(9) == []


async def test_a_place_of_a_call_that_never_ends_is_free_after_its_lease(store, clock) -> None:
    """As after the death of its process."""
    limited = Limited(store, clock, operation("book", ToolLimits(concurrent=1)))
    await limited.call("book").__aenter__()

    clock.advance(39)
    assert not await limited.made("book")
    clock.advance(1)

    assert await limited.made("book")


async def test_a_refused_caller_learns_what_is_used_and_when_it_returns(store, clock) -> None:
    limited = Limited(store, clock, operation("book", TWICE_AN_HOUR))
    for _ in range(2):
        await limited.made("book")
        clock.advance(60)

    with pytest.raises(LimitUsedUp) as refused:
        await limited.call("book").__aenter__()

    facts = refused.value.facts
    assert (facts.name, facts.tool, facts.used, facts.max) == ("hour", "golf.book", 2, 2)
    assert (facts.window_seconds, facts.returns_at) == (3600, "2026-11-20T15:30:00.000Z")
    assert refused.value.retry_after_seconds == 3480
    assert refused.value.is_retryable
    assert refused.value.detail == (
        "2 of 2 calls of golf.book in 1 hour are used up. Try again in 3480 seconds, at "
        "2026-11-20T15:30:00.000Z."
    )


async def test_a_caller_that_asks_again_does_not_reach_the_store(store, clock, monkeypatch) -> None:
    limited = Limited(store, clock, operation("book", TWICE_AN_HOUR))
    for _ in range(3):
        await limited.made("book")
    asked: list[object] = []
    take = store.usage.take

    async def watched(*arguments: Any) -> Any:
        asked.append(arguments)
        return await take(*arguments)

    monkeypatch.setattr(store.usage, "take", watched)
    clock.advance(3000)
    report = LimitReport()
    assert not await limited.made("book", report=report)
    clock.advance(599)
    assert not await limited.made("book")
    assert asked == []
    assert rate_limit_headers(report)[1] == (b"ratelimit", b'"hour";r=0;t=600')

    clock.advance(1)
    assert await limited.made("book")
    assert len(asked) == 1


async def test_the_headers_name_each_limit_and_what_is_left(store, clock) -> None:
    limits = ToolLimits(calls=(CallWindow(max=5, seconds=90),), concurrent=3, cost=2)
    limited = Limited(store, clock, operation("book", limits), golfer=AgentLimits(budget=20))
    report = LimitReport()

    assert await limited.made("book", report=report)

    budget = b'"agent-budget";q=20;w=86400;gateway-cost=2'
    policy = b'"90s";q=5;w=90, "concurrent";q=3;qu="concurrent-requests", ' + budget
    assert rate_limit_headers(report) == [
        (b"ratelimit-policy", policy),
        (b"ratelimit", b'"90s";r=4;t=90, "concurrent";r=2, "agent-budget";r=18;t=34200'),
    ]
    assert rate_limit_headers(LimitReport()) == []


async def test_without_the_store_limited_calls_are_refused_and_others_go_on(
    store, clock, monkeypatch
) -> None:
    limited = Limited(store, clock, operation("book", TWICE_AN_HOUR), operation("look"))

    async def fail(*_: object) -> None:
        raise StoreError("the database cannot be reached")

    with monkeypatch.context() as broken:
        broken.setattr(store.usage, "take", fail)
        with pytest.raises(NotCounted, match="so it was not made"):
            await limited.made("book")
        assert await limited.made("look")

    assert [await limited.made("book") for _ in range(3)] == [True, True, False]


async def test_a_place_that_cannot_be_given_back_does_not_fail_the_call(
    store, clock, monkeypatch
) -> None:
    limited = Limited(store, clock, operation("book", ToolLimits(concurrent=1)))

    async def fail(*_: object) -> None:
        raise StoreError("the database cannot be reached")

    async with limited.call("book"):
        monkeypatch.setattr(store.usage, "give_back", fail)


async def test_calls_at_once_are_never_more_than_the_limit(store, clock) -> None:
    limited = Limited(
        store, clock, operation("book", ToolLimits(calls=(CallWindow(max=7, seconds=60),)))
    )

    made = await asyncio.gather(*(limited.made("book") for _ in range(100)))

    assert sum(made) == 7


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1, "1 second"), (90, "90 seconds"), (60, "1 minute"), (7200, "2 hours"), (86400, "1 day")],
)
def test_durations_are_written_for_people(seconds: int, text: str) -> None:
    assert duration(seconds) == text


async def test_a_busy_caller_is_served_again_when_others_give_back_what_they_held(
    store, clock
) -> None:
    """Other processes hold units for their next calls, and give them back within seconds."""
    many = ToolLimits(calls=(CallWindow(max=1000, seconds=3600),))
    limited = Limited(store, clock, operation("book", many))
    (rule,) = limited.limits._rules_of(
        limited.contracts.find("golf.book").operation, "golfer", Effect.READ
    )
    demand = rule.demand("golfer", "key_1")
    (taken,) = (await store.usage.take([replace(demand, units=1000)], "other")).taken
    assert not await limited.made("book")
    await store.usage.restore([Return(demand.counter, taken.entry, 1000)])

    made = []
    for _ in range(4):
        made.append(await limited.made("book"))
        clock.advance(1)

    assert made == [False, False, True, True]
