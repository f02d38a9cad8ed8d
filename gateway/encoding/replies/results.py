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
_FILE: Final[dict[str, Any]] = {
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
    return any(each.kind == "events" and _is_success(each.status) for each in replies)


def has_structured_results(operation: ImportedOperation) -> bool:
    """Whether a success of `operation` may be an object or a list."""
    return any(each.kind in _STRUCTURED and _is_success(each.status) for each in operation.replies)


def file_types(replies: Iterable[ImportedReply]) -> tuple[str, ...]:
    """The media types, or ranges of them, of the successes whose bytes are files."""
    found = (
        e.media_type or OCTETS for e in replies if e.kind == "binary" and _is_success(e.status)
    )
    return tuple(dict.fromkeys(found))


def result_schema(operation: ImportedOperation, definitions: Mapping[str, Any]) -> Any:
    """The schema of the results of `operation`."""
    shapes = Shapes(definitions)
    alternatives = [
        schema
        for each in operation.replies
        if _is_success(each.status)
        for schema in _results(each, shapes)
    ]
    return with_definitions({"anyOf": alternatives}, definitions)


def _is_success(status: str) -> bool:
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
        yield _object(**headers)


def _bodies(reply: ImportedReply, shapes: Shapes) -> Iterator[dict[str, Any] | bool]:
    match reply.kind:
        case "json":
            kinds = shapes.types(reply.schema)
            if "object" in kinds:
                yield reply.schema
                if not shapes.names(reply.schema).declared and not _is_map(reply.schema, shapes):
                    yield _UNDECLARED
            if kinds - {"object"}:
                yield _object(**{RESULT: reply.schema})
        case "events":
            yield _object(events={"type": "array", "items": reply.schema})
        case "text":
            yield _object(text=_TEXT)
        case "binary":
            yield _FILE


def _is_map(schema: Schema, shapes: Shapes) -> bool:
    """Whether `schema` describes members without declaring their names, or excludes them."""
    return any(not _MAPS.isdisjoint(part) for part in shapes.parts(schema))


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}
