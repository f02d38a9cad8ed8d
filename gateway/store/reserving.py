"""Takes units of limits for several calls at once, so that most calls need no request to the store.

The store counts the units before any call uses them, so all processes together never admit too
many calls. What no call uses is given back within about a second. A process that dies gives nothing
back: then the limits are stricter until the units leave their window, by at most one part in
`SHARE` of what was left. Where few units are left, none are taken ahead.
"""

import asyncio
import logging
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from functools import partial
from itertools import compress, repeat
from typing import Any, Final

from msgspec.structs import replace

from gateway.clock import Clock
from gateway.errors import StoreError
from gateway.store.holdings import Holdings
from gateway.store.usage import (
    CounterReading,
    Decision,
    Demand,
    LimitKind,
    Return,
    Usage,
    UsageStore,
)

_log: Final = logging.getLogger(__name__)
_RETURN_SECONDS: Final = 0.25
_CLOSE_SECONDS: Final = 5.0
_MOST_OWED: Final = 10_000


class ReservedUsage:
    """A `UsageStore` before another one."""

    def __init__(self, store: UsageStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._holdings = Holdings()
        self._owed: list[Return] = []
        """What is to be given back."""
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False
        self._running: set[asyncio.Task[Any]] = set()

    def at_once(self, demands: Sequence[Demand], holder: str) -> Decision | None:
        """Count a call without a request. None if this process does not hold enough for it."""
        now = self._clock.monotonic()
        holdings = self._holdings
        for each in demands:
            if not holdings.has(each, now):
                return None
        spent = tuple(holdings.use(each, holder) for each in demands)
        usages, times = zip(*[holdings.usage(each) for each in demands], strict=True)
        return Decision(usages, at=max(times), spent=spent)

    async def take(self, demands: Sequence[Demand], holder: str) -> Decision:
        """See `UsageStore`. Cancelling the caller gives back what it has taken."""
        now = self._clock.monotonic()
        is_held = [self._holdings.has(each, now) for each in demands]
        if all(is_held) and (counted := self.at_once(demands, holder)) is not None:
            return counted
        held = list(compress(demands, is_held))
        asked = [each for each, has in zip(demands, is_held, strict=True) if not has]
        used = [self._holdings.use(each, holder) for each in held]
        # Read before the request: while it is under way, what is held may be given back.
        usages = [self._holdings.usage(each)[0] for each in held]
        try:
            decision = await self._ask(asked, holder)
            if decision.refused and self._spares(asked[each] for each in decision.refused):
                await self._paid()
                decision = await self._ask(asked, holder)
        except BaseException:
            self._undo(used, holder)
            raise
        if decision.refused:
            self._undo(used, holder)
            return _whole(is_held, usages, decision)
        spent = (*used, *_spent(asked, decision))
        return replace(_whole(is_held, usages, decision), spent=spent)

    def undo(self, spent: Iterable[Return]) -> None:
        """Give back the units of a call that is not made. Its places end with `leave`."""
        self._owe(each for each in spent if each.units)

    def leave(self, counters: Sequence[str], holder: str) -> bool:
        """End a call. False if its places must be given back: it then waits for `give_back`.

        Other places are kept for a moment for the next call.
        """
        now = self._clock.monotonic()
        before = len(self._owed)
        for counter in counters:
            self._owed += self._holdings.end(counter, holder, now)
        self._schedule()
        return len(self._owed) == before

    async def give_back(self, counters: Sequence[str], holder: str) -> None:
        """See `UsageStore`."""
        if not self.leave(counters, holder) or self._owed:
            await self._paid()

    async def restore(self, returns: Sequence[Return]) -> None:
        """See `UsageStore`."""
        await self._store.restore(returns)

    async def readings(self, limit: int) -> list[CounterReading]:
        """See `UsageStore`. What processes hold for their next calls is used."""
        return await self._store.readings(limit)

    async def close(self) -> None:
        """Give back everything that no call uses, or log that the store was too slow for it.

        What is not given back ends as that of a process that dies.
        """
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                if self._running:
                    await asyncio.wait(self._running)
                self._owed += self._holdings.all()
                await self._pay_until_paid()
        except TimeoutError:
            _log.warning(
                "limits: what no call used was not given back within %g s: the store is too slow. "
                "Until it leaves its windows, limits and budgets are stricter.",
                _CLOSE_SECONDS,
            )

    async def _pay_until_paid(self) -> None:
        while self._owed:
            try:
                await self._pay()
            except StoreError:
                await asyncio.sleep(_RETURN_SECONDS)

    async def _ask(self, asked: Sequence[Demand], holder: str) -> Decision:
        """Ask the store. The request is not cancelled with the caller, so its outcome is known."""
        now = self._clock.monotonic()
        demands = [self._holdings.with_ahead(each, now) for each in asked]
        request = self._start(self._request(demands, holder))
        try:
            return await asyncio.shield(request)
        except asyncio.CancelledError:
            request.add_done_callback(partial(self._abandon, demands, holder))
            raise

    async def _request(self, demands: Sequence[Demand], holder: str) -> Decision:
        since = self._clock.monotonic()
        leases = [each for each in demands if each.kind is LimitKind.LEASE]
        try:
            decision = await self._store.take(demands, holder)
        except BaseException:
            # The store may have counted the call. Its places would be held until their leases end.
            self._owe(Return(each.counter, holder) for each in leases)
            raise
        finally:
            self._holdings.answered(demands)
        taken = decision.taken or repeat(None, len(demands))
        for demand, usage, got in zip(demands, decision.usages, taken, strict=True):
            self._owe(self._holdings.note(demand, usage, got, decision.at, since))
        if not decision.refused:
            for each in leases:
                self._holdings.begin(each, holder, since)
        self._schedule()
        return decision

    def _abandon(
        self, demands: Sequence[Demand], holder: str, request: "asyncio.Task[Decision]"
    ) -> None:
        """Give back what a call got that was cancelled meanwhile."""
        if request.cancelled() or request.exception() is not None:
            return
        decision = request.result()
        self.undo(_spent(demands, decision))
        for each in demands if decision.taken else ():
            if each.kind is LimitKind.LEASE:
                self._owe(self._holdings.end(each.counter, holder, self._clock.monotonic()))

    def _undo(self, used: Iterable[Return], holder: str) -> None:
        now = self._clock.monotonic()
        for each in used:
            self._owe([each] if each.units else self._holdings.end(each.counter, holder, now))

    def _spares(self, refused: Iterable[Demand]) -> bool:
        """Whether this process has something to give back of the limits that refuse a call."""
        counters = {each.counter for each in refused}
        for counter in counters:
            self._owe(self._holdings.spare(counter))
        return any(each.counter in counters for each in self._owed)

    def _owe(self, returns: Iterable[Return]) -> None:
        self._owed += returns
        if self._owed:
            self._schedule()

    async def _paid(self) -> None:
        """Give back what is owed, also if the caller leaves meanwhile. Raises `StoreError`."""
        await asyncio.shield(self._start(self._pay()))

    async def _pay(self) -> None:
        """Give back what is owed. Raises `StoreError`."""
        owed, self._owed = self._owed, []
        if not owed:
            return
        try:
            await self._store.restore(owed)
        except BaseException:
            # It may have been done, and units must not be given back twice. The ends of leases are
            # tried again: a place would be held until its lease ends.
            leases = [each for each in owed if not each.units]
            self._owed = (leases + self._owed)[:_MOST_OWED]
            self._schedule()
            raise

    def _schedule(self) -> None:
        if self._is_closed or self._timer is not None:
            return
        if self._owed or not self._holdings.is_empty:
            self._timer = asyncio.get_running_loop().call_later(_RETURN_SECONDS, self._sweep)

    def _sweep(self) -> None:
        self._timer = None
        self._owed += self._holdings.over(self._clock.monotonic())
        if self._owed:
            self._start(self._pay())
        self._schedule()

    def _start(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        task = asyncio.create_task(work, name="limits")
        self._running.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._running.discard(task)
        if not task.cancelled():
            # Read the exception, or asyncio logs it when nobody waits for it.
            task.exception()


def _spent(asked: Sequence[Demand], decision: Decision) -> Iterator[Return]:
    for demand, taken in zip(asked, decision.taken, strict=False):
        if demand.kind is not LimitKind.LEASE:
            yield Return(demand.counter, taken.entry, demand.units)


def _whole(is_held: Sequence[bool], held: Iterable[Usage], decision: Decision) -> Decision:
    """The decision about all demands, from that about those that are not held."""
    usages, refused, asked = [], [], 0
    of_held = iter(held)
    for index, has in enumerate(is_held):
        if has:
            usages.append(next(of_held))
            continue
        usage = decision.usages[asked]
        ahead = decision.taken[asked].ahead if decision.taken else 0
        usages.append(replace(usage, used=usage.used - ahead) if ahead else usage)
        if asked in decision.refused:
            refused.append(index)
        asked += 1
    return Decision(tuple(usages), tuple(refused), decision.at)
