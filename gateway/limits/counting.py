"""Counts calls against the limits of their tool and agent."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from datetime import datetime, timedelta
from itertools import count
from typing import Final, Protocol, Self, TypeAlias
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from gateway.auth.principal import Permit, Principal
from gateway.catalogue import Catalogue
from gateway.clock import Clock
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.operation import Effect, Operation
from gateway.errors import StoreError
from gateway.limits.rules import LimitRule, rules_of
from gateway.limits.standing import LimitFacts, LimitReport, LimitStanding, LimitUsedUp, NotCounted
from gateway.store.reserving import ReservedUsage
from gateway.store.usage import Decision, Demand, LimitKind, Return


class CountedRequest(Protocol):
    """What counting must know of a call: see `Call`."""

    @property
    def job_id(self) -> str | None: ...
    @property
    def accept(self) -> object: ...
    @property
    def limits(self) -> LimitReport | None: ...


class CallCount(Protocol):
    """What a call was counted for."""

    def undo(self) -> None:
        """Give its units back: the call is not made."""
        ...


class CountsCalls(Protocol):
    """Counts calls."""

    def counted(
        self, permit: Permit, effect: Effect, call: CountedRequest
    ) -> AbstractAsyncContextManager[CallCount]:
        """A context manager that counts the call on entry, and holds its places.

        Entering it raises `LimitUsedUp`, or `NotCounted` when the store does not answer. A call
        that has begun stays counted, also when it fails. A call that becomes a job is counted for
        windows and budgets when it is accepted, and holds places when its job runs.
        """
        ...


class NoLimits:
    """Limits that do not apply."""

    def counted(
        self,
        permit: Permit,  # noqa: ARG002 - the Protocol's name
        effect: Effect,  # noqa: ARG002 - the Protocol's name
        call: CountedRequest,  # noqa: ARG002 - the Protocol's name
    ) -> AbstractAsyncContextManager[CallCount]:
        """See `CountsCalls`."""
        return UNLIMITED


class UnlimitedCall(AbstractAsyncContextManager[CallCount]):
    """Counts nothing."""

    async def __aexit__(self, *_: object) -> None:
        """Nothing is held."""

    async def __aenter__(self) -> Self:
        return self

    def undo(self) -> None:
        """Nothing was counted."""


UNLIMITED: Final = UnlimitedCall()
NO_LIMITS: Final = NoLimits()


_MAX_KNOWN: Final = 4096
_TAKING_SECONDS: Final = 5.0
_GIVING_SECONDS: Final = 2.0
_BUSY_SECONDS: Final = 1.0
"""How long the caller should wait for a place that another call holds."""
_SURE_SECONDS: Final = 2.0
"""How long a refusal is sure if processes take units ahead: they give back what they do not use."""

ObserveRefusal: TypeAlias = Callable[[str, str], None]
"""Given the operation of a refused call and the name of the limit."""


def _observe_nothing(_operation: str, _limit: str) -> None:
    """Refusals are not counted."""


_Rules: TypeAlias = tuple[LimitRule, ...]


class _Refusal(Struct, frozen=True):
    """A refusal by a window or a budget, which gives nothing back for a while."""

    decision: Decision
    returns_at: datetime
    returns: float
    """The same time by the monotonic clock."""
    until: float
    """How long nothing comes back, by the monotonic clock."""


class CallLimits:
    """The limits of all tools and agents.

    A call without limits costs one look-up, and a limited call at most one request to the store.
    A caller whose limit is used up is refused without a request until something comes back.
    """

    def __init__(
        self,
        store: ReservedUsage,
        catalogue: Catalogue,
        clock: Clock,
        observe: ObserveRefusal = _observe_nothing,
    ) -> None:
        self._store = store
        self._clock = clock
        self._observe = observe
        self._catalogue = catalogue
        self._rules: dict[tuple[str, str, Effect, bool, bool], _Rules] = {}
        """By operation, agent, effect and part of the call: as many as the contracts have."""
        self._demands: dict[tuple[int, str, str], tuple[Demand, ...]] = {}
        """By rules, agent and caller."""
        self._holders = map(f"{uuid4().hex}-{{}}".format, count())
        """Names of calls, for their places."""
        self._refusals: OrderedDict[tuple[Demand, ...], _Refusal] = OrderedDict()

    def counted(
        self, permit: Permit, effect: Effect, call: CountedRequest
    ) -> AbstractAsyncContextManager[CallCount]:
        """See `CountsCalls`."""
        operation, principal = permit.entry.operation, permit.grant.principal
        is_run = call.job_id is not None
        is_part = is_run or call.accept is not None
        key = operation.id, principal.agent, effect, is_run, is_part
        rules = self._rules.get(key)
        if rules is None:
            rules = self._rules_of(operation, principal.agent, effect)
            rules = self._rules[key] = _share(rules, is_run=is_run) if is_part else rules
        if not rules:
            return UNLIMITED
        return CountedCall(self, rules, self._asked(rules, principal), permit, call)

    def _asked(self, rules: _Rules, principal: Principal) -> tuple[Demand, ...]:
        """What these limits demand of a call. The rules live as long as this object."""
        key = id(rules), principal.agent, principal.subject
        known = self._demands.get(key)
        if known is None:
            known = tuple(rule.demand(principal.agent, principal.subject) for rule in rules)
            if len(self._demands) >= _MAX_KNOWN:
                self._demands.clear()
            self._demands[key] = known
        return known

    def name(self) -> str:
        """A name for a call."""
        return next(self._holders)

    async def take(
        self,
        rules: _Rules,
        demands: tuple[Demand, ...],
        permit: Permit,
        call: CountedRequest,
        holder: str,
    ) -> tuple[Return, ...]:
        """Count a call. Returns what `undo` gives back. Raises `LimitUsedUp` or `NotCounted`."""
        known = self._known(demands)
        decision = known or self._store.at_once(demands, holder)
        if decision is None:
            decision = await self._decision(demands, holder)
        if call.limits is not None:
            call.limits.standings = tuple(_standings(rules, decision))
        if decision.refused:
            worst = max(decision.refused, key=lambda index: _wait(decision, index, rules))
            if known is None:
                self._remember(demands, decision, worst)
            self._observe(permit.entry.operation.id, rules[worst].name)
            raise _used_up(rules, decision, worst, permit.grant.principal)
        return decision.spent

    def undo(self, spent: Sequence[Return]) -> None:
        """Give back what a call was counted for that is not made."""
        self._store.undo(spent)

    async def give_back(self, demands: Sequence[Demand], holder: str) -> None:
        """Free the places of a call that has ended. If that fails, they end by themselves."""
        held = [each.counter for each in demands if each.kind is LimitKind.LEASE]
        if self._store.leave(held, holder):
            return
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(_GIVING_SECONDS):
                await self._store.give_back(held, holder)

    def _rules_of(self, operation: Operation, agent: str, effect: Effect) -> _Rules:
        rule = operation.escalation
        is_escalated = rule is not None and effect is not operation.effect
        also = self._catalogue.find(rule.grant).operation if rule and is_escalated else None
        return rules_of(operation, also, self._catalogue.limits.get(agent))

    async def _decision(self, demands: tuple[Demand, ...], holder: str) -> Decision:
        try:
            async with asyncio.timeout(_TAKING_SECONDS):
                return await self._store.take(demands, holder)
        except (StoreError, TimeoutError) as error:
            raise NotCounted from error

    def _known(self, demands: tuple[Demand, ...]) -> Decision | None:
        """The last refusal, as of now. None if the call may be counted."""
        known = self._refusals.get(demands) if self._refusals else None
        if known is None:
            return None
        now = self._clock.monotonic()
        if known.until > now:
            passed = timedelta(seconds=known.returns - now)
            return replace(known.decision, at=known.returns_at - passed)
        del self._refusals[demands]
        return None

    def _remember(self, demands: tuple[Demand, ...], decision: Decision, worst: int) -> None:
        returns_at = decision.usages[worst].until
        if demands[worst].kind is LimitKind.LEASE or returns_at is None:
            return
        now = self._clock.monotonic()
        returns = now + (returns_at - decision.at).total_seconds()
        until = min(returns, now + _SURE_SECONDS) if demands[worst].may_be_ahead else returns
        self._refusals[demands] = _Refusal(decision, returns_at, returns, until)
        if len(self._refusals) > _MAX_KNOWN:
            self._refusals.popitem(last=False)


class CountedCall(AbstractAsyncContextManager[CallCount]):
    """Holds the places of one call until the `async with` block ends."""

    __slots__ = ("_call", "_demands", "_holder", "_limits", "_permit", "_rules", "_spent")

    def __init__(
        self,
        limits: CallLimits,
        rules: _Rules,
        demands: tuple[Demand, ...],
        permit: Permit,
        call: CountedRequest,
    ) -> None:
        self._limits = limits
        self._rules = rules
        self._demands = demands
        self._permit = permit
        self._call = call
        self._holder = ""
        self._spent: tuple[Return, ...] = ()

    async def __aenter__(self) -> Self:
        for each in self._rules:
            if each.kind is LimitKind.LEASE:
                self._holder = self._limits.name()
        self._spent = await self._limits.take(
            self._rules, self._demands, self._permit, self._call, self._holder
        )
        return self

    def undo(self) -> None:
        """See `CallCount`."""
        self._limits.undo(self._spent)

    async def __aexit__(self, *_: object) -> None:
        if self._holder:
            await self._limits.give_back(self._demands, self._holder)


def _share(rules: _Rules, *, is_run: bool) -> _Rules:
    """What the run of a job is counted for: places. Its submission was counted for the rest."""
    return tuple(each for each in rules if (each.kind is LimitKind.LEASE) is is_run)


def _wait(decision: Decision, index: int, rules: Sequence[LimitRule]) -> float:
    until = decision.usages[index].until
    if rules[index].kind is LimitKind.LEASE or until is None:
        return _BUSY_SECONDS
    return max(0.0, (until - decision.at).total_seconds())


def _standings(rules: _Rules, decision: Decision) -> Iterator[LimitStanding]:
    for rule, usage in zip(rules, decision.usages, strict=True):
        until = None if rule.kind is LimitKind.LEASE else usage.until
        yield LimitStanding(
            name=rule.name,
            max=rule.max,
            used=usage.used,
            window_seconds=rule.window_seconds,
            cost=rule.cost,
            left_seconds=None if until is None else (until - decision.at).total_seconds(),
        )


def _used_up(rules: _Rules, decision: Decision, worst: int, principal: Principal) -> LimitUsedUp:
    rule, usage = rules[worst], decision.usages[worst]
    returns = None if rule.kind is LimitKind.LEASE else usage.until
    facts = LimitFacts(
        name=rule.name,
        used=usage.used,
        max=rule.max,
        agent=principal.agent,
        tool=rule.operation or None,
        window_seconds=rule.window_seconds,
        cost=rule.cost,
        returns_at=None if returns is None else rfc3339(returns),
    )
    violated = tuple(rules[index].name for index in decision.refused)
    return LimitUsedUp(facts, violated, _wait(decision, worst, rules))
