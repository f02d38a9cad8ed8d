"""Messages of Avinode, and what the gateway's contracts make of them, for tests."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

import msgspec
from msgspec.structs import replace

from gateway.catalogue import Catalogue, open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contract.fields.fieldmap import entity_id
from gateway.contract.rows.rows import shape_of
from gateway.contract.rows.tables import Row
from gateway.store.records import EntityChange, Job, StoredWebhook
from gateway.store.sql.entities import canonical_row, key_of, merged, microseconds, new_row
from gateway.webhooks.processing import Effects
from gateway.webhooks.source import OpenSource
from generated.entities import TABLES
from tests.clocks import ManualClock

START: Final = datetime(2026, 11, 20, 12, tzinfo=UTC)
LATER: Final = START + timedelta(days=2)
"""When every message arrives, unless a test says something else."""
OPERATOR: Final = {"id": "OP-1", "name": "Bluewing", "rating": 4.5, "safety_rating": "ARGUS Gold"}
AIRCRAFT: Final = {"type": "Citation X", "id": "AC-1"}


@cache
def _source() -> OpenSource:
    contract = _catalogue().webhooks["avinode"]
    return OpenSource(contract, ManualClock(), settings={"link_domain": "avinode.com"})


@cache
def _effects() -> Effects:
    return Effects(
        {kind: shape_of(kind, each.schema) for kind, each in _catalogue().entities.items()},
        {name: each.validator for name, each in _catalogue().events.items()},
        lambda: LATER,
    )


@cache
def _catalogue() -> Catalogue:
    return open_catalogue("generated", HANDLER_PACKAGES)


def at(minute: float) -> str:
    """The moment `minute` minutes after the start, as messages say it."""
    return (START + timedelta(minutes=minute)).isoformat()


def message(event_type: str, minute: float = 0, **facts: Any) -> dict[str, Any]:
    """A message of what happened at `minute`; its id follows from what it says."""
    facts_sent = {"event_type": event_type, "timestamp": at(minute), **facts}
    digest = uuid5(NAMESPACE_URL, msgspec.json.encode(facts_sent, order="deterministic").decode())
    return {"event_id": f"evt-{digest}", **facts_sent}


def changes_of(payload: dict[str, Any], received_at: datetime = LATER) -> tuple[EntityChange, ...]:
    """The rows that a message writes."""
    webhook = _stored(payload, received_at)
    assert _source().validator.stored_refusals(webhook, payload) == ()
    event = _source().events[payload["event_type"]]
    return _effects().changes(event, webhook, payload, _source().facts(webhook)).entities


def event_of(payload: dict[str, Any]) -> dict[str, Any]:
    """The data of the event that a message leads to."""
    webhook = _stored(payload, LATER)
    event = _source().events[payload["event_type"]]
    (event_draft,) = _effects().changes(event, webhook, payload, _source().facts(webhook)).events
    return dict(event_draft.data)


def pointer_event(kind: str, href: str) -> dict[str, Any]:
    """The data of the event that a pointer to `href` leads to."""
    payload = {"id": "X-1", "type": kind, "href": href}
    webhook = replace(_stored({"event_id": href, "event_type": kind}, LATER), profile="pointer")
    (event_draft,) = (
        _effects()
        .changes(_source().events[kind], webhook, payload, _source().facts(webhook))
        .events
    )
    return dict(event_draft.data)


def rows_after(changes: Iterable[EntityChange]) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows that `changes`, in this order, leave behind, by kind and first column of the key."""
    rows: dict[tuple[str, str], Row] = {}
    for change in changes:
        table = TABLES[change.kind]
        key = {name: change.values[name] for name in key_of(table)}
        place = (change.kind, str(next(reversed(key.values()))))
        row = rows.get(place)
        now = microseconds(LATER)
        if row is None:
            row = new_row(table, entity_id(change.kind, key), change, now)
        elif change.mode == "create":
            continue
        rows[place] = merged(table, row, change, now)
    return {place: canonical_row(TABLES[place[0]], row) for place, row in rows.items()}


def rows_of(*payloads: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows that the messages leave behind when they arrive in this order."""
    return rows_after(change for payload in payloads for change in changes_of(payload))


def _stored(payload: dict[str, Any], received_at: datetime) -> StoredWebhook:
    webhook_id = str(uuid5(NAMESPACE_URL, payload["event_id"]))
    job = Job(
        id=webhook_id,
        kind="webhook",
        subject=webhook_id,
        lane="avinode",
        state="running",
        attempts=1,
        max_attempts=5,
        run_at=received_at,
        lease_until=None,
        claim_seq=1,
        claimed_by=None,
        error=None,
        replay_of=None,
        actor=None,
        created_at=received_at,
        updated_at=received_at,
    )
    return StoredWebhook(
        id=webhook_id,
        provider="avinode",
        profile="signed",
        message_id=payload["event_id"],
        event_type=payload["event_type"],
        body=msgspec.json.encode(payload),
        body_sha256="",
        headers={},
        contract="",
        received_at=received_at,
        derived_from=None,
        is_conflict=False,
        refusals=(),
        job=job,
    )
