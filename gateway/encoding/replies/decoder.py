"""Turns the replies of an imported operation into results."""

import logging
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gateway.amounts import amount
from gateway.contract.context import ReportProgress
from gateway.contract.imported import HEADERS, ImportedOperation, ImportedReply
from gateway.contract.refusals import UpstreamAnswer, upstream_answer
from gateway.contract.upstream import Reply, status_names
from gateway.contract.values.files import FileContent, shown_type
from gateway.contract.values.schema import DeferredValidator, Validator, with_definitions
from gateway.encoding.replies.content import (
    BODILESS,
    REDIRECTS,
    AbsentNulls,
    address_of,
    essence_of,
    file_of,
    is_in_range,
    is_json_essence,
    json_of,
    object_of,
    precision_of,
    text_of,
    untyped,
)
from gateway.encoding.replies.results import HeaderReader
from gateway.errors import InvalidReply

# Counts the events of a reply while it arrives, so that a call can report its progress.

_KEPT: Final = 6
"""How much of a line is looked at: `data:` and one byte more."""


class EventCounter:
    """Counts server-sent events with data, or lines that are not blank."""

    def __init__(self, report: ReportProgress) -> None:
        self._report = report
        self._count = 0
        self._start = b""
        """The beginning of the line that has not ended yet."""
        self._has_data = False

    def __call__(self, headers: Mapping[str, str], piece: bytes) -> None:
        """See `Watch`."""
        is_stream = headers.get("content-type", "").lower().startswith("text/event-stream")
        before = self._count
        *ended, rest = piece.split(b"\n")
        for line in ended:
            self._end((self._start + line[:_KEPT]).strip(b"\r"), is_stream=is_stream)
            self._start = b""
        self._start = (self._start + rest[:_KEPT])[:_KEPT]
        if self._count > before:
            self._report(self._count, f"{amount(self._count, 'event')} received")

    def _end(self, line: bytes, *, is_stream: bool) -> None:
        if not is_stream:
            self._count += bool(line.strip())
        elif not line:
            self._count += self._has_data
            self._has_data = False
        else:
            self._has_data |= line == b"data" or line.startswith(b"data:")


_MARK: Final = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8."""
_MAX_DIGITS: Final = 15
_SEPARATOR: Final = b"\x1e"
_COMPLETE: Final = (b"\n", b"\r", b"\t", b" ", b"}", b"]", b'"')
"""How a JSON text ends that is not cut. A number without a blank behind it may be."""


def event_texts(reply: Reply) -> Iterator[bytes]:
    """The JSON text of each event or line. Raises `InvalidReply`."""
    match essence_of(reply):
        case "text/event-stream":
            yield from _data_texts(reply.body)
        case "application/json-seq":
            yield from _records(reply.body)
        case _:
            yield from (line for line in reply.body.split(b"\n") if line.strip())


def server_sent_events(body: bytes) -> Iterator[dict[str, Any]]:
    """The server-sent events with their fields (WHATWG HTML §9.2.6, OpenAPI 3.2 §4.14.3).

    `retry` is a number, and other fields are text. Comments and other fields are left out, and so
    is an event without data, or one that no empty line ends: the stream may have been cut inside
    it.
    """
    text = body.removeprefix(_MARK).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    event: dict[str, Any] = {}
    for line in text.split(b"\n")[:-1]:
        name, _, raw = line.partition(b":")
        value = raw.removeprefix(b" ").decode("utf-8", "replace")
        if not line:
            if "data" in event:
                yield event
            event = {}
        elif name == b"data":
            event["data"] = f"{event['data']}\n{value}" if "data" in event else value
        elif name in {b"event", b"id"}:
            event[name.decode()] = value
        elif name == b"retry" and value.isascii() and value.isdigit():
            event["retry"] = int(value[:_MAX_DIGITS])


def _data_texts(body: bytes) -> Iterator[bytes]:
    """The JSON texts in the data of events, without those that only keep a connection open."""
    for event in server_sent_events(body):
        data = event["data"]
        if data.strip() and data != "[DONE]":
            yield data.encode()


def _records(body: bytes) -> Iterator[bytes]:
    """The records of a JSON text sequence (RFC 7464). Raises `InvalidReply`."""
    before, *records = body.split(_SEPARATOR)
    if before.strip():
        raise InvalidReply("The upstream's answer does not begin with a record separator.")
    for record in records:
        if not record.strip():
            continue
        if not record.endswith(_COMPLETE):
            raise InvalidReply("The upstream's answer ends inside a record.")
        yield record


_log: Final = logging.getLogger(__name__)
MAX_EVENTS: Final = 1000
"""The most events of a stream that a result holds."""
_DEFAULT: Final = "default"
_ANYTHING: Final = Validator(True)


class _Declared(Struct, frozen=True):
    """A declared reply, and what reads it."""

    reply: ImportedReply
    validator: Validator = _ANYTHING
    headers: HeaderReader | None = None


class ReplyDecoder:
    """Reads the replies of one operation against the vendor's document (OpenAPI 3.2 §4.16)."""

    def __init__(self, operation: ImportedOperation, definitions: Mapping[str, Any]) -> None:
        self._id = operation.id
        self._has_no_bodies = operation.method.upper() == "HEAD"
        self._is_enforced = operation.results != "report"
        self._nulls = AbsentNulls(definitions) if operation.results == "nulls-absent" else None
        self._replies: dict[str, list[_Declared]] = {}
        for each in operation.replies:
            validator = DeferredValidator(partial(with_definitions, each.schema, definitions))
            headers = HeaderReader(each.headers, definitions) if each.headers else None
            found = self._replies.setdefault(each.status.upper(), [])
            found.append(_Declared(each, validator, headers))
        self._successes = [
            each
            for status, replies in self._replies.items()
            if status.startswith("2") and status not in BODILESS
            for each in replies
        ]

        every = [each for replies in self._replies.values() for each in replies]
        self._redirects = [each for each in every if each.reply.kind == "redirect"]

    def result(self, reply: Reply) -> dict[str, Any] | FileContent | None:
        """The result. None if the status reports a failure.

        A JSON object is the result. Any other JSON value is its member `result`. Text is its member
        `text`. Other bytes are a file. Of a redirect, it is the address. Raises `InvalidReply`.
        """
        if 300 <= reply.status < 400 and self._redirects:
            return self._redirect(reply)
        if not 200 <= reply.status < 300:
            return None
        # A reply to HEAD has no body (RFC 9110 §9.3.2), whatever the document declares.
        is_empty = self._has_no_bodies or reply.status == 204
        if is_empty or (not reply.body and self._may_be_empty(reply.status)):
            of_status = self._of(reply.status)
            return self._headed(reply, of_status[0].headers if of_status else None, {})
        declared = self._declared(reply)
        return self._headed(reply, declared.headers, self._read(reply, declared))

    def _redirect(self, reply: Reply) -> dict[str, Any] | FileContent:
        known = [each for each in self._of(reply.status) if each.reply.kind == "redirect"]
        # Vendors answer 307 where they document 302, as they do with successes.
        declared = (known or self._redirects)[0]
        if reply.status not in REDIRECTS:
            raise InvalidReply(f"The document does not declare the status {reply.status}.")
        return self._headed(reply, declared.headers, {"location": address_of(reply)})

    def refusal(self, reply: Reply) -> UpstreamAnswer:
        """What the upstream says in a reply that reports a failure."""
        essence = essence_of(reply)
        known = [
            each
            for each in self._of(reply.status)
            if each.reply.kind == "json" and is_in_range(essence, each.reply.media_type)
        ]
        return upstream_answer(reply, known[0].validator if known else None)

    def _headed(
        self, reply: Reply, reader: HeaderReader | None, found: dict[str, Any] | FileContent
    ) -> dict[str, Any] | FileContent:
        """`found` with the headers of the reply, where results have them."""
        if reader is None:
            return found
        values = reader.read(reply)
        if violations := reader.violations(values):
            self._refuse(InvalidReply(violations=violations))
        if isinstance(found, FileContent):
            return replace(found, members={HEADERS: values})
        if HEADERS in found:
            self._refuse(InvalidReply(f"The reply has a member {HEADERS} itself."))
        return {**found, HEADERS: values}

    def _read(self, reply: Reply, declared: _Declared) -> dict[str, Any] | FileContent:
        match declared.reply.kind:
            case "empty" | "redirect":
                return untyped(reply)
            case "text":
                return {"text": text_of(reply)}
            case "binary":
                return file_of(reply)
            case "events":
                return {"events": [*self._events(reply, declared)]}
            case "json":
                return object_of(self._checked(json_of(reply.body), declared))

    def _may_be_empty(self, status: int) -> bool:
        known = self._of(status)
        is_undeclared = known is self._successes
        return any(is_undeclared or each.reply.kind == "empty" for each in known)

    def _of(self, status: int) -> list[_Declared]:
        names = status_names(status)
        found = next((self._replies[name] for name in names if name in self._replies), [])
        # Vendors answer 201 or 202 where they document 200: it is checked as what they document.
        # Beside that, the default is the form of errors.
        successes = self._successes if 200 <= status < 300 else []
        return found or successes or self._replies.get(_DEFAULT.upper(), [])

    def _declared(self, reply: Reply) -> _Declared:
        known = self._of(reply.status)
        if not known:
            return self._unknown(reply, f"The document does not declare the status {reply.status}.")
        essence = essence_of(reply)
        ranked = [each for each in known if is_in_range(essence, each.reply.media_type)]
        if not ranked:
            shown = shown_type(reply.headers.get("content-type", ""))
            detail = f"The reply has {shown}, which the document does not declare."
            return self._unknown(reply, detail)
        return max(ranked, key=lambda each: precision_of(each.reply.media_type))

    def _unknown(self, reply: Reply, detail: str) -> _Declared:
        self._refuse(InvalidReply(detail))
        status = str(reply.status)
        if is_json_essence(essence_of(reply)):
            return _Declared(ImportedReply(status=status, kind="json"))
        return _Declared(ImportedReply(status=status, kind="binary"))

    def _events(self, reply: Reply, declared: _Declared) -> Iterator[Any]:
        is_whole = declared.reply.is_whole_event
        found = server_sent_events(reply.body) if is_whole else map(json_of, event_texts(reply))
        for index, value in enumerate(found):
            if index >= MAX_EVENTS:
                raise InvalidReply(f"The reply has more than {MAX_EVENTS} events.")
            yield self._checked(value, declared)

    def _checked(self, value: Any, declared: _Declared) -> Any:
        if declared.validator.admits(value):
            return value
        if self._nulls is not None:
            found = self._nulls.without(value, declared.reply.schema)
            if declared.validator.admits(found):
                return found
        self._refuse(InvalidReply(violations=declared.validator.violations(value)))
        return value

    def _refuse(self, error: InvalidReply) -> None:
        if self._is_enforced:
            raise error
        places = ", ".join(each.pointer for each in error.violations) or error.detail
        _log.warning("%s: the reply breaks the vendor's document: %s", self._id, places)
