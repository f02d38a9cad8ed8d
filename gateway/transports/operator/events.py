"""The event log for operators: `GET /operator/events`, in pages."""

from typing import Annotated

import msgspec
from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from msgspec import Meta, Struct

from gateway.events.cloudevents import TypeFilter
from gateway.store.publishing import EventLog, looked_up_to
from gateway.transports.operator.guard import (
    MAX_PAGE,
    AnyRequest,
    OperatorGuard,
    answer,
    query_of,
)


class EventQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which events to list."""

    after: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    """A position in the log. None is the end of the log, after which there are no events yet."""
    types: Annotated[str, Meta(max_length=2000)] = ""
    """Types, or prefixes that end with `*`, separated by commas. Empty means all types."""
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = 50


def event_routes(guard: OperatorGuard, log: EventLog) -> list[HTTPRouteHandler]:
    """`/operator/events`."""

    @get("/operator/events", name="operator_events")
    async def list_events(request: AnyRequest) -> Response[bytes]:
        """Events after a position, oldest first, and the position of the next page."""
        async with guard.open(request, "events.list", is_poll=True):
            return await _events(log, query_of(request, EventQuery))

    return [list_events]


async def _events(log: EventLog, asked: EventQuery) -> Response[bytes]:
    bounds = await log.bounds()
    if asked.after is None:
        return answer({"items": [], "next": bounds[1]})
    wanted = TypeFilter.of(list(filter(None, asked.types.split(","))))
    found = await log.after(asked.after, asked.limit, wanted.types)
    # A full page ends at its last event. The page after one with fewer events can skip what that
    # has looked at: the events of other types.
    is_full = len(found) == asked.limit
    ended = found[-1].position if is_full else looked_up_to(asked.after, bounds)
    return answer({"items": [msgspec.to_builtins(each) for each in found], "next": ended})
