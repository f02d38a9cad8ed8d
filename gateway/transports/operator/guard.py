"""Checks requests of operators, writes one audit record for each, and provides what they need."""

import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Annotated, Any, Final, TypeAlias, TypeVar

import msgspec
from litestar import Request
from litestar.di import NamedDependency
from litestar.params import FromPath, SkipValidation
from msgspec import Meta, Struct

from gateway.audit.facts import OperatorRequest, printable
from gateway.audit.log import AuditLog, OpenRecord
from gateway.auth.authorize import Policy
from gateway.auth.principal import Identification
from gateway.catalogue import Catalogue
from gateway.contract.credentials import OPERATE
from gateway.contract.values import jsontext
from gateway.contract.values.pointers import pointer_of
from gateway.errors import InvalidArguments, MalformedRequest, UnknownPath
from gateway.events.endpoints import EndpointRegistry
from gateway.observability.metrics import GatewayMetrics, Reading
from gateway.store.protocols import AuditStore, Endpoints, EventLog, Inbox, Queue
from gateway.store.usage import UsageStore
from gateway.transports.health import CheckReadiness
from gateway.transports.http.asgi import header_values, request_id_of
from gateway.transports.http.call_headers import KEY_HEADER
from gateway.transports.http.senders import authenticate, sender_of, shown_credentials
from gateway.webhooks.processing import Quarantine

AnyRequest: TypeAlias = Request[Any, Any, Any]
MAX_PAGE: Final = 200
Id: TypeAlias = Annotated[str, Meta(min_length=1, max_length=64)]
Limit: TypeAlias = Annotated[int, Meta(ge=1, le=MAX_PAGE)]
Moment: TypeAlias = Annotated[datetime, Meta(tz=True)]
Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200)]
MAX_BODY_BYTES: Final = 2**20
"""The limit of a request's body: operators send only ids, choices and an address."""
_STEP: Final = re.compile(r"[A-Za-z0-9_]+")
"""A member or an index in a place as msgspec writes it: `$.event_types[0]`."""
_QUOTED: Final = re.compile(r" '.*'$", re.DOTALL)
"""The value that msgspec puts in its message. An answer must not contain values that were sent."""
_T = TypeVar("_T")
_POLL_SECONDS: Final = 60.0
_MAX_POLLED: Final = 1024


class OperatorGuard:
    """Checks that callers are operators. Writes one audit record with the outcome of a request."""

    def __init__(
        self,
        identification: Identification,
        policy: Policy,
        audit: AuditLog,
    ) -> None:
        self._identification = identification
        self._policy = policy
        self._audit = audit
        self._polled: dict[tuple[str, str], float] = {}
        """When a successful request was last recorded, by subject and verb."""

    @asynccontextmanager
    async def open(
        self, request: AnyRequest, verb: str, *, is_poll: bool = False
    ) -> AsyncIterator[OpenRecord]:
        """Check the caller, run the block, and record its outcome with what the path names.

        `is_poll`: programs send this request again and again, so successful ones leave one record
        per key and minute. Refusals and failures always leave a record.

        Raises `Unauthenticated`. Raises `UnknownPath` for callers who are not operators, so that
        they cannot find out which paths exist.
        """
        scope: Any = request.scope
        asked = OperatorRequest(request_id=request_id_of(scope), operation_id=f"operator.{verb}")
        async with self._audit.open(asked) as record:
            record.facts = {name: printable(value) for name, value in request.path_params.items()}
            sender = sender_of(scope)
            principal = await authenticate(self._identification, shown_credentials(scope), sender)
            record.principal = principal
            if not self._policy.allows(principal.agent, OPERATE):
                raise UnknownPath
            sender.max_body_bytes = MAX_BODY_BYTES
            sender.limit_source = "requests of operators"
            if header_values(scope, KEY_HEADER):
                raise MalformedRequest("Requests of operators take no Idempotency-Key.")
            record.is_repeated = is_poll and self._is_recent(principal.subject, verb)
            yield record
            if is_poll and not record.is_repeated:
                self._note_poll(principal.subject, verb)

    def _is_recent(self, subject: str, verb: str) -> bool:
        """Whether such a request succeeded and was recorded within the last minute."""
        known = self._polled.get((subject, verb))
        return known is not None and time.monotonic() - known < _POLL_SECONDS

    def _note_poll(self, subject: str, verb: str) -> None:
        if len(self._polled) >= _MAX_POLLED:
            self._polled.clear()
        self._polled[subject, verb] = time.monotonic()


def query_of(request: AnyRequest, form: type[_T]) -> _T:
    """The query parameters as `form`. Raises `InvalidArguments`."""
    given: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in given:
            raise InvalidArguments.at(pointer_of([name]), "maxItems", "is given twice")
        if not value.isprintable():
            # No id, name or type has such characters, and PostgreSQL fails on a NUL in a query.
            raise InvalidArguments.at(pointer_of([name]), "pattern", "holds control characters")
        given[name] = value
    return _converted(given, form, strict=False)


async def body_of(request: AnyRequest, form: type[_T]) -> _T:
    """The JSON body as `form`. No body is an empty object.

    Raises `MalformedRequest` when it is not JSON, and `InvalidArguments` when it does not fit.
    """
    text = await request.body()
    try:
        value = jsontext.decode(text) if text else {}
    except jsontext.NotJson as error:
        raise MalformedRequest(str(error)) from None
    return _converted(value, form, strict=True)


def listed(items: Sequence[Mapping[str, Any]], next_after: str | None) -> dict[str, Any]:
    """A page, with the id after which the next page starts."""
    return {"items": items, "next": next_after}


def _converted(value: object, form: type[_T], *, strict: bool) -> _T:
    try:
        return msgspec.convert(value, form, strict=strict)
    except msgspec.ValidationError as error:
        detail, _, place = str(error).partition(" - at `$")
        pointer = "".join(f"/{step}" for step in _STEP.findall(place))
        raise InvalidArguments.at(pointer, "type", _QUOTED.sub("", detail)) from None


class OperatorParts(Struct, frozen=True, kw_only=True):
    """What the routes of operators need."""

    guard: OperatorGuard
    inbox: Inbox
    queue: Queue
    quarantine: Quarantine
    wake: Callable[[], None]
    """Notifies the workers of this process that there is something to do."""
    registry: EndpointRegistry
    endpoints: Endpoints
    events: EventLog
    audit: AuditStore
    usage: UsageStore
    catalogue: Catalogue
    check_readiness: CheckReadiness
    metrics: GatewayMetrics
    read_all: Callable[[], Awaitable[Sequence[Reading]]]
    """Reads what waits now, for the metrics."""


Parts: TypeAlias = NamedDependency[SkipValidation[OperatorParts]]
PathId: TypeAlias = FromPath[str]
Shown: TypeAlias = dict[str, Any]
"""What operators are shown, as the members of a JSON object."""
