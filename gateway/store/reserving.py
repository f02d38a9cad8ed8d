"""Takes units of limits for several calls at once, so that most calls need no request to the store.

The store counts the units before any call uses them, so all processes together never admit too
many calls. What no call uses is given back within about a second. A process that dies gives nothing
back: then the limits are stricter until the units leave their window, by at most one part in
`SHARE` of what was left. Where few units are left, none are taken ahead.

What one process holds of limits for its next calls: units of counters, and idle places.

Times are readings of a monotonic clock in seconds.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import compress, repeat
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gateway.clock import Clock
from gateway.errors import StoreError
from gateway.store.usage import (
    SHARE,
    CounterReading,
    Decision,
    Demand,
    LimitKind,
    Return,
    Taken,
    Usage,
    UsageStore,
    moment,
)

KEEP_SECONDS: Final = 1.0
"""How long units wait for a call before they are given back."""
KEEP_PLACE_SECONDS: Final = 0.25
"""How long a place waits for the next call."""
_REUSE_SECONDS: Final = 5.0
"""How much of its lease a place may have used when another call gets it. It is less than the time
by which a lease is longer than its call."""
_FIRST: Final = 8
_MOST: Final = 256
_GROWTH: Final = 8
"""Calls that come often take units for 8 calls, then for eight times as many, up to 256."""
_NEVER: Final = -1e9
_LONG_AGO: Final = moment(0)


class Stock(Struct):
    """Units of one counter that the store has counted, and that no call has used yet."""

    units: int = 0
    entry: str = ""
    """The entry of the counter that has them."""
    until: float = _NEVER
    """Until when calls may use them."""
    wanted: int = 0
    asked_at: float = _NEVER
    is_asking: bool = False
    """Whether a request for more is under way."""
    used: int = 0
    """What the counter had after the last request, with the units of this stock."""
    back_at: datetime | None = None
    at: datetime = _LONG_AGO
    """The store's time of the last request."""

    def ahead(self, units: int, now: float) -> int:
        """How many units to ask for beyond those of a call. 0 if calls are seldom."""
        if self.is_asking:
            return 0
        is_often = now - self.asked_at < KEEP_SECONDS
        self.wanted = min(_MOST, max(_FIRST, self.wanted * _GROWTH)) if is_often else 0
        self.asked_at = now
        return self.wanted * units

    def rest(self, counter: str) -> Iterator[Return]:
        """Remove all units. Yields how to give them back."""
        if self.units:
            yield Return(counter, self.entry, self.units)
        self.used -= self.units
        self.units = 0


class HeldPlace(Struct, frozen=True):
    """A place among the calls at the same time."""

    counter: str
    entry: str
    """The name of the first call that had it."""
    ends: float
    """When its lease ends."""
    idle_until: float = 0.0


class IdlePlaces(Struct):
    """The places that calls of this process have had of one counter."""

    idle: deque[HeldPlace]
    """Those that no call has, the oldest first."""
    used: int = 0
    may_keep: int = 0
    """How many idle places may be kept: enough others were free."""
    held: int = 0
    """How many calls have one."""

    def over(self, now: float) -> Iterator[Return]:
        """Remove the idle places whose time is over. Yields how to give them back."""
        while self.idle and self.idle[0].idle_until <= now:
            place = self.idle.popleft()
            yield Return(place.counter, place.entry)


class Holdings:
    """The units and places of all counters."""

    def __init__(self) -> None:
        self._stocks: dict[str, Stock] = {}
        self._places: dict[str, IdlePlaces] = {}
        self._held: dict[tuple[str, str], HeldPlace] = {}
        """The place of each running call, by counter and call."""

    @property
    def is_empty(self) -> bool:
        return not self._stocks and not self._places

    def has(self, demand: Demand, now: float) -> bool:
        """Whether a call can have what it demands without a request."""
        if demand.kind is LimitKind.LEASE:
            places = self._places.get(demand.counter)
            if places is None or not places.idle:
                return False
            return places.idle[-1].ends - now >= demand.seconds - _REUSE_SECONDS
        stock = self._stocks.get(demand.counter)
        return stock is not None and stock.units >= demand.units and stock.until > now

    def use(self, demand: Demand, holder: str) -> Return:
        """Give the call what `has` has found. Returns how to give it back."""
        if demand.kind is not LimitKind.LEASE:
            stock = self._stocks[demand.counter]
            stock.units -= demand.units
            return Return(demand.counter, stock.entry, demand.units)
        place = self._places[demand.counter].idle.pop()
        self._hold(place, holder)
        return Return(demand.counter, place.entry)

    def usage(self, demand: Demand) -> tuple[Usage, datetime]:
        """What calls use of a limit of which something is held, and when that was read."""
        if demand.kind is LimitKind.LEASE:
            return Usage(self._places[demand.counter].used, None), _LONG_AGO
        stock = self._stocks[demand.counter]
        return Usage(stock.used - stock.units, stock.back_at), stock.at

    def with_ahead(self, demand: Demand, now: float) -> Demand:
        """The demand with units for the next calls, if such calls come often."""
        if not demand.may_be_ahead:
            return demand
        stock = self._stocks.setdefault(demand.counter, Stock())
        ahead = stock.ahead(demand.units, now)
        stock.is_asking = stock.is_asking or ahead > 0
        return replace(demand, ahead=ahead) if ahead else demand

    def answered(self, demands: Sequence[Demand]) -> None:
        """Note that a request for `demands` has ended."""
        for each in demands:
            if each.ahead:
                self._stocks[each.counter].is_asking = False

    def note(
        self, demand: Demand, usage: Usage, taken: Taken | None, at: datetime, since: float
    ) -> Iterator[Return]:
        """Note the answer of a request that began at `since`. Yields what is not needed any more.

        `taken` is None if the call was refused.
        """
        if demand.kind is LimitKind.LEASE:
            places = self._places.setdefault(demand.counter, IdlePlaces(deque()))
            places.used, places.may_keep = usage.used, (demand.max - usage.used) // SHARE
        elif (stock := self._stocks.get(demand.counter)) is not None:
            stock.used, stock.back_at, stock.at = usage.used, usage.until, at
            if taken is not None and taken.ahead:
                if stock.entry != taken.entry:
                    yield from stock.rest(demand.counter)
                stock.entry, stock.units = taken.entry, stock.units + taken.ahead
                left = (taken.usable_until - at).total_seconds()
                stock.until = since + min(KEEP_SECONDS, left)

    def begin(self, demand: Demand, holder: str, since: float) -> None:
        """Hold the new place of a call whose request began at `since`."""
        self._hold(HeldPlace(demand.counter, holder, since + demand.seconds), holder)

    def end(self, counter: str, holder: str, now: float) -> Iterator[Return]:
        """Take the place from its call, and keep it if there may be a next one soon."""
        place = self._held.pop((counter, holder), None)
        if place is None:
            return
        places = self._places[counter]
        places.held -= 1
        yield from places.over(now)
        if len(places.idle) < places.may_keep:
            places.idle.append(replace(place, idle_until=now + KEEP_PLACE_SECONDS))
        else:
            yield Return(counter, place.entry)

    def spare(self, counter: str) -> Iterator[Return]:
        """Remove all that no call uses of one counter."""
        if (stock := self._stocks.get(counter)) is not None:
            yield from stock.rest(counter)
        if (places := self._places.get(counter)) is not None:
            yield from places.over(float("inf"))

    def over(self, now: float) -> Iterator[Return]:
        """Remove what has waited too long, and forget counters that nobody uses."""
        for counter, stock in list(self._stocks.items()):
            if stock.until <= now:
                if stock.units:
                    stock.wanted //= _GROWTH
                yield from stock.rest(counter)
                if not stock.is_asking and now - stock.asked_at > KEEP_SECONDS:
                    del self._stocks[counter]
        for counter, places in list(self._places.items()):
            yield from places.over(now)
            if not places.held and not places.idle:
                del self._places[counter]

    def all(self) -> Iterator[Return]:
        """Remove all that no call uses."""
        for counter in {*self._stocks, *self._places}:
            yield from self.spare(counter)

    def _hold(self, place: HeldPlace, holder: str) -> None:
        self._held[place.counter, holder] = place
        self._places[place.counter].held += 1


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
        if not self.leave(counters, holder) or self._owed:
            await self._paid()

    async def restore(self, returns: Sequence[Return]) -> None:
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
        if self._owed and self._is_closed:
            # A call that was cancelled may get its answer when all others have ended.
            self._start(self._pay())
        elif self._owed:
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
