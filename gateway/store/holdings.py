"""What one process holds of limits for its next calls: units of counters, and idle places.

Times are readings of a monotonic clock in seconds.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gateway.store.usage import SHARE, Demand, LimitKind, Return, Taken, Usage, moment

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
