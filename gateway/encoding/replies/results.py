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
_TEXT: Final = {"type": "string"}
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


def collects_events(replies: Iterable[ImportedReply]) -> bool:
    """Whether a success may be a sequence of events."""
    return any(each.kind == "events" and is_success(each.status) for each in replies)


def has_structured_results(operation: ImportedOperation) -> bool:
    """Whether a success of `operation` may be an object or a list."""
    return any(each.kind in _STRUCTURED and is_success(each.status) for each in operation.replies)


def file_types(replies: Iterable[ImportedReply]) -> tuple[str, ...]:
    """The media types, or ranges of them, of the successes whose bytes are files."""
    found = (e.media_type or OCTETS for e in replies if e.kind == "binary" and is_success(e.status))
    return tuple(dict.fromkeys(found))


def result_schema(operation: ImportedOperation, definitions: Mapping[str, Any]) -> Any:
    """The schema of the results of `operation`."""
    shapes = Shapes(definitions)
    alternatives = [
        schema
        for each in operation.replies
        if is_success(each.status)
        for schema in _results(each, shapes)
    ]
    return with_definitions({"anyOf": alternatives}, definitions)


def is_success(status: str) -> bool:
    """Whether a reply that is declared with `status` may be a success."""
    return status.startswith("2") or status == "default"


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
        case "text":
            yield object_with(text=_TEXT)
        case "binary":
            yield FILE


def _is_map(schema: Schema, shapes: Shapes) -> bool:
    """Whether `schema` describes members without declaring their names, or excludes them."""
    return any(not _MAPS.isdisjoint(part) for part in shapes.parts(schema))


def object_with(**properties: Any) -> dict[str, Any]:
    """The schema of an object with these members alone."""
    return {"type": "object", "properties": properties, "additionalProperties": False}
