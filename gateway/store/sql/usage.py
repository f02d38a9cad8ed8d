"""Counters of limits in a database. Calls that arrive during a transaction share the next one.

Every limited call asks it: the statements are SQLAlchemy Core.
"""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec import Struct
from sqlalchemy import Select, delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.errors import StoreError
from gateway.store.grouping import GroupWriter, Ticket
from gateway.store.sql.database import Database
from gateway.store.sql.statements import Bulk
from gateway.store.tables import LIMIT_COUNTERS, microseconds
from gateway.store.usage import (
    CounterId,
    CounterReading,
    Decision,
    Demand,
    Entries,
    Return,
    drop_ended,
    moment,
    put_back,
    take_all,
    usage_of,
)

_GROUP: Final = 200
_CLOSE_SECONDS: Final = 5.0
_C = LIMIT_COUNTERS.c
_ADDED: Final = Bulk(LIMIT_COUNTERS, "ON CONFLICT (id) DO NOTHING")
_CHANGED: Final = Bulk(
    LIMIT_COUNTERS,
    "ON CONFLICT (id) DO UPDATE SET entries = excluded.entries, ends_at = excluded.ends_at",
)
_EMPTY: Final = "{}"
_read_entries: Final = msgspec.json.Decoder(Entries).decode


class _Request(Struct, frozen=True):
    """A call to count, or what is given back."""

    holder: str = ""
    demands: tuple[Demand, ...] = ()
    returned: tuple[Return, ...] = ()

    @property
    def counters(self) -> Iterable[str]:
        yield from (each.counter for each in self.demands)
        yield from (each.counter for each in self.returned)


_Waiting = Ticket[_Request, Decision]


class SqlUsage:
    """A `UsageStore` in the table `limit_counters`.

    The rows of all counters of a transaction are locked first, in one order.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writer: GroupWriter[_Waiting] = GroupWriter(self, "limits")

    async def take(self, demands: Sequence[Demand], holder: str) -> Decision:
        """See `UsageStore`. Cancelling the caller gives back what it holds."""
        try:
            return await self._ask(_Request(holder, tuple(demands)))
        except asyncio.CancelledError:
            # The transaction may already run. This request comes after it.
            ended = tuple(Return(demand.counter, holder) for demand in demands)
            self._writer.add(Ticket(_Request(returned=ended)))
            raise

    async def give_back(self, counters: Sequence[str], holder: str) -> None:
        await self.restore([Return(counter, holder) for counter in counters])

    async def restore(self, returns: Sequence[Return]) -> None:
        await self._ask(_Request(returned=tuple(returns)))

    async def readings(self, limit: int) -> list[CounterReading]:
        async def read(connection: AsyncConnection) -> list[CounterReading]:
            now = await self._database.now(connection)
            live = select(_C.id, _C.entries).where(_C.ends_at > now).order_by(_C.id).limit(limit)
            found = await connection.execute(live)
            return [_reading(each.id, each.entries, now) for each in found]

        return await self._database.read(read)

    async def prune(self, older_than_seconds: float, limit: int) -> int:  # noqa: ARG002 - a counter says when it ends
        """Remove at most `limit` counters that hold nothing. Returns how many."""

        async def remove(connection: AsyncConnection, now: datetime) -> int:
            ended = select(_C.id).where(_C.ends_at <= now).order_by(_C.ends_at).limit(limit)
            if self._database.is_postgres:
                ended = ended.with_for_update(skip_locked=True)
            ids = (await connection.execute(ended)).scalars().all()
            if ids:
                await connection.execute(delete(LIMIT_COUNTERS).where(_C.id.in_(ids)))
            return len(ids)

        return await self._database.write(remove)

    async def close(self) -> None:
        """Write what waits. Calls that are left are refused."""
        for waiting in await self._writer.close(_CLOSE_SECONDS):
            waiting.refuse(StoreError("The gateway is stopping."))

    async def _ask(self, request: _Request) -> Decision:
        waiting: _Waiting = Ticket(request)
        self._writer.add(waiting)
        return await waiting.answer()

    def group_size(self, waiting: Sequence[_Waiting]) -> int:
        return min(len(waiting), _GROUP)

    async def commit(self, group: Sequence[_Waiting]) -> None:
        asked = [each for each in group if each.is_open]
        requests = [each.request for each in asked]
        ids = sorted({counter for request in requests for counter in request.counters})

        async def decide(connection: AsyncConnection, now: datetime) -> list[Decision]:
            texts = await self._locked(connection, ids)
            entries = {id_: _read_entries(texts.get(id_, _EMPTY)) for id_ in ids}
            decisions = [_decided(each, entries, microseconds(now)) for each in requests]
            await _CHANGED.add(connection, list(_changed(entries, texts, now)))
            return decisions

        decisions = await self._database.write(decide) if ids else []
        for each, decision in zip(asked, decisions, strict=True):
            each.give(decision)

    def committed(self, group: Sequence[_Waiting]) -> None:
        """Nothing to do: the calls have their decisions."""

    async def refused(self, entry: _Waiting, error: Exception) -> None:
        entry.refuse(StoreError(f"limits cannot be counted ({type(error).__name__})"))

    def unavailable(self, group: Sequence[_Waiting], error: StoreError) -> bool:
        """See `Sink`. The calls are dropped, because it is not known whether they were counted."""
        for each in group:
            each.refuse(StoreError(error.detail))
        return False

    async def _locked(self, connection: AsyncConnection, ids: Collection[str]) -> dict[str, str]:
        """The entries of the counters. No other transaction changes them until this one ends."""
        if not self._database.is_postgres:
            # On SQLite, there is one writing transaction at a time.
            return await _texts(connection, _rows(ids))
        found = await _texts(connection, _rows(ids).with_for_update())
        missing = [id_ for id_ in ids if id_ not in found]
        if missing:
            # A row that does not exist cannot be locked.
            await _ADDED.add(connection, [_row(id_, {}, moment(0)) for id_ in missing])
            found |= await _texts(connection, _rows(missing).with_for_update())
        return found


def _rows(ids: Collection[str]) -> Select[Any]:
    return select(_C.id, _C.entries).where(_C.id.in_(ids)).order_by(_C.id)


async def _texts(connection: AsyncConnection, query: Select[Any]) -> dict[str, str]:
    return {each.id: each.entries for each in await connection.execute(query)}


def _decided(request: _Request, entries: dict[str, Entries], now: int) -> Decision:
    for each in request.returned:
        put_back(entries[each.counter], each.entry, each.units)
    return take_all(request.demands, entries, request.holder, now)


def _changed(
    entries: dict[str, Entries], texts: dict[str, str], now: datetime
) -> Iterable[dict[str, object]]:
    for id_, held in entries.items():
        row = _row(id_, held, now)
        if row["entries"] != texts.get(id_, _EMPTY):
            yield row


def _row(id_: str, held: Entries, now: datetime) -> dict[str, object]:
    ends_at = moment(max(until for until, _ in held.values())) if held else now
    return {"id": id_, "entries": msgspec.json.encode(held).decode(), "ends_at": ends_at}


def _reading(id_: str, text: str, now: datetime) -> CounterReading:
    held = _read_entries(text)
    drop_ended(held, microseconds(now))
    return CounterReading(CounterId.of_text(id_), usage_of(held))
