"""Delivers events to one endpoint again, by the time at which they were recorded."""

import base64
import binascii
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct

from gateway.contract.fields.conversion import rfc3339
from gateway.errors import InvalidArguments, StateConflict
from gateway.store.publishing import EventLog, Replay, Replayed, ReplayPoint


class ReplaySpan(Struct, frozen=True):
    """A page of a replay, as an operator asks for it."""

    since: datetime
    until: datetime | None
    """Events at this time are not meant. None: no end."""
    after: str | None
    """`ReplayPage.next` of the page before. None begins a replay."""


class ReplayPage(Struct, frozen=True, kw_only=True):
    """What a page of a replay has done."""

    replay: str
    """The id of the replay, which all its pages have."""
    started: int
    """Events that are delivered again."""
    skipped: int
    """Events whose delivery waits or runs, or was made since the replay began."""
    next: str | None
    """Where the next page goes on. None: this was the last one."""


async def replay_events(
    log: EventLog, endpoint_id: str, span: ReplaySpan, actor: str
) -> ReplayPage | None:
    """Deliver a limited number of the events in `span` again that the endpoint wants.

    No event is delivered twice by one replay, also if a page is asked for again. None if there is
    no such endpoint. Raises `InvalidArguments` for a span that is empty or begins before the log,
    and `StateConflict` for an endpoint that is disabled.
    """
    if span.until is not None and span.since >= span.until:
        raise InvalidArguments.at(
            "/until", "minimum", "until must be later than since, or left out"
        )
    point = None if span.after is None else _point_in(span.after)
    if point is None:
        await _refuse_forgotten(log, span.since)
    asked = Replay(
        endpoint_id=endpoint_id, since=span.since, until=span.until, actor=actor, point=point
    )
    found = await log.replay(asked)
    if found is None:
        return None
    if not found.is_active:
        raise StateConflict("The endpoint is disabled: enable it, and replay then.")
    return _page(found)


async def _refuse_forgotten(log: EventLog, since: datetime) -> None:
    """Raise `InvalidArguments` if events since then may have been removed from the log."""
    oldest, _ = await log.bounds()
    first = await log.after(oldest - 1, 1) if oldest > 1 else ()
    for each in first:
        # As precise as it is written.
        beginning = each.time - timedelta(microseconds=each.time.microsecond % 1000)
        if since < beginning:
            detail = f"older events are no longer kept; the log begins at {rfc3339(beginning)}"
            raise InvalidArguments.at("/since", "minimum", detail)


def _page(found: Replayed) -> ReplayPage:
    encoded = None if found.next is None else base64.b64encode(msgspec.json.encode(found.next))
    return ReplayPage(
        replay=found.replay,
        started=found.started,
        skipped=found.skipped,
        next=None if encoded is None else encoded.decode(),
    )


def _point_in(cursor: str) -> ReplayPoint:
    try:
        return msgspec.json.decode(base64.b64decode(cursor, validate=True), type=ReplayPoint)
    except (binascii.Error, ValueError, msgspec.DecodeError):
        detail = "is no `next` of a page of a replay"
        raise InvalidArguments.at("/after", "pattern", detail) from None
