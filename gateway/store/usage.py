"""Counts what callers have used of their limits.

A counter is a set of entries. Each entry holds some units until a time: a call of a window until it
leaves the window, a place until its lease ends, a cost until the day ends. So one rule decides for
all limits: the units of the live entries and those of the new call must not exceed the limit.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol, TypeAlias

from msgspec import Struct

EXACT_ENTRIES = 256
"""A window of more calls than this keeps them in this many groups. The calls of a group leave the
window together with its last one, so a place is free again up to 1/256 of the window too late, and
never too early."""
SHARE = 16
"""A process gets at most one part in this many of what is left for its next calls."""
_SECOND = 1_000_000
_DAY = 86_400 * _SECOND

Entries: TypeAlias = dict[str, tuple[int, int]]
"""By name: the time in microseconds since 1970 until which an entry holds its units, and these."""


class LimitKind(StrEnum):
    """When an entry ends."""

    WINDOW = "window"
    LEASE = "lease"
    DAY = "day"


class CounterId(Struct, frozen=True):
    """Names a counter. No part has a slash."""

    agent: str
    limit: str
    """The name of the limit, such as `hour`."""
    operation: str = ""
    """Empty for a limit of the whole agent."""
    subject: str = ""
    """The caller. Empty for a limit of the whole agent."""

    @property
    def text(self) -> str:
        return f"{self.agent}/{self.limit}/{self.operation}/{self.subject}"

    @classmethod
    def of_text(cls, text: str) -> "CounterId":
        return cls(*text.split("/", 3))


class Demand(Struct, frozen=True, kw_only=True):
    """What a call takes of one limit."""

    counter: str
    """The text of a `CounterId`."""
    max: int
    kind: LimitKind
    seconds: float
    """The length of the window or of the lease."""
    units: int = 1
    ahead: int = 0
    """Units that the process wants beyond this, for its next calls. It gets them if enough are
    left."""

    @property
    def may_be_ahead(self) -> bool:
        """Whether units may be taken before their calls come: all of an entry end together."""
        return self.kind is LimitKind.DAY or self.step_seconds > 0

    @property
    def step_seconds(self) -> float:
        """The length of a group of calls. 0: each call has its own entry."""
        is_grouped = self.kind is LimitKind.WINDOW and self.max > EXACT_ENTRIES
        return self.seconds / EXACT_ENTRIES if is_grouped else 0.0


class Usage(Struct, frozen=True):
    """What is used of one limit."""

    used: int
    until: datetime | None
    """When enough comes back for the call that was refused. Of a limit that did not refuse: when
    something comes back. None if nothing is used."""


class Taken(Struct, frozen=True):
    """What a counted call took of one limit."""

    entry: str
    """The entry that holds its units."""
    usable_until: datetime
    """Until when calls of this process may use the units beyond those of the call."""
    ahead: int = 0
    """How many of them there are."""


class Return(Struct, frozen=True):
    """What is given back to a counter."""

    counter: str
    entry: str
    units: int = 0
    """0: all of the entry. Only then may it be repeated."""


class Decision(Struct, frozen=True):
    """Whether a call was counted."""

    usages: tuple[Usage, ...]
    """One for each demand, with this call if it was counted."""
    refused: tuple[int, ...] = ()
    """The positions of the demands that were refused. Empty: the call was counted."""
    at: datetime = datetime.fromtimestamp(0, UTC)
    """The store's time."""
    taken: tuple[Taken, ...] = ()
    """One for each demand, if the call was counted."""
    spent: tuple[Return, ...] = ()
    """How to give back the units of the call."""


class CounterReading(Struct, frozen=True):
    """The state of one counter, for operators."""

    counter: CounterId
    usage: Usage


class UsageStore(Protocol):
    """Counters of limits, shared by all processes."""

    async def take(self, demands: Sequence[Demand], holder: str) -> Decision:
        """Count a call, named `holder`, for all demands or for none. Raises `StoreError`.

        After `StoreError`, it is not known whether the call was counted.
        """
        ...

    async def give_back(self, counters: Sequence[str], holder: str) -> None:
        """End the leases of `holder`. Raises `StoreError`; then they end by themselves."""
        ...

    async def restore(self, returns: Sequence[Return]) -> None:
        """Give back what no call has used. Raises `StoreError`; then it may have been done."""
        ...

    async def readings(self, limit: int) -> list[CounterReading]:
        """At most `limit` counters that hold something, ordered. Raises `StoreError`."""
        ...


class PrunedUsage(UsageStore, Protocol):
    """Counters that do not go away by themselves."""

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        """Remove at most `limit` counters that hold nothing. Returns how many."""
        ...


def take_all(
    demands: Sequence[Demand], entries: Mapping[str, Entries], holder: str, now: int
) -> Decision:
    """Decide about a call at `now`, in microseconds. If it is counted, change `entries`."""
    kept = [entries[demand.counter] for demand in demands]
    for held in kept:
        drop_ended(held, now)
    refused = tuple(
        index
        for index, (demand, held) in enumerate(zip(demands, kept, strict=True))
        if _sum(held) + demand.units > demand.max
    )
    taken: list[Taken] = []
    if not refused:
        taken = [_add(*pair, holder, now) for pair in zip(demands, kept, strict=True)]
    return decision_of(demands, kept, refused, now, taken)


def decision_of(
    demands: Sequence[Demand],
    kept: Sequence[Entries],
    refused: tuple[int, ...],
    now: int,
    taken: Sequence[Taken],
) -> Decision:
    """The decision at `now` that left these entries of each demand."""
    usages = tuple(
        Usage(_sum(held), _back_at(demand, held))
        for demand, held in zip(demands, kept, strict=True)
    )
    return Decision(usages, refused, moment(now), tuple(taken))


def taken_of(demand: Demand, entry: str, until: int, ahead: int) -> Taken:
    """What a call took that is counted in `entry` until this time."""
    length = _microseconds(demand.seconds) if demand.kind is LimitKind.WINDOW else 0
    return Taken(entry, moment(until - length), ahead)


def put_back(held: Entries, entry: str, units: int) -> None:
    """Take `units` out of an entry, or all of it if they are 0."""
    until, own = held.pop(entry, (0, 0))
    if units and own > units:
        held[entry] = until, own - units


def drop_ended(held: Entries, now: int) -> None:
    """Remove the entries that hold nothing any more."""
    for name in [name for name, (until, _) in held.items() if until <= now]:
        del held[name]


def usage_of(held: Entries) -> Usage:
    """What the live entries `held` use."""
    return Usage(_sum(held), moment(min(until for until, _ in held.values())) if held else None)


def moment(microseconds: int) -> datetime:
    """The time that is so many microseconds after 1970."""
    seconds, rest = divmod(microseconds, _SECOND)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest)


def _add(demand: Demand, held: Entries, holder: str, now: int) -> Taken:
    until = _end(demand, now)
    name = holder if demand.kind is LimitKind.LEASE else str(until)
    ahead = _ahead(demand, demand.max - _sum(held) - demand.units)
    held[name] = until, held.get(name, (0, 0))[1] + demand.units + ahead
    return taken_of(demand, name, until, ahead)


def _ahead(demand: Demand, left: int) -> int:
    """As many units as calls of the same cost can use, and none where few are left."""
    return min(demand.ahead, left // SHARE) // demand.units * demand.units


def _end(demand: Demand, now: int) -> int:
    match demand.kind:
        case LimitKind.WINDOW:
            return _rounded_up(now, demand.step_seconds) + _microseconds(demand.seconds)
        case LimitKind.LEASE:
            return now + _microseconds(demand.seconds)
        case LimitKind.DAY:
            return (now // _DAY + 1) * _DAY


def _rounded_up(now: int, step_seconds: float) -> int:
    step = _microseconds(step_seconds)
    return -(-now // step) * step if step else now


def _microseconds(seconds: float) -> int:
    return round(seconds * _SECOND)


def _sum(held: Entries) -> int:
    return sum(units for _, units in held.values())


def _back_at(demand: Demand, held: Entries) -> datetime | None:
    """When the same call would be counted; if that is now, when the next units come back."""
    missing = _sum(held) + demand.units - demand.max
    for until, units in sorted(held.values()):
        missing -= units
        if missing <= 0:
            return moment(until)
    return None
