"""Subscriptions of MCP clients in a database.

They are upserts, and lookups for each event: the statements are SQLAlchemy Core.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Select, and_, bindparam, delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.store.publishing import MAX_SESSIONS, MAX_URIS, SubscribedSession
from gateway.store.sql.database import Database
from gateway.store.sql.statements import as_json, insert_into
from gateway.store.tables import MCP_SUBSCRIPTIONS

_C: Final = MCP_SUBSCRIPTIONS.c
_KEY: Final = (_C.subject, _C.session, _C.connector)
_SESSIONS: Final = 500
"""How many sessions are looked up in one query."""
_REMOVAL: Final = delete(MCP_SUBSCRIPTIONS).where(*(each == bindparam(each.name) for each in _KEY))
_read_uris: Final = msgspec.json.Decoder(list[str]).decode


class SqlSubscriptions:
    """A `SubscriptionStore` in the table `mcp_subscriptions`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, session: SubscribedSession, uri: str) -> bool:
        async def subscribe(connection: AsyncConnection, now: datetime) -> bool:
            uris = await _begun(connection, session, now)
            if uri not in uris:
                uris.append(uri)
            if len(uris) > MAX_URIS:
                return False
            change = update(MCP_SUBSCRIPTIONS).where(_is(session))
            await connection.execute(change.values(uris=as_json(uris)))
            await _forget_oldest(connection, session.subject)
            return True

        return await self._database.write(subscribe)

    async def remove(self, session: SubscribedSession, uri: str) -> None:
        async def unsubscribe(connection: AsyncConnection, now: datetime) -> None:
            uris = [each for each in await _locked(connection, session) if each != uri]
            if uris:
                change = update(MCP_SUBSCRIPTIONS).where(_is(session))
                await connection.execute(change.values(uris=as_json(uris), seen_at=now))
            else:
                await connection.execute(delete(MCP_SUBSCRIPTIONS).where(_is(session)))

        await self._database.write(unsubscribe)

    async def of(
        self, sessions: Collection[SubscribedSession]
    ) -> Mapping[SubscribedSession, Sequence[str]]:
        return {
            known: _read_uris(row["uris"])
            for query in _queries(sessions)
            for row in await self._database.rows(query)
            if (known := _session(row)) in sessions
        }

    async def see(self, session: SubscribedSession) -> None:
        change = update(MCP_SUBSCRIPTIONS).where(_is(session))

        async def store(connection: AsyncConnection, now: datetime) -> None:
            await connection.execute(change.values(seen_at=now))

        await self._database.write(store)

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        return await self._database.prune(older_than_seconds, _forget, limit)


async def _forget(connection: AsyncConnection, before: datetime, limit: int) -> int:
    old = select(*_KEY).where(_C.seen_at < before).order_by(_C.seen_at)
    return await _remove(connection, old.limit(limit))


async def _locked(connection: AsyncConnection, session: SubscribedSession) -> list[str]:
    """The URIs of a session. No other transaction changes them until this one ends."""
    query = select(_C.uris).where(_is(session)).with_for_update()
    text = (await connection.execute(query)).scalar()
    return [] if text is None else _read_uris(text)


async def _begun(
    connection: AsyncConnection, session: SubscribedSession, now: datetime
) -> list[str]:
    """The same for a session that is seen now. It has a row from now on."""
    row = {**msgspec.structs.asdict(session), "uris": as_json([]), "seen_at": now}
    begun = insert_into(connection.dialect.name, MCP_SUBSCRIPTIONS).values(row)
    # One statement: between two of them, the row of another transaction could be removed.
    seen = begun.on_conflict_do_update(index_elements=_KEY, set_={"seen_at": now})
    return _read_uris((await connection.execute(seen.returning(_C.uris))).scalar_one())


async def _forget_oldest(connection: AsyncConnection, subject: str) -> None:
    newest_first = select(*_KEY).where(_C.subject == subject).order_by(_C.seen_at.desc())
    await _remove(connection, newest_first.offset(MAX_SESSIONS).limit(_SESSIONS))


async def _remove(connection: AsyncConnection, query: Select[Any]) -> int:
    """Remove the found rows, except those that another transaction changes now."""
    found = await connection.execute(query.with_for_update(skip_locked=True))
    sessions = [_session(row) for row in found.mappings()]
    if sessions:
        await connection.execute(_REMOVAL, [msgspec.structs.asdict(each) for each in sessions])
    return len(sessions)


def _queries(sessions: Collection[SubscribedSession]) -> Iterator[Select[Any]]:
    names = sorted({each.session for each in sessions})
    for start in range(0, len(names), _SESSIONS):
        yield select(MCP_SUBSCRIPTIONS).where(_C.session.in_(names[start : start + _SESSIONS]))


def _is(session: SubscribedSession) -> ColumnElement[bool]:
    return and_(
        _C.session == session.session,
        _C.subject == session.subject,
        _C.connector == session.connector,
    )


def _session(row: Mapping[Any, Any]) -> SubscribedSession:
    return SubscribedSession(row["subject"], row["session"], row["connector"])
