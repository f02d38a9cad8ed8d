"""What is answered by an imported document.

The declared replies are sampled. Where the document shows the identity of things, what callers
create, change and delete is remembered. Every answer is valid by the document. If none can be
found, the answer is 501, with the operation and its place in the document. Refusals are declared
errors, or problem details (RFC 9457). Documents have no examples of calls, so arguments are sampled
too.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

from gateway.backends.mock.credentials import SlotCheck
from gateway.backends.mock.faults import MadeReply
from gateway.backends.mock.replies import (
    ELSEWHERE,
    PROBLEM,
    body_of,
    media_type_of,
    reply_of,
    success_of,
    value_of,
)
from gateway.backends.mock.requests import DocumentReader, RequestRefused, Router
from gateway.backends.mock.state import StoredState
from gateway.backends.mock.things import Answer, Resources, Role, roles_of
from gateway.backends.wire import WireRequest
from gateway.catalogue import Entry
from gateway.contract.imported import (
    ImportedConnector,
    ImportedHeader,
    ImportedOperation,
    ImportedReply,
)
from gateway.contract.mock import MockRefusal, MockRequest
from gateway.contract.schemas.flattening import NoSample
from gateway.contract.schemas.samples import Schemas, overlaid
from gateway.contract.selection import FIELDS
from gateway.contract.values import jsontext

_TRIAL: Final = MockRequest(
    operation="", now=datetime.fromtimestamp(0, UTC), seed="", fingerprint=""
)
"""For a request that is only checked."""
_WRITES: Final = frozenset({"create", "replace", "update", "delete"})
_TEXTS: Final = ("title", "detail", "message", "error", "error_description", "description")
_STATUSES: Final = ("status", "code", "statusCode", "status_code")
_AROUND: Final = "error"
"""The member that often holds an object with the error."""
_TEXT: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


class DocumentMock:
    """What is answered by an imported document."""

    rate = ("ratelimit-remaining", "ratelimit-reset")
    """Documents do not declare them. These are the ones of the IETF's draft
    (draft-ietf-httpapi-ratelimit-headers-07)."""
    tables: Mapping[str, dict[str, Any]] = {}
    headers_at = "/header/"
    is_slow = True

    def __init__(self, connector: ImportedConnector, seed: str, state: StoredState) -> None:
        operations = connector.callable_operations
        self.base_url = connector.base_url
        self._seed = seed
        self._state = state
        self._schemas = schemas = Schemas(connector.definitions)
        self._slots = SlotCheck(connector.slots)
        self._resources = Resources(schemas, state, seed)
        self._readers: dict[str, DocumentReader] = {}
        self._router = Router(operations)
        self._roles = roles_of(operations, schemas)
        self._same: dict[tuple[str, str], list[ImportedOperation]] = {}
        # One that needs nothing would take the requests to all others.
        for each in sorted(operations, key=_number_of_needs, reverse=True):
            self._same.setdefault((each.method, each.path), []).append(each)

    def find(self, request: WireRequest) -> tuple[ImportedOperation, dict[str, str]]:
        """The operation and its path parameters. Raises `RequestRefused`.

        Documents have operations that share a method and a path, and differ in a header or a part
        of the query, where the path of OpenAPI has a fragment or a query. The first one that
        accepts `request` is meant.
        """
        operation, path = self._router.find(request.method, request.target)
        same = self._same[operation.method, operation.path]
        for each in same if len(same) > 1 else ():
            with suppress(RequestRefused):
                self._reader(each).read(request, path, _TRIAL)
                return each, path
        return operation, path

    def read(
        self,
        operation: ImportedOperation,
        request: WireRequest,
        path: dict[str, str],
        here: MockRequest,
    ) -> MockRequest:
        """`here` with the arguments. Raises `RequestRefused`, also for credentials."""
        self._slots.check([[use.slot for use in uses] for uses in operation.security], request)
        return self._reader(operation).read(request, path, here)

    def answer(self, operation: ImportedOperation, asked: MockRequest) -> MadeReply:
        """The reply to a valid request. Raises `RequestRefused` for what does not exist."""
        try:
            return self._made(self._answer(operation, asked), asked)
        except NoSample as error:
            return _impossible(operation, error)

    def refuse(self, operation: ImportedOperation | None, refused: RequestRefused) -> MadeReply:
        """The error that the document declares for the status, or else a problem."""
        refusal = refused.refusal
        headers = {"allow": ", ".join(refused.allow)} if refused.allow else {}
        declared = None if operation is None else reply_of(operation, refusal.status)
        made = None if declared is None else self._declared(declared.reply, refusal)
        media_type, body = made or (PROBLEM, _problem(refusal))
        if media_type is not None:
            headers["content-type"] = media_type
        return MadeReply(status=refusal.status, headers=headers, body=body, is_breakable=False)

    def _reader(self, operation: ImportedOperation) -> DocumentReader:
        if operation.id not in self._readers:
            self._readers[operation.id] = DocumentReader(
                operation, self._schemas, self._slots.secret_names
            )
        return self._readers[operation.id]

    def _answer(self, operation: ImportedOperation, asked: MockRequest) -> Answer:
        role = self._roles.get(operation.id)
        if role is not None:
            # The document may contradict the identity of the thing.
            with suppress(NoSample):
                return self._remembered(operation, role, asked)
        return self._sampled(operation, asked)

    def _remembered(self, operation: ImportedOperation, role: Role, asked: MockRequest) -> Answer:
        if role.kind not in _WRITES:
            return self._resources.answer(operation, role, asked)
        with self._state.transaction(asked.now):
            return self._resources.answer(operation, role, asked)

    def _sampled(self, operation: ImportedOperation, asked: MockRequest) -> Answer:
        declared = success_of(operation, asked.headers.get("accept", ""))
        value = value_of(declared.reply, self._schemas, self._seed, asked.fingerprint)
        return Answer(declared=declared, value=value)

    def _made(self, answer: Answer, asked: MockRequest) -> MadeReply:
        reply = answer.declared.reply
        media_type = media_type_of(reply)
        headers = sampled_headers(reply, self._schemas, self._seed, asked.fingerprint)
        if media_type is not None:
            headers["content-type"] = media_type
        if answer.location is not None:
            headers["location"] = answer.location
        elif 300 <= answer.declared.status < 400:
            headers["location"] = ELSEWHERE
        return MadeReply(
            status=answer.declared.status,
            headers=headers,
            body=body_of(reply, answer.value),
            validator=self._schemas.samples(reply.schema).validator,
            is_breakable=reply.kind == "json",
        )

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
        inner = self._schemas.properties(samples.schema).get(_AROUND)
        if _AROUND not in said or isinstance(value.get(_AROUND), dict):
            said[_AROUND] = self._said(inner, refusal)
        return overlaid(value, {k: v for k, v in said.items() if v}, samples.admits)

    def _said(self, schema: Any, refusal: MockRefusal) -> dict[str, Any]:
        """What the members of an error usually say, for the members that `schema` declares."""
        known = self._schemas.properties(schema)
        said: dict[str, Any] = dict.fromkeys(_TEXTS, refusal.title)
        said |= dict.fromkeys(_STATUSES, refusal.status)
        return {name: each for name, each in said.items() if name in known}


def _number_of_needs(operation: ImportedOperation) -> int:
    return sum(each.is_required for each in operation.parameters)


def _impossible(operation: ImportedOperation, error: NoSample) -> MadeReply:
    """501: the mock finds no valid answer to this operation."""
    problem = {
        "type": "about:blank",
        "title": "The mock finds no valid answer.",
        "status": 501,
        "detail": f"{error}; correct the schemas of its replies, or use the live upstream",
        "operation": operation.id,
        "pointer": operation.pointer,
    }
    body = jsontext.encode(problem)
    headers = {"content-type": PROBLEM}
    return MadeReply(status=501, headers=headers, body=body, is_breakable=False)


def _problem(refusal: MockRefusal) -> bytes:
    problem = {"type": "about:blank", "title": refusal.title, "status": refusal.status}
    if refusal.path:
        problem["pointer"] = refusal.path
    return jsontext.encode(problem)


def made_arguments(entry: Entry, number: int = 1, seed: int = 0) -> list[dict[str, Any]]:
    """At most so many different valid arguments, without `fields`: no schema says its names.

    The first have as few members as possible. Empty: none are found.
    """
    schema = entry.listing.input_schema
    if entry.operation.selects_fields:
        others = {name: each for name, each in schema["properties"].items() if name != FIELDS}
        schema = {**schema, "properties": others}
    samples = Schemas(schema.get("$defs", {})).samples(schema)
    found: list[dict[str, Any]] = []
    for each in range(number):
        try:
            made = samples.sample(str(seed), entry.id, str(each), is_short=each == 0)
        except NoSample:
            continue
        if made not in found:
            found.append(made)
    return found


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
