"""The schema of an imported operation's results, as they are made and as they are published."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from gateway.contract.imported import HEADERS, ImportedHeader, ImportedOperation, ImportedReply
from gateway.contract.upstream import Reply
from gateway.contract.values import jsontext
from gateway.contract.values.files import OCTETS
from gateway.contract.values.pointers import child
from gateway.contract.values.schema import DeferredValidator, with_definitions
from gateway.contract.values.violation import Violation
from gateway.encoding.replies.content import BODILESS, RESULT
from gateway.encoding.shapes import Schema, Shapes

# Header fields of replies as values (OpenAPI 3.2 §4.19 Header Object, style `simple`).

_WHOLE: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,18})")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,18})(?:\.[0-9]{1,30})?")
_TRUTHS: Final = {"true": True, "false": False}


def headers_schema(headers: Sequence[ImportedHeader]) -> dict[str, Any]:
    """The schema of the member `_headers`."""
    return {
        "type": "object",
        "properties": {each.name: each.schema for each in headers},
        "required": [each.name for each in headers if each.is_required],
        "additionalProperties": False,
    }


class HeaderReader:
    """Reads the header fields that one reply declares and its results have."""

    def __init__(self, headers: Sequence[ImportedHeader], definitions: Mapping[str, Any]) -> None:
        self._headers = headers
        self._shapes = Shapes(definitions)
        self._validator = DeferredValidator(
            partial(with_definitions, headers_schema(headers), definitions)
        )

    def read(self, reply: Reply) -> dict[str, Any]:
        """The values of those that the reply has, by their declared names.

        A text that is not of the declared type stays a text, so that `violations` finds it.
        """
        sent = reply.headers
        return {
            each.name: self._value(each, sent[each.name.lower()])
            for each in self._headers
            if each.name.lower() in sent
        }

    def violations(self, values: Mapping[str, Any]) -> tuple[Violation, ...]:
        """How `values` break the document. The pointers begin with the member of the result."""
        if self._validator.admits(values):
            return ()
        place = child("", HEADERS)
        return tuple(each.under(place) for each in self._validator.violations(values))

    def _value(self, header: ImportedHeader, text: str) -> Any:
        if header.is_json:
            try:
                return jsontext.decode(text.encode(), jsontext.REPLY)
            except jsontext.NotJson:
                return text
        kinds = self._shapes.types(header.schema)
        if "string" in kinds or not text:
            return text
        if "array" in kinds:
            items = self._shapes.items(header.schema)
            return [self._scalar(each, items) for each in _pieces(text)]
        if "object" in kinds:
            return self._members(header, text)
        return self._scalar(text, header.schema)

    def _members(self, header: ImportedHeader, text: str) -> Any:
        pieces = _pieces(text)
        if header.explode:
            pairs = [each.partition("=")[::2] for each in pieces]
        elif len(pieces) % 2:
            return text
        else:
            pairs = list(zip(pieces[::2], pieces[1::2], strict=True))
        declared = self._shapes.properties(header.schema)
        return {name: self._scalar(value, declared.get(name, True)) for name, value in pairs}

    def _scalar(self, text: str, schema: Schema) -> Any:
        kinds = self._shapes.types(schema)
        if "string" in kinds:
            return text
        if "integer" in kinds and _WHOLE.fullmatch(text):
            return int(text)
        if "number" in kinds and _NUMBER.fullmatch(text):
            return float(text)
        return _TRUTHS.get(text, text) if "boolean" in kinds else text


def _pieces(text: str) -> list[str]:
    return [each.strip(" \t") for each in text.split(",")]


# The schema of an imported operation's results, as `ReplyDecoder` makes them.

_STRUCTURED: Final = frozenset({"json", "events"})
_MAPS: Final = frozenset({"additionalProperties", "patternProperties"})
_UNDECLARED: Final = {"type": "object", "additionalProperties": {}}
FILE: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "content_type": {"type": "string", "description": "Media type of the bytes."},
        "size": {"type": "integer", "minimum": 0, "description": "Number of bytes."},
        "data": {
            "type": "string",
            "contentEncoding": "base64",
            "description": "The bytes. Over MCP they are a content block instead.",
        },
    },
    "required": ["content_type", "size"],
    "additionalProperties": False,
}


ADDRESS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "location": {
            "type": "string",
            "description": "The address that has the answer. It was not fetched.",
        },
    },
    "required": ["location"],
    "additionalProperties": False,
}
FIXED: Final[Mapping[str, dict[str, Any]]] = {
    "text": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "additionalProperties": False,
    },
    "binary": FILE,
    "redirect": ADDRESS,
}
"""The schemas of results that are the same for all operations, by the kind of the reply."""


def collects_events(replies: Iterable[ImportedReply]) -> bool:
    """Whether a success may be a sequence of events."""
    return any(each.kind == "events" and each.is_success for each in replies)


def has_structured_results(operation: ImportedOperation) -> bool:
    """Whether a success of `operation` may be an object or a list."""
    return any(each.kind in _STRUCTURED and each.is_success for each in operation.replies)


def file_types(replies: Iterable[ImportedReply]) -> tuple[str, ...]:
    """The media types, or ranges of them, of the successes whose bytes are files."""
    found = (e.media_type or OCTETS for e in replies if e.kind == "binary" and e.is_success)
    return tuple(dict.fromkeys(found))


def result_schema(operation: ImportedOperation, definitions: Mapping[str, Any]) -> Any:
    """The schema of the results of `operation`."""
    shapes = Shapes(definitions)
    alternatives = [
        schema for each in operation.replies if each.is_success for schema in _results(each, shapes)
    ]
    return with_definitions({"anyOf": alternatives}, definitions)


def _results(reply: ImportedReply, shapes: Shapes) -> Iterator[dict[str, Any] | bool]:
    found = _bodies(reply, shapes)
    if not reply.headers:
        yield from found
        return
    headers = {HEADERS: headers_schema(reply.headers)}
    for schema in found:
        target = shapes.resolved(schema)
        if isinstance(target, Mapping) and "$ref" not in target:
            yield {**target, "properties": {**target.get("properties", {}), **headers}}
        else:
            yield {"allOf": [schema], "properties": headers}
    if reply.kind == "empty":
        yield object_with(**headers)


def _bodies(reply: ImportedReply, shapes: Shapes) -> Iterator[dict[str, Any] | bool]:
    match reply.kind:
        case "json":
            kinds = shapes.types(reply.schema)
            if "object" in kinds:
                yield reply.schema
                if not shapes.names(reply.schema).declared and not _is_map(reply.schema, shapes):
                    yield _UNDECLARED
            if kinds - {"object"}:
                yield object_with(**{RESULT: reply.schema})
        case "events":
            yield object_with(events={"type": "array", "items": reply.schema})
        case kind if kind in FIXED:
            yield FIXED[kind]


def _is_map(schema: Schema, shapes: Shapes) -> bool:
    """Whether `schema` describes members without declaring their names, or excludes them."""
    return any(not _MAPS.isdisjoint(part) for part in shapes.parts(schema))


def object_with(**properties: Any) -> dict[str, Any]:
    """The schema of an object with these members alone."""
    return {"type": "object", "properties": properties, "additionalProperties": False}


# The schema of an imported operation's results as lists and documents publish it.

ANY_OBJECT: Final[dict[str, Any]] = {"type": "object"}
_UNIONS: Final = frozenset({"allOf", "anyOf", "oneOf", "unevaluatedProperties"})


def published_results(
    replies: Sequence[ImportedReply], definitions: Mapping[str, Any], *, is_enforced: bool
) -> dict[str, Any]:
    """A schema of objects that every result of these replies is valid by.

    It is any object where a result may be one: if replies that break the document are passed on.
    """
    shapes = Shapes(definitions)
    found = [schema for each in _successes(replies) for schema in _published_results(each, shapes)]
    # A reply with the status 204 is an empty result, also if the document declares none.
    found.append(_empty(any(each.headers for each in replies)))
    unique = [each for at, each in enumerate(found) if each not in found[:at]]
    if not is_enforced or len(unique) == 1 or unique[0] == ANY_OBJECT:
        return ANY_OBJECT
    whole = with_definitions({"type": "object", "anyOf": unique}, definitions)
    return whole if isinstance(whole, dict) else ANY_OBJECT


def _empty(has_headers: bool) -> dict[str, Any]:
    return object_with(**{HEADERS: {}}) if has_headers else object_with()


def _successes(replies: Iterable[ImportedReply]) -> Sequence[ImportedReply]:
    """The replies of success. `default` is one if the document declares no other."""
    found = [each for each in replies if each.is_success]
    return [each for each in found if each.status != "default"] or found


def _published_results(reply: ImportedReply, shapes: Shapes) -> Iterator[dict[str, Any]]:
    if not reply.headers:
        yield from _published_bodies(reply, shapes)
        return
    headers = {HEADERS: headers_schema(reply.headers)}
    for schema in _published_bodies(reply, shapes):
        if _UNIONS.isdisjoint(schema):
            yield {**schema, "properties": {**schema.get("properties", {}), **headers}}
        else:
            # What is closed in a part of it would refuse the headers.
            yield {"type": "object", "properties": headers}


def _published_bodies(reply: ImportedReply, shapes: Shapes) -> Iterator[dict[str, Any]]:
    match reply.kind:
        case "json":
            kinds = shapes.types(reply.schema)
            if "object" in kinds:
                yield _own(reply.schema, shapes)
            if kinds - {"object"}:
                yield object_with(**{RESULT: reply.schema})
        case "events":
            yield object_with(events={"type": "array", "items": reply.schema})
        case kind if kind in FIXED:
            yield FIXED[kind]
        case "empty":
            yield object_with() if reply.status in BODILESS else ANY_OBJECT


def _own(schema: Schema, shapes: Shapes) -> dict[str, Any]:
    """`schema` for objects alone."""
    target = shapes.resolved(schema)
    return {**target, "type": "object"} if isinstance(target, Mapping) else ANY_OBJECT
