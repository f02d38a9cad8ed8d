"""The schema of an imported operation's results, as `ReplyDecoder` makes them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from gateway.contract.imported import HEADERS, ImportedOperation, ImportedReply
from gateway.contract.values.definitions import with_definitions
from gateway.contract.values.files import OCTETS
from gateway.encoding.replies.content import RESULT
from gateway.encoding.replies.headers import headers_schema
from gateway.encoding.shapes import Schema, Shapes

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
