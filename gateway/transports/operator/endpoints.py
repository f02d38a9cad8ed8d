"""The endpoints of subscribers, for operators: `/operator/endpoints`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final, TypeVar

import msgspec
from litestar import Controller, delete, get, patch, post
from msgspec import UNSET, Meta, Struct, UnsetType

from gateway.audit.facts import REDACTED, printable
from gateway.errors import UnknownPath
from gateway.events.endpoints import NewSecret, ReplayPage, ReplaySpan, replay_events
from gateway.store.records import Endpoint, JobState, Page
from gateway.transports.operator.guard import (
    AnyRequest,
    Id,
    Limit,
    Moment,
    OperatorParts,
    Parts,
    PathId,
    Shown,
    body_of,
    listed,
    query_of,
)

_HIDDEN: Final = ("secret", "previous_secret")
_ANSWERED: Final = "2xx"
_T = TypeVar("_T")
_ID: Final = "/{endpoint_id:str}"


class NewEndpoint(Struct, frozen=True, forbid_unknown_fields=True):
    """An endpoint to add."""

    url: Annotated[str, Meta(min_length=1, max_length=2000)]
    event_types: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=200)], ...], Meta(max_length=50)
    ] = ()
    description: Annotated[str, Meta(max_length=500)] = ""
    filter: dict[str, Any] | None = None
    """A JSON Schema for the data of the events. None: any data."""
    headers: dict[str, str] = {}
    """Header fields to send with each delivery. No answer contains their values."""


class EndpointChange(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change about an endpoint."""

    filter: dict[str, Any] | UnsetType | None = UNSET
    headers: dict[str, str] | UnsetType = UNSET


class Rotation(Struct, frozen=True, forbid_unknown_fields=True):
    """How long the old secret stays in use."""

    grace_seconds: Annotated[float, Meta(ge=0, le=604_800)] = 86_400


class DeliveryQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which deliveries to list."""

    state: JobState | None = None
    limit: Limit = 50
    after: Id | None = None


class ReplayRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Which events to deliver again."""

    since: Moment
    until: Moment | None = None
    """Events at this time are not meant. None: no end."""
    after: Annotated[str, Meta(min_length=1, max_length=400)] | None = None
    """The `next` of the page before. None begins a replay."""


class EndpointController(Controller):
    """`/operator/endpoints`."""

    path = "/operator/endpoints"

    @get(name="operator_endpoints")
    async def list_endpoints(self, request: AnyRequest, parts: Parts) -> Shown:
        """Every endpoint, without its secrets."""
        async with parts.guard.open(request, "endpoints.list"):
            return {"items": [_shown(each) for each in await parts.registry.list()], "next": None}

    @get(_ID, name="operator_endpoint")
    async def show_endpoint(self, request: AnyRequest, parts: Parts, endpoint_id: PathId) -> Shown:
        """One endpoint."""
        async with parts.guard.open(request, "endpoints.show"):
            return _shown(await _found(parts, endpoint_id))

    @get(f"{_ID}/deliveries", name="operator_deliveries")
    async def list_deliveries(
        self, request: AnyRequest, parts: Parts, endpoint_id: PathId
    ) -> Shown:
        """Past and pending deliveries to it, newest first."""
        async with parts.guard.open(request, "parts.endpoints.deliveries"):
            asked = query_of(request, DeliveryQuery)
            endpoint = await _found(parts, endpoint_id)
            page = Page(asked.limit, asked.after)
            found = await parts.endpoints.deliveries(endpoint.id, page, state=asked.state)
            return listed([msgspec.to_builtins(each) for each in found], found.next_after)

    @post(name="operator_add_endpoint")
    async def add(self, request: AnyRequest, parts: Parts) -> Shown:
        """Deliver events to a URL from now on. Only this answer contains the secret."""
        async with parts.guard.open(request, "endpoints.add") as record:
            asked = await body_of(request, NewEndpoint)
            # Without the URL: its query may contain a secret of the subscriber.
            record.facts = {
                "event_types": list(asked.event_types),
                "description": asked.description,
                **_facts(asked),
            }
            await record.begin()
            new = await parts.registry.add(
                asked.url, asked.description, asked.event_types, asked.filter, asked.headers
            )
            record.facts = {**record.facts, "endpoint_id": new.endpoint.id}
            return _secret(new)

    @patch(_ID, name="operator_change_endpoint")
    async def change(self, request: AnyRequest, parts: Parts, endpoint_id: PathId) -> Shown:
        """Change which events and which headers are sent from now on."""
        async with parts.guard.open(request, "endpoints.change") as record:
            asked = await body_of(request, EndpointChange)
            record.facts = {**record.facts, **_facts(asked)}
            endpoint = await _found(parts, endpoint_id)
            await record.begin()
            await parts.registry.change(endpoint.id, content=asked.filter, headers=asked.headers)
            return _shown(await _found(parts, endpoint.id))

    @post(f"{_ID}/rotate", name="operator_rotate_endpoint", status_code=200)
    async def rotate(self, request: AnyRequest, parts: Parts, endpoint_id: PathId) -> Shown:
        """Make a new secret. For some time, deliveries are signed with the old one too."""
        async with parts.guard.open(request, "endpoints.rotate") as record:
            asked = await body_of(request, Rotation)
            record.facts = {**record.facts, "grace_seconds": asked.grace_seconds}
            endpoint = await _found(parts, endpoint_id)
            await record.begin()
            return _secret(_there(await parts.registry.rotate(endpoint.id, asked.grace_seconds)))

    @delete(_ID, name="operator_remove_endpoint", status_code=200)
    async def remove(self, request: AnyRequest, parts: Parts, endpoint_id: PathId) -> Shown:
        """Remove an endpoint, and cancel its pending deliveries."""
        async with _changing(parts, request, endpoint_id, "remove") as endpoint:
            await parts.registry.remove(endpoint.id)
            return {"id": endpoint.id, "removed": True}

    @post(f"{_ID}/test", name="operator_test_endpoint", status_code=200)
    async def test(self, request: AnyRequest, parts: Parts, endpoint_id: PathId) -> Shown:
        """Send a test event now, and report only the status class of the answer."""
        async with _changing(parts, request, endpoint_id, "test") as endpoint:
            outcome = _there(await parts.registry.test(endpoint.id))
            is_success = outcome == _ANSWERED
            return {"id": endpoint.id, "outcome": outcome, "is_success": is_success}

    @post(f"{_ID}/disable", name="operator_disable_endpoint", status_code=200)
    async def disable(self, request: AnyRequest, parts: Parts, endpoint_id: PathId) -> Shown:
        """Stop deliveries to it."""
        async with _changing(parts, request, endpoint_id, "disable") as endpoint:
            await parts.registry.disable(endpoint.id)
            return _shown(await _found(parts, endpoint.id))

    @post(f"{_ID}/enable", name="operator_enable_endpoint", status_code=200)
    async def enable(self, request: AnyRequest, parts: Parts, endpoint_id: PathId) -> Shown:
        """Start deliveries to it again."""
        async with _changing(parts, request, endpoint_id, "enable") as endpoint:
            await parts.registry.enable(endpoint.id)
            return _shown(await _found(parts, endpoint.id))

    @post(
        f"{_ID}/replay",
        name="operator_replay_events",
        status_code=202,
    )
    async def replay(self, request: AnyRequest, parts: Parts, endpoint_id: PathId) -> ReplayPage:
        """Deliver a page of events again that the endpoint wants. Go on until `next` is null."""
        async with parts.guard.open(request, "endpoints.replay") as record:
            asked = await body_of(request, ReplayRequest)
            span = ReplaySpan(asked.since, asked.until, asked.after)
            record.facts = {**record.facts, "since": asked.since, "until": asked.until}
            await record.begin()
            page = await replay_events(parts.events, endpoint_id, span, record.agent)
            if page is None:
                raise UnknownPath("There is no endpoint with this id.")
            record.facts = {
                **record.facts,
                "replay": page.replay,
                "started": page.started,
                "skipped": page.skipped,
            }
            parts.wake()
            return page


@asynccontextmanager
async def _changing(
    parts: OperatorParts,
    request: AnyRequest,
    endpoint_id: str,
    verb: str,
) -> AsyncIterator[Endpoint]:
    """The endpoint that a request changes. It checks the operator and writes the audit record."""
    async with parts.guard.open(request, f"endpoints.{verb}") as record:
        endpoint = await _found(parts, endpoint_id)
        await record.begin()
        yield endpoint


async def _found(parts: OperatorParts, endpoint_id: str) -> Endpoint:
    return _there(await parts.registry.find(endpoint_id))


def _there(found: _T | None) -> _T:
    if found is None:
        raise UnknownPath("There is no endpoint with this id.")
    return found


def _shown(endpoint: Endpoint) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(endpoint)
    headers = dict.fromkeys(endpoint.headers, REDACTED)
    return {name: value for name, value in shown.items() if name not in _HIDDEN} | {
        "headers": headers
    }


def _facts(asked: NewEndpoint | EndpointChange) -> dict[str, Any]:
    """What the audit records of a filter and of headers: of those, the names."""
    facts: dict[str, Any] = {} if asked.filter is UNSET else {"filter": asked.filter}
    if asked.headers is not UNSET:
        facts["headers"] = [printable(name) for name in asked.headers]
    return facts


def _secret(new: NewSecret) -> Shown:
    return {**_shown(new.endpoint), "secret": new.secret}
