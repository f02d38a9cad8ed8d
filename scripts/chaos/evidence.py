"""The evidence for the checker: the sender's log, and the database, read with its own SQL.

It imports nothing of the gateway, so that a bug in the gateway cannot be in its checker too.
"""

import asyncio
import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import asyncpg  # type: ignore[import-untyped]  # it ships no types
from msgspec import Struct

Row = Mapping[str, Any]

_QUERIES: Final = {
    "webhooks": "SELECT id, provider, message_id, event_type, body, body_sha256, is_conflict,"
    " derived_from, job_id FROM webhooks",
    "keys": "SELECT provider, message_id, body_sha256, webhook_id FROM webhook_keys",
    "jobs": "SELECT id, kind, subject, state, attempts, max_attempts, run_at, lease_until,"
    " claim_seq, error, replay_of FROM jobs",
    "attempts": "SELECT job_id, claim_seq, outcome FROM job_attempts",
    "events": "SELECT id, position, type, subject, webhook_id FROM events",
    "audit": "SELECT request_id, operation, outcome FROM audit_records WHERE transport = 'webhook'",
    "quotes": "SELECT id, avinode_quote_id, webhook_id FROM entity_quotes",
    "deliveries": "SELECT id, event_id, endpoint_id, job_id FROM deliveries",
}


class Sent(Struct, frozen=True):
    """One request of the sender. `status` is None if there was no response."""

    id: str
    sha256: str
    status: int | None


class Received(Struct, frozen=True):
    """One request that an endpoint received."""

    id: str
    sha256: str
    is_authentic: bool
    """Whether its signature is valid."""
    status: int
    """The status of the endpoint's response."""


class Seen(Struct, frozen=True):
    """One event that a follower received."""

    follower: int
    id: str


class Evidence(Struct, frozen=True, kw_only=True):
    """Everything that is checked."""

    sent: Sequence[Sent]
    begun: frozenset[tuple[str, str]] = frozenset()
    """Id and hash of each request that was sent, answered or not."""
    received: Sequence[Received] | None = None
    """None if there was no endpoint."""
    seen: Sequence[Seen] | None = None
    """None if there was no follower."""
    tables: Mapping[str, Sequence[Row]]
    now: int
    """The database's time, in microseconds since 1970."""
    damage: Sequence[str] = ()
    """The errors of the database's integrity check."""


def gather(
    database: str, sent: Path, received: Path | None = None, seen: Path | None = None
) -> Evidence:
    """Read the logs and the database. Raises `OSError`, or the error of the database driver."""
    if database.startswith("sqlite:///"):
        tables, now, damage = _sqlite(database.removeprefix("sqlite:///"))
    else:
        tables, now, damage = asyncio.run(_postgres(database))
    # After the database, because every stored message was sent before.
    asked = list(read_log(sent))
    return Evidence(
        sent=[
            Sent(each["id"], each["sha256"], each["status"]) for each in asked if "status" in each
        ],
        begun=frozenset((each["id"], each["sha256"]) for each in asked),
        received=None if received is None else [Received(**each) for each in read_log(received)],
        seen=None if seen is None else [Seen(**each) for each in read_log(seen)],
        tables=tables,
        now=now,
        damage=damage,
    )


def read_log(path: Path) -> Iterable[dict[str, Any]]:
    """The lines of a log of JSON."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def digest(body: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(body).hexdigest()


def _sqlite(path: str) -> tuple[dict[str, list[Row]], int, list[str]]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
    connection.row_factory = sqlite3.Row
    try:
        damage = [row[0] for row in connection.execute("PRAGMA integrity_check")]
        connection.execute("BEGIN")  # one snapshot for all tables
        tables: dict[str, list[Row]] = {
            name: [dict(row) for row in connection.execute(query)]
            for name, query in _QUERIES.items()
        }
    finally:
        connection.close()
    return tables, time.time_ns() // 1000, [each for each in damage if each != "ok"]


async def _postgres(url: str) -> tuple[dict[str, list[Row]], int, list[str]]:
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            moment = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
            tables: dict[str, list[Row]] = {
                name: [dict(row) for row in await connection.fetch(query)]
                for name, query in _QUERIES.items()
            }
            return tables, await connection.fetchval(moment), []
    finally:
        await connection.close()
