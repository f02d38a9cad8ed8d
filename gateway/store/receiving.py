"""Receiving webhooks: what is new, what was here before, and what contradicts it."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid5

import msgspec
from msgspec import Struct
from sqlalchemy import ColumnElement, Select, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract.event import CONFLICTED, QUARANTINED
from gateway.errors import StoreError
from gateway.ids import uuid7
from gateway.store.bulk import Bulk
from gateway.store.event_rows import insert_events
from gateway.store.job_rows import new_job
from gateway.store.records import NewEvent, NewWebhook, Receipt
from gateway.store.statements import as_json, insert_into
from gateway.store.tables_jobs import JOBS
from gateway.store.tables_webhooks import CONFLICTING, WEBHOOK_KEYS, WEBHOOKS

_TICK: Final = timedelta(microseconds=1)
_ROWS: Final = 200
"""Keys asked for in one statement."""
_KEYS: Final = Bulk(
    WEBHOOK_KEYS,
    conflict="ON CONFLICT (provider, message_id) DO NOTHING",
    returning="webhook_id",
)
_ROWS_OF_WEBHOOKS: Final = Bulk(WEBHOOKS)
_ROWS_OF_JOBS: Final = Bulk(JOBS)
_Key = tuple[str, str]
_Body = tuple[str, str, str]


class _Arrival(Struct, frozen=True):
    """A message and the id that it gets if it is kept."""

    message: NewWebhook
    id: str
    digest: str

    @property
    def key(self) -> _Key:
        return self.message.provider, self.message.message_id

    @property
    def body(self) -> _Body:
        return *self.key, self.digest


class _Known(Struct, frozen=True):
    """The first message with a key."""

    digest: str
    webhook_id: str


async def receive_webhooks(
    connection: AsyncConnection, messages: Sequence[NewWebhook], now: datetime
) -> list[Receipt]:
    """Store `messages` in the caller's transaction, each with its job; see `Inbox.receive`."""
    arrivals = [_arrival(message, now, number) for number, message in enumerate(messages)]
    known = await _claim_keys(connection, arrivals, now)
    fresh = [each for each in arrivals if known[each.key].webhook_id == each.id]
    differing = [each for each in arrivals if known[each.key].digest != each.digest]
    kept = await _keep_conflicts(connection, differing, now)
    conflicts = [each for each in differing if kept[each.body] == each.id]
    await _store(connection, fresh, now)
    await _add_jobs(connection, fresh, conflicts, now)
    await insert_events(connection, [*_quarantined(fresh), *_conflicted(conflicts)], now)
    return [_receipt(each, known[each.key], kept) for each in arrivals]


def _arrival(message: NewWebhook, now: datetime, number: int) -> _Arrival:
    """Ids within a batch are in its order."""
    return _Arrival(message, uuid7(now + number * _TICK), hashlib.sha256(message.body).hexdigest())


def _receipt(arrival: _Arrival, first: _Known, kept: Mapping[_Body, str]) -> Receipt:
    if first.digest != arrival.digest:
        return Receipt(outcome="conflict", webhook_id=kept[arrival.body])
    if first.webhook_id != arrival.id:
        return Receipt(outcome="duplicate", webhook_id=first.webhook_id)
    if arrival.message.refusals:
        return Receipt(outcome="quarantined", webhook_id=arrival.id)
    return Receipt(outcome="stored", webhook_id=arrival.id)


async def _claim_keys(
    connection: AsyncConnection, arrivals: Sequence[_Arrival], now: datetime
) -> dict[_Key, _Known]:
    """The first message with each key, which is one of these where the key was free.

    The unique key alone decides: whoever comes at the same moment waits for this transaction.
    """
    first = {each.key: each for each in reversed(arrivals)}
    # In one order, so that two transactions never wait for each other's keys crosswise.
    candidates = [first[key] for key in sorted(first)]
    free = await _KEYS.add(connection, [_key_row(each, now) for each in candidates])
    known = {each.key: _Known(each.digest, each.id) for each in candidates if each.id in free}
    return known | await _taken_keys(connection, [key for key in sorted(first) if key not in known])


async def _taken_keys(connection: AsyncConnection, keys: Sequence[_Key]) -> dict[_Key, _Known]:
    columns = WEBHOOK_KEYS.c
    pair = tuple_(columns.provider, columns.message_id)
    asked = select(columns.provider, columns.message_id, columns.body_sha256, columns.webhook_id)
    found = await _rows(connection, asked, pair, keys)
    if len(found) < len(keys):
        raise StoreError("a webhook's key was removed while it was looked for; try again")
    return {(row[0], row[1]): _Known(row[2], row[3]) for row in found}


def _key_row(arrival: _Arrival, now: datetime) -> dict[str, Any]:
    provider, message_id = arrival.key
    return {
        "provider": provider,
        "message_id": message_id,
        "body_sha256": arrival.digest,
        "webhook_id": arrival.id,
        "seen_at": now,
    }


async def _keep_conflicts(
    connection: AsyncConnection, arrivals: Sequence[_Arrival], now: datetime
) -> dict[_Body, str]:
    """Ids of the rows in which the other bodies are kept, each once."""
    if not arrivals:
        return {}
    first = {each.body: each for each in reversed(arrivals)}
    rows = [_webhook_row(first[body], now, is_conflict=True) for body in sorted(first)]
    insertion = insert_into(connection, WEBHOOKS).on_conflict_do_nothing(
        index_elements=["provider", "message_id", "body_sha256"], index_where=CONFLICTING
    )
    await connection.execute(insertion, rows)
    columns = WEBHOOKS.c
    body = tuple_(columns.provider, columns.message_id, columns.body_sha256)
    asked = select(columns.provider, columns.message_id, columns.body_sha256, columns.id).where(
        CONFLICTING
    )
    found = await _rows(connection, asked, body, sorted(first))
    return {(row[0], row[1], row[2]): row[3] for row in found}


async def _rows(
    connection: AsyncConnection,
    asked: Select[Any],
    columns: ColumnElement[Any],
    values: Sequence[tuple[str, ...]],
) -> list[Any]:
    found: list[Any] = []
    for start in range(0, len(values), _ROWS):
        some = asked.where(columns.in_(values[start : start + _ROWS]))
        found += (await connection.execute(some)).all()
    return found


async def _store(connection: AsyncConnection, fresh: Sequence[_Arrival], now: datetime) -> None:
    if fresh:
        rows = [_webhook_row(each, now, is_conflict=False) for each in fresh]
        await _ROWS_OF_WEBHOOKS.add(connection, rows)


def _webhook_row(arrival: _Arrival, now: datetime, *, is_conflict: bool) -> dict[str, Any]:
    message = arrival.message
    return {
        "id": arrival.id,
        "provider": message.provider,
        "profile": message.profile,
        "message_id": message.message_id,
        "event_type": message.event_type,
        "body": message.body,
        "body_sha256": arrival.digest,
        "headers": as_json(message.headers),
        "contract": message.contract,
        "received_at": now,
        "derived_from": message.derived_from,
        "is_conflict": is_conflict,
        "refusals": as_json(message.refusals),
        "job_id": arrival.id,
    }


async def _add_jobs(
    connection: AsyncConnection,
    fresh: Sequence[_Arrival],
    conflicts: Sequence[_Arrival],
    now: datetime,
) -> None:
    """A webhook's first job has its id: both are new, and of different tables."""
    rows = [_job(each, now, is_quarantined=bool(each.message.refusals)) for each in fresh]
    rows += [_job(each, now, is_quarantined=True) for each in conflicts]
    if rows:
        await _ROWS_OF_JOBS.add(connection, rows)


def _job(arrival: _Arrival, now: datetime, *, is_quarantined: bool) -> dict[str, Any]:
    job = new_job(arrival.id, "webhook", arrival.id, arrival.message.provider, now)
    return {**job, "state": "quarantined"} if is_quarantined else job


def _quarantined(fresh: Iterable[_Arrival]) -> Iterable[NewEvent]:
    for each in fresh:
        if each.message.refusals:
            refusals = msgspec.to_builtins(each.message.refusals)
            yield _event(QUARANTINED, each, {"refusals": refusals})


def _conflicted(conflicts: Iterable[_Arrival]) -> Iterable[NewEvent]:
    return (_event(CONFLICTED, each, {}) for each in conflicts)


def _event(kind: str, arrival: _Arrival, more: Mapping[str, Any]) -> NewEvent:
    """Of a message that waits for somebody: where it breaks its contract, never what it says."""
    message = arrival.message
    return NewEvent(
        id=str(uuid5(UUID(arrival.id), kind)),
        type=kind,
        subject=arrival.id,
        source=f"/webhooks/{message.provider}",
        data={
            "webhook_id": arrival.id,
            "provider": message.provider,
            "event_type": message.event_type,
            "message_id": message.message_id,
            **more,
        },
        webhook_id=arrival.id,
    )
