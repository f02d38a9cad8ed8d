"""Webhooks as they were received: new messages, duplicates and conflicts.

They arrive in thousands: the statements are SQLAlchemy Core.
"""

import builtins
import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid5

import msgspec
import sqlmodel
from msgspec import Struct
from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    bindparam,
    exists,
    select,
    tuple_,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel.ext.asyncio.session import AsyncSession

from gateway.contract.event import CONFLICTED, QUARANTINED
from gateway.errors import StoreError
from gateway.failpoints import hit
from gateway.ids import first_id, uuid7
from gateway.job_policy import WorkPolicy
from gateway.store.publishing import Listed
from gateway.store.records import (
    JobState,
    Mismatch,
    NewEvent,
    NewWebhook,
    Page,
    Receipt,
    StoredWebhook,
)
from gateway.store.sql.database import Database
from gateway.store.sql.events import insert_events
from gateway.store.sql.jobs import (
    ADDED_JOBS,
    ENDED,
    JOB_COLUMNS,
    _remove,
    _remove_jobs,
    job_of,
    new_job,
)
from gateway.store.sql.statements import Bulk, as_json, insert_into, read_page
from gateway.store.tables import (
    CALLS,
    CONFLICTING,
    JOBS,
    WEBHOOK_KEYS,
    WEBHOOKS,
    JobRow,
    WebhookRow,
)

_TICK: Final = timedelta(microseconds=1)
_ROWS: Final = 200
"""Keys asked for in one statement."""
_KEYS: Final = Bulk(
    WEBHOOK_KEYS,
    conflict="ON CONFLICT (provider, message_id) DO NOTHING",
    returning="webhook_id",
)
_ROWS_OF_WEBHOOKS: Final = Bulk(WEBHOOKS)
_Key = tuple[str, str]
_Body = tuple[str, str, str]
_JOB: Final = "job_"
_BODY: Final = "body"
_OWN: Final = tuple(
    WEBHOOKS.c[name] for name in StoredWebhook.__struct_fields__ if name not in {"job", _BODY}
)
_EMPTY: Final = "{}"


class _Arrival(Struct, frozen=True):
    """A message and the id that it gets if it is kept."""

    message: NewWebhook
    id: str
    digest: str

    @property
    def key(self) -> _Key:
        return self.message.provider, self.message.message_id

    @property
    def signed(self) -> _Key:
        """The key of its signed bytes. No provider's name has a space, so it differs from `key`."""
        return f"{self.message.provider} signed", self.message.signed_sha256 or ""

    def is_replay(self, signed: "Mapping[_Key, _Known]") -> bool:
        """Whether the same signed bytes were received before, under any id."""
        first = signed.get(self.signed)
        return first is not None and first.webhook_id != self.id

    @property
    def body(self) -> _Body:
        return *self.key, self.digest


class _Known(Struct, frozen=True):
    """The first message with a key."""

    digest: str
    webhook_id: str


class SqlInbox:
    """The tables `webhooks` and `webhook_keys`, and the jobs of webhooks."""

    def __init__(self, database: Database, policy: WorkPolicy) -> None:
        self._database = database
        self._attempts = policy.jobs["webhook"].attempts

    async def receive(self, messages: Sequence[NewWebhook]) -> list[Receipt]:
        if not messages:
            return []

        async def store(to: AsyncConnection, now: datetime) -> builtins.list[Receipt]:
            receipts = await receive_webhooks(to, messages, self._attempts, now)
            hit("ingest.before_commit")
            return receipts

        # A provider waits for it, and sends again what is late.
        return await self._database.write(store, goes_first=True)

    async def find(self, webhook_id: str) -> StoredWebhook | None:
        found = await self.find_all([webhook_id])
        return found[0] if found else None

    async def find_all(self, webhook_ids: Collection[str]) -> builtins.list[StoredWebhook]:
        found = _webhooks(WEBHOOKS.c.id.in_(webhook_ids)).add_columns(WEBHOOKS.c.body)
        return [_webhook(row) for row in await self._database.rows(found)]

    async def list(
        self,
        page: Page,
        *,
        provider: str | None = None,
        event_type: str | None = None,
        state: JobState | None = None,
    ) -> Listed[StoredWebhook]:
        indexed = [] if provider is None else [WEBHOOKS.c.provider == provider]
        if page.after is not None:
            indexed.append(WEBHOOKS.c.id < page.after)
        newest = _webhooks(*indexed).order_by(WEBHOOKS.c.id.desc())

        def rest(read: FromClause) -> Sequence[ColumnElement[bool]]:
            asked = ((read.c.event_type, event_type), (read.c[f"{_JOB}state"], state))
            return [column == value for column, value in asked if value is not None]

        rows, last = await self._database.read(lambda to: read_page(to, newest, rest, page.limit))
        return Listed(map(_webhook, rows), last)

    async def reconsider(
        self, webhook_id: str, refusals: Sequence[Mismatch], contract: str
    ) -> bool:
        async def revalidate(session: AsyncSession, now: datetime) -> bool:
            webhook = await session.get(WebhookRow, webhook_id)
            if webhook is None or webhook.is_conflict:
                return False
            quarantined = sqlmodel.select(JobRow).where(
                JobRow.id == webhook.job_id, JobRow.state == "quarantined"
            )
            job = (await session.exec(quarantined.with_for_update(key_share=True))).first()
            if job is None:
                return False
            if not refusals:
                job.state, job.run_at = "pending", now
            job.updated_at = now
            webhook.refusals, webhook.contract = as_json(refusals), contract
            return True

        return await self._database.change(revalidate)

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        return await self._database.prune(older_than_seconds, prune_bodies, limit)

    async def prune_keys(self, older_than_seconds: float, limit: int) -> int:
        return await self._database.prune(older_than_seconds, prune_keys, limit)


async def receive_webhooks(
    connection: AsyncConnection, messages: Sequence[NewWebhook], attempts: int, now: datetime
) -> list[Receipt]:
    """Store `messages` in the caller's transaction: see `Inbox.receive`, `new_job`."""
    received = [_arrival(message, now, number) for number, message in enumerate(messages)]
    signed = await _claim_signed(connection, received, now)
    replays = {each.id: signed[each.signed] for each in received if each.is_replay(signed)}
    group_commit = [each for each in received if each.id not in replays]
    known = await _claim_keys(connection, group_commit, now)
    fresh = [each for each in group_commit if known[each.key].webhook_id == each.id]
    differing = [each for each in group_commit if known[each.key].digest != each.digest]
    kept = await _keep_conflicts(connection, differing, now)
    conflicts = [each for each in differing if kept[each.body] == each.id]
    moved = await _point_signed(connection, group_commit, known, kept)
    await _store(connection, fresh, now)
    jobs = [_job(each, attempts, now, is_quarantined=bool(each.message.refusals)) for each in fresh]
    jobs += [_job(each, attempts, now, is_quarantined=True) for each in conflicts]
    if jobs:
        await ADDED_JOBS.add(connection, jobs)
    await insert_events(connection, [*_quarantined(fresh), *_conflicted(conflicts)], now)
    return [
        _replay_of(replays[each.id].webhook_id, moved)
        if each.id in replays
        else _receipt(each, known[each.key], kept)
        for each in received
    ]


def _arrival(message: NewWebhook, now: datetime, number: int) -> _Arrival:
    """The message with its new id. Ids sort in the order of the batch."""
    return _Arrival(message, uuid7(now + number * _TICK), hashlib.sha256(message.body).hexdigest())


def _replay_of(first: str, moved: Mapping[str, str]) -> Receipt:
    """The receipt for a message with the same signed bytes as the webhook `first`.

    If `first` is itself a repetition in this batch, the receipt names the webhook that is kept.
    """
    return Receipt(outcome="duplicate", webhook_id=moved.get(first, first))


def _receipt(arrival: _Arrival, first: _Known, kept: Mapping[_Body, str]) -> Receipt:
    if first.digest != arrival.digest:
        return Receipt(outcome="conflict", webhook_id=kept[arrival.body])
    if first.webhook_id != arrival.id:
        return Receipt(outcome="duplicate", webhook_id=first.webhook_id)
    if arrival.message.refusals:
        return Receipt(outcome="quarantined", webhook_id=arrival.id)
    return Receipt(outcome="stored", webhook_id=arrival.id)


async def _claim_signed(
    connection: AsyncConnection, group_commit: Sequence[_Arrival], now: datetime
) -> dict[_Key, _Known]:
    """The first message with each digest of signed bytes, for messages with an unsigned id.

    Digests are claimed before ids, so that a repetition under another id does not take this id.
    """
    first = {each.signed: each for each in reversed(group_commit) if each.message.signed_sha256}
    return await _claim(connection, first, now) if first else {}


async def _point_signed(
    connection: AsyncConnection,
    group_commit: Sequence[_Arrival],
    known: Mapping[_Key, _Known],
    kept: Mapping[_Body, str],
) -> dict[str, str]:
    """Let the digests of messages that are kept already point to the row that keeps them.

    Returns the id of each such message with the id of this row.
    """
    ends = (
        (each.id, kept[each.body] if each.body in kept else known[each.key].webhook_id)
        for each in group_commit
        if each.message.signed_sha256
    )
    moved = {here: first for here, first in ends if here != first}
    if moved:
        column = WEBHOOK_KEYS.c.webhook_id
        change = update(WEBHOOK_KEYS).where(column == bindparam("here"))
        again = [{"here": here, "first": first} for here, first in moved.items()]
        await connection.execute(change.values(webhook_id=bindparam("first")), again)
    return moved


async def _claim_keys(
    connection: AsyncConnection, group_commit: Sequence[_Arrival], now: datetime
) -> dict[_Key, _Known]:
    """The first message with each id. If the id was free, it is one of these messages."""
    return await _claim(connection, {each.key: each for each in reversed(group_commit)}, now)


async def _claim(
    connection: AsyncConnection, first: Mapping[_Key, _Arrival], now: datetime
) -> dict[_Key, _Known]:
    """The first message with each of these keys.

    Only the unique key decides: a concurrent transaction waits for this one.
    """
    # Always in the same order, so that two transactions cannot deadlock on their keys.
    candidates = {key: first[key] for key in sorted(first)}
    free = await _KEYS.add(connection, [_key_row(*each, now) for each in candidates.items()])
    known = {
        key: _Known(each.digest, each.id) for key, each in candidates.items() if each.id in free
    }
    return known | await _taken_keys(connection, [key for key in candidates if key not in known])


async def _taken_keys(connection: AsyncConnection, keys: Sequence[_Key]) -> dict[_Key, _Known]:
    columns = WEBHOOK_KEYS.c
    pair = tuple_(columns.provider, columns.message_id)
    asked = select(columns.provider, columns.message_id, columns.body_sha256, columns.webhook_id)
    found = await _rows(connection, asked, pair, keys)
    if len(found) < len(keys):
        raise StoreError("a webhook's key was removed while it was looked for; try again")
    return {(row[0], row[1]): _Known(row[2], row[3]) for row in found}


def _key_row(key: _Key, arrival: _Arrival, now: datetime) -> dict[str, Any]:
    provider, message_id = key
    return {
        "provider": provider,
        "message_id": message_id,
        "body_sha256": arrival.digest,
        "webhook_id": arrival.id,
        "seen_at": now,
    }


async def _keep_conflicts(
    connection: AsyncConnection, group_commit: Sequence[_Arrival], now: datetime
) -> dict[_Body, str]:
    """Store each different body once. Returns the ids of the rows that keep them."""
    if not group_commit:
        return {}
    first = {each.body: each for each in reversed(group_commit)}
    rows = [_webhook_row(first[body], now, is_conflict=True) for body in sorted(first)]
    insertion = insert_into(connection.dialect.name, WEBHOOKS).on_conflict_do_nothing(
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


def _job(
    arrival: _Arrival, attempts: int, now: datetime, *, is_quarantined: bool
) -> dict[str, Any]:
    """The first job of a webhook. It has the same id: both are new, and in different tables."""
    job = new_job(arrival.id, "webhook", arrival.id, arrival.message.provider, attempts, now)
    job["trace"] = arrival.message.trace
    return {**job, "state": "quarantined"} if is_quarantined else job


def _quarantined(fresh: Iterable[_Arrival]) -> Iterable[NewEvent]:
    for each in fresh:
        if each.message.refusals:
            refusals = msgspec.to_builtins(each.message.refusals)
            yield _event(QUARANTINED, each, {"refusals": refusals})


def _conflicted(conflicts: Iterable[_Arrival]) -> Iterable[NewEvent]:
    return (_event(CONFLICTED, each, {}) for each in conflicts)


def _event(kind: str, arrival: _Arrival, more: Mapping[str, Any]) -> NewEvent:
    """The event about a message that waits for an operator. It has no values of the message."""
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
        trace=message.trace,
    )


def _webhooks(*conditions: ColumnElement[bool]) -> Select[Any]:
    """Select webhooks without bodies."""
    job = (column.label(f"{_JOB}{column.name}") for column in JOB_COLUMNS)
    joined = select(*_OWN, *job).join_from(WEBHOOKS, JOBS, JOBS.c.id == WEBHOOKS.c.job_id)
    return joined.where(*conditions)


def _webhook(row: Mapping[Any, Any]) -> StoredWebhook:
    values = {column.name: row[column.name] for column in _OWN}
    return StoredWebhook(
        **{
            **values,
            "headers": msgspec.json.decode(values["headers"]),
            "refusals": msgspec.json.decode(values["refusals"], type=tuple[Mismatch, ...]),
        },
        body=row.get(_BODY),
        job=job_of(row, _JOB),
    )


async def prune_bodies(connection: AsyncConnection, before: datetime, limit: int) -> int:
    """Remove bodies and headers of webhooks whose job ended before then. Returns how many.

    A webhook that is being started again is skipped. A later start finds no body.
    """
    ended = (
        select(WEBHOOKS.c.id)
        .join(JOBS, JOBS.c.id == WEBHOOKS.c.job_id)
        .where(
            WEBHOOKS.c.body.is_not(None),
            # The index of bodies is by id, which has the time.
            WEBHOOKS.c.id < first_id(before),
            WEBHOOKS.c.received_at < before,
            JOBS.c.state.in_(ENDED),
            JOBS.c.updated_at < before,
        )
        .order_by(WEBHOOKS.c.id)
        .limit(limit)
        .with_for_update(of=WEBHOOKS, skip_locked=True)
    )
    ids = (await connection.execute(ended)).scalars().all()
    change = update(WEBHOOKS).where(WEBHOOKS.c.id.in_(ids))
    await connection.execute(change.values(body=None, headers=_EMPTY))
    hit("retention.before_commit")
    return len(ids)


async def prune_keys(connection: AsyncConnection, before: datetime, limit: int) -> int:
    """Remove webhooks without a body that came before then, with their keys and jobs.

    This also removes the ids of calls that were made before then. Returns how many webhooks.
    """
    old = select(WEBHOOKS.c.id).where(WEBHOOKS.c.body.is_(None), WEBHOOKS.c.received_at < before)
    oldest = old.order_by(WEBHOOKS.c.received_at).limit(limit)
    ids = (await connection.execute(oldest)).scalars().all()
    jobs = select(JOBS.c.id).where(JOBS.c.kind == "webhook", JOBS.c.subject.in_(ids))
    await _remove_jobs(connection, (await connection.execute(jobs)).scalars().all())
    await _remove(connection, WEBHOOK_KEYS.c.webhook_id, ids)
    await _remove(connection, WEBHOOKS.c.id, ids)
    await _prune_calls(connection, before, limit)
    hit("retention.before_commit")
    return len(ids)


async def _prune_calls(connection: AsyncConnection, before: datetime, limit: int) -> None:
    is_needed = exists().where(JOBS.c.subject == CALLS.c.id)
    old = select(CALLS.c.id).where(CALLS.c.created_at < before, ~is_needed)
    oldest = old.order_by(CALLS.c.created_at).limit(limit)
    await _remove(connection, CALLS.c.id, (await connection.execute(oldest)).scalars().all())
