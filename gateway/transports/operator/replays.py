"""Replays of events to one endpoint, for operators: `/operator/endpoints/<id>/replay`."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated

from litestar import Response, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from msgspec import Meta, Struct

from gateway.errors import UnknownPath
from gateway.events.replays import ReplaySpan, replay_events
from gateway.store.protocols import EventLog
from gateway.transports.operator.guard import AnyRequest, OperatorGuard, answer, body_of

_Moment = Annotated[datetime, Meta(tz=True)]


class ReplayRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Which events to deliver again."""

    since: _Moment
    until: _Moment | None = None
    """Events at this time are not meant. None: no end."""
    after: Annotated[str, Meta(min_length=1, max_length=400)] | None = None
    """The `next` of the page before. None begins a replay."""


def replay_routes(
    guard: OperatorGuard, log: EventLog, wake: Callable[[], None]
) -> list[HTTPRouteHandler]:
    """`wake` notifies the workers of this process that there are deliveries."""

    @post(
        "/operator/endpoints/{endpoint_id:str}/replay",
        name="operator_replay_events",
        status_code=202,
    )
    async def replay(request: AnyRequest, endpoint_id: FromPath[str]) -> Response[bytes]:
        """Deliver a page of events again that the endpoint wants. Go on until `next` is null."""
        async with guard.open(request, "endpoints.replay", endpoint_id=endpoint_id) as record:
            asked = await body_of(request, ReplayRequest)
            span = ReplaySpan(asked.since, asked.until, asked.after)
            record.facts = {**record.facts, "since": asked.since, "until": asked.until}
            await record.begin()
            page = await replay_events(log, endpoint_id, span, record.agent)
            if page is None:
                raise UnknownPath("There is no endpoint with this id.")
            record.facts = {
                **record.facts,
                "replay": page.replay,
                "started": page.started,
                "skipped": page.skipped,
            }
            wake()
            return answer(page, 202)

    return [replay]
