"""A mock of an imported document.

It samples the declared replies. Where the document shows the identity of things, it remembers what
callers create, change and delete. Every answer is valid by the document. If none can be found, the
answer is 501, with the operation and its place in the document.

Operations that share a method and a path, and differ in a header or a part of the query.

Documents have them where the path of OpenAPI has a fragment or a query.

Refusals of the mock of an imported document: declared errors, or problem details (RFC 9457).
"""

import asyncio
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from gateway.backends.mock.application import MockOptions
from gateway.backends.mock.damage import damaged
from gateway.backends.mock.faults import (
    FAULT_HEADER,
    NO_FAULT,
    Fault,
    NotAFault,
    Scenario,
    ScenarioStep,
    requested_fault,
)
from gateway.backends.mock.imported.document_request import DocumentRequest
from gateway.backends.mock.imported.identity import Role, roles_of
from gateway.backends.mock.imported.replies import (
    ELSEWHERE,
    PROBLEM,
    body_of,
    media_type_of,
    reply_of,
    success_of,
)
from gateway.backends.mock.imported.requests import DocumentReader
from gateway.backends.mock.imported.resources import Answer, Resources
from gateway.backends.mock.imported.schemas import Schemas
from gateway.backends.mock.requests import RequestRefused
from gateway.backends.mock.router import Router
from gateway.backends.mock.samples.answers import overlaid
from gateway.backends.mock.samples.errors import NoSample
from gateway.backends.mock.slots import SlotCheck
from gateway.backends.mock.state import StoredState
from gateway.backends.wire import WireReply, WireRequest
from gateway.clock import Clock
from gateway.contract.imported import (
    ImportedConnector,
    ImportedHeader,
    ImportedOperation,
    ImportedReply,
)
from gateway.contract.mock import MockRefusal
from gateway.contract.values import jsontext
from gateway.threads import in_thread

_TEXTS: Final = ("title", "detail", "message", "error", "error_description", "description")
_STATUSES: Final = ("status", "code", "statusCode", "status_code")
_AROUND: Final = "error"
"""The member that often holds an object with the error."""


class Refusals:
    """Makes the replies to requests that are refused."""

    def __init__(self, schemas: Schemas, seed: str) -> None:
        self._schemas = schemas
        self._seed = seed

    def reply(
        self, operation: ImportedOperation | None, refused: RequestRefused, fault: Fault
    ) -> WireReply:
        """The error that the document declares for the status, or else a problem."""
        refusal = refused.refusal
        headers = fault_headers(fault)
        if refused.allow:
            headers["allow"] = ", ".join(refused.allow)
        declared = None if operation is None else reply_of(operation, refusal.status)
        made = None if declared is None else self._declared(declared.reply, refusal)
        media_type, body = made or (PROBLEM, _problem(refusal))
        if media_type is not None:
            headers["content-type"] = media_type
        return WireReply(
            status=refusal.status,
            headers=headers,
            body=damaged(body, fault.damage, None) if fault.damage != "break-contract" else body,
            is_cut=fault.damage == "close",
            body_delay_seconds=fault.body_latency_seconds,
        )

    def impossible(self, operation: ImportedOperation | None, error: NoSample) -> WireReply:
        """501: the mock finds no valid answer to this operation."""
        problem = {
            "type": "about:blank",
            "title": "The mock finds no valid answer.",
            "status": 501,
            "detail": f"{error}; correct the schemas of its replies, or use the live upstream",
        }
        if operation is not None:
            problem |= {"operation": operation.id, "pointer": operation.pointer}
        headers = {"content-type": PROBLEM}
        return WireReply(status=501, headers=headers, body=jsontext.encode(problem))

    def _declared(
        self, reply: ImportedReply, refusal: MockRefusal
    ) -> tuple[str | None, bytes] | None:
        """The media type and the body of a declared error. None if there is no valid one."""
        if reply.kind in {"binary", "events"}:
            return None
        try:
            value = self._value(reply, refusal)
        except NoSample:
            return None
        return media_type_of(reply), body_of(reply, value)

    def _value(self, reply: ImportedReply, refusal: MockRefusal) -> Any:
        if reply.kind == "empty":
            return None
        samples = self._schemas.samples(reply.schema)
        if reply.kind == "text" and samples.admits(refusal.title):
            return refusal.title
        value = samples.sample(self._seed, str(refusal.status), is_short=True)
        if not isinstance(value, dict):
            return value
        said = self._said(samples.schema, refusal)
        inner = self._schemas.shapes.properties(samples.schema).get(_AROUND)
        if _AROUND not in said or isinstance(value.get(_AROUND), dict):
            said[_AROUND] = self._said(inner, refusal)
        return overlaid(value, {k: v for k, v in said.items() if v}, samples.admits)

    def _said(self, schema: Any, refusal: MockRefusal) -> dict[str, Any]:
        """What the members of an error usually say, for the members that `schema` declares."""
        known = self._schemas.shapes.properties(schema)
        said: dict[str, Any] = dict.fromkeys(_TEXTS, refusal.title)
        said |= dict.fromkeys(_STATUSES, refusal.status)
        return {name: each for name, each in said.items() if name in known}


def fault_headers(fault: Fault) -> dict[str, str]:
    """The headers that a fault adds.

    Documents do not declare which headers report a limit. These are the ones of the IETF's draft
    (draft-ietf-httpapi-ratelimit-headers-07).
    """
    found: dict[str, str] = {}
    if fault.exhausted_seconds is not None:
        found |= {"ratelimit-remaining": "0", "ratelimit-reset": str(fault.exhausted_seconds)}
    if fault.retry_after_seconds is not None:
        found["retry-after"] = str(fault.retry_after_seconds)
    if fault.status is not None and 300 <= fault.status < 400:
        found["location"] = "/"
    return found


def _problem(refusal: MockRefusal) -> bytes:
    problem = {"type": "about:blank", "title": refusal.title, "status": refusal.status}
    if refusal.path:
        problem["pointer"] = refusal.path
    return jsontext.encode(problem)


_TEXT: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


def sampled_headers(reply: ImportedReply, schemas: Schemas, *salt: str) -> dict[str, str]:
    """The headers that results have, by lower-case name.

    An optional one without a sample is left out. Raises `NoSample` for a required one.
    """
    found: dict[str, str] = {}
    for each in reply.headers:
        try:
            found[each.name.lower()] = _sampled(each, schemas, *salt)
        except NoSample:
            if each.is_required:
                raise
    return found


def _sampled(header: ImportedHeader, schemas: Schemas, *salt: str) -> str:
    value = schemas.samples(header.schema).sample(*salt, header.name)
    text = jsontext.encode(value).decode() if header.is_json else _text(value, header)
    if not _TEXT.fullmatch(text):
        raise NoSample(f"no sample of the header {header.name} can be sent")
    return text


def _text(value: Any, header: ImportedHeader) -> str:
    if isinstance(value, list):
        return ",".join(_piece(each) for each in value)
    if isinstance(value, dict):
        between = "=" if header.explode else ","
        return ",".join(f"{_piece(name)}{between}{_piece(each)}" for name, each in value.items())
    return _plain(value)


def _piece(value: Any) -> str:
    text = _plain(value)
    if "," in text or "=" in text or text != text.strip():
        raise NoSample("a part of a header contains a separator")
    return text


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else jsontext.encode(value).decode()


class PathAlternatives:
    """The operations of one document by method and path."""

    def __init__(self, operations: Iterable[ImportedOperation]) -> None:
        self._by_place: dict[tuple[str, str], list[ImportedOperation]] = {}
        for each in operations:
            self._by_place.setdefault((each.method, each.path), []).append(each)
        for same in self._by_place.values():
            # One that needs nothing would take the requests to all others.
            same.sort(key=_number_of_needs, reverse=True)

    def of(self, operation: ImportedOperation) -> Sequence[ImportedOperation]:
        """The operations with the method and the path of `operation`, which is one of them."""
        return self._by_place[operation.method, operation.path]


def _number_of_needs(operation: ImportedOperation) -> int:
    return sum(each.is_required for each in operation.parameters)


_WRITES: Final = frozenset({"create", "replace", "update", "delete"})
_EVENTS: Final = 2
"""The events of a sampled stream."""


class ImportedApplication:
    """Answers requests like the upstream of an imported document.

    The same seed, with the same calls in the same order, gives the same replies.
    """

    def __init__(
        self,
        connector: ImportedConnector,
        clock: Clock,
        *,
        options: MockOptions | None = None,
        state: StoredState | None = None,
        scenario: Sequence[ScenarioStep] = (),
    ) -> None:
        self._connector = connector
        self.clock = clock
        """The mock's own clock."""
        self._options = options or MockOptions()
        self.base_url = self._options.base_url or connector.base_url
        self._scenario = Scenario(scenario)
        self._state = state or StoredState()
        self._schemas = Schemas(connector)
        self._slots = SlotCheck(connector.slots)
        self._refusals = Refusals(self._schemas, self._options.seed)
        self._resources = Resources(self._schemas, self._state, self._options.seed)
        self._readers: dict[str, DocumentReader] = {}
        self._answering = asyncio.Lock()

    @cached_property
    def _router(self) -> Router[ImportedOperation]:
        return Router(self._connector.callable_operations)

    @cached_property
    def _alternatives(self) -> PathAlternatives:
        return PathAlternatives(self._connector.callable_operations)

    @cached_property
    def _roles(self) -> dict[str, Role]:
        return roles_of(self._connector.callable_operations, self._schemas.shapes)

    def prepare(self) -> None:
        """Find the routes and the identities now. Else the first request does it."""
        with suppress(NoSample):  # which each request reports
            _ = self._router, self._alternatives, self._roles

    async def handle(self, request: WireRequest) -> WireReply:
        """The reply to `request`. Raises `ConfigurationError` if the state cannot be used."""
        request = self._relative(request)
        operation: ImportedOperation | None = None
        fault = NO_FAULT
        try:
            operation, path = self._router.find(request.method, request.target)
            operation = self._meant(operation, request, path)
            fault = self._fault(operation, request)
            await asyncio.sleep(self._options.latency_seconds + fault.latency_seconds)
            _refuse_requested(fault)
            self._slots.check(_slot_names(operation), request)
            reply = partial(self._replied, operation, request, path, fault)
        except RequestRefused as refused:
            reply = partial(self._refusals.reply, operation, refused, fault)
        except NoSample as error:
            return self._refusals.impossible(operation, error)
        # A document chooses how long this takes. One at a time, because each is a transaction.
        async with self._answering:
            return await in_thread(reply)

    def close(self) -> None:
        """Close the state."""
        self._state.close()

    def _replied(
        self, operation: ImportedOperation, request: WireRequest, path: dict[str, str], fault: Fault
    ) -> WireReply:
        try:
            asked = self._asked(operation, request, path)
            return self._encoded(self._answer(operation, asked), fault, asked)
        except RequestRefused as refused:
            return self._refusals.reply(operation, refused, fault)
        except NoSample as error:
            return self._refusals.impossible(operation, error)

    def _relative(self, request: WireRequest) -> WireRequest:
        """The request without the path of the base URL, if it begins with that."""
        prefix = urlsplit(self._connector.base_url or "").path.rstrip("/")
        if not prefix or not request.target.startswith(f"{prefix}/"):
            return request
        try:
            self._router.find(request.method, request.target)
        except RequestRefused:
            return replace(request, target=request.target.removeprefix(prefix))
        return request

    def _meant(
        self, operation: ImportedOperation, request: WireRequest, path: dict[str, str]
    ) -> ImportedOperation:
        """Of the operations with the path of `operation`, the first that accepts `request`."""
        same = self._alternatives.of(operation)
        for each in same if len(same) > 1 else ():
            with suppress(RequestRefused):
                self._asked(each, request, path)
                return each
        return operation

    def _fault(self, operation: ImportedOperation, request: WireRequest) -> Fault:
        scripted = self._scenario.next_for(operation.id, operation.tool)
        try:
            return requested_fault(request.headers) or scripted
        except NotAFault as error:
            refusal = MockRefusal(status=400, title=f"{error}.", path=f"/header/{FAULT_HEADER}")
            raise RequestRefused(refusal) from error

    def _asked(
        self, operation: ImportedOperation, request: WireRequest, path: dict[str, str]
    ) -> DocumentRequest:
        if operation.id not in self._readers:
            self._readers[operation.id] = DocumentReader(
                operation, self._schemas, self._slots.secret_names
            )
        return self._readers[operation.id].read(request, path)

    def _answer(self, operation: ImportedOperation, asked: DocumentRequest) -> Answer:
        role = self._roles.get(operation.id)
        if role is not None:
            with suppress(NoSample):
                return self._remembered(operation, role, asked)
        return self._sampled(operation, asked)

    def _remembered(
        self, operation: ImportedOperation, role: Role, asked: DocumentRequest
    ) -> Answer:
        """The answer about a thing. Raises `NoSample` if the document contradicts its identity."""
        if role.kind not in _WRITES:
            return self._resources.answer(operation, role, asked)
        with self._state.transaction(self.clock.now()):
            return self._resources.answer(operation, role, asked)

    def _sampled(self, operation: ImportedOperation, asked: DocumentRequest) -> Answer:
        declared = success_of(operation, asked.accept)
        samples = self._schemas.samples(declared.reply.schema)
        salt = (self._options.seed, asked.fingerprint)
        value: Any = None
        if declared.reply.kind == "events":
            value = [samples.sample(*salt, str(number)) for number in range(_EVENTS)]
        elif declared.reply.kind in {"json", "text"}:
            value = samples.sample(*salt)
        return Answer(declared=declared, value=value)

    def _encoded(self, answer: Answer, fault: Fault, asked: DocumentRequest) -> WireReply:
        reply = answer.declared.reply
        media_type = media_type_of(reply)
        headers = sampled_headers(reply, self._schemas, self._options.seed, asked.fingerprint)
        if media_type is not None:
            headers["content-type"] = media_type
        if answer.location is not None:
            headers["location"] = answer.location
        elif 300 <= answer.declared.status < 400:
            headers["location"] = ELSEWHERE
        body = body_of(reply, answer.value)
        validator = self._schemas.samples(reply.schema).validator
        if fault.damage != "break-contract" or reply.kind == "json":
            body = damaged(body, fault.damage, validator)
        return WireReply(
            status=answer.declared.status,
            headers=headers | fault_headers(fault),
            body=body,
            is_cut=fault.damage == "close",
            body_delay_seconds=fault.body_latency_seconds,
        )


def _refuse_requested(fault: Fault) -> None:
    if fault.status is not None:
        title = "A fault of the mock was requested."
        raise RequestRefused(MockRefusal(status=fault.status, title=title))


def _slot_names(operation: ImportedOperation) -> list[list[str]]:
    """The alternatives of credential slots of `operation`."""
    return [[use.slot for use in uses] for uses in operation.security]
