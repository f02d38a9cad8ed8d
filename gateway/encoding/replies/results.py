"""The schema of an imported operation's results, as `ReplyDecoder` makes them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.contract.imported import ImportedOperation, ImportedReply
from gateway.contract.values.definitions import with_definitions
from gateway.encoding.replies.decoder import RESULT
from gateway.encoding.shapes import Schema, Shapes

_STRUCTURED: Final = frozenset({"json", "events"})
_TEXT: Final = {"type": "string"}
_MAPS: Final = frozenset({"additionalProperties", "patternProperties"})
_UNDECLARED: Final = {"type": "object", "additionalProperties": {}}
_OTHERS: Final[Mapping[str, dict[str, Any]]] = {
    "text": {"text": _TEXT},
    "binary": {"content_type": _TEXT, "data": _TEXT},
}


def has_structured_results(operation: ImportedOperation) -> bool:
    """Whether a success of `operation` may be an object or a list."""
    return any(each.kind in _STRUCTURED and _is_success(each.status) for each in operation.replies)


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
        case "text" | "binary":
            yield _object(**_OTHERS[reply.kind])


def _is_map(schema: Schema, shapes: Shapes) -> bool:
    """Whether `schema` describes members without declaring their names, or excludes them."""
    return any(not _MAPS.isdisjoint(part) for part in shapes.parts(schema))


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}
