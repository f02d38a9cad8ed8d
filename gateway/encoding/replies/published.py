"""The schema of an imported operation's results as lists and documents publish it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from gateway.contract.imported import HEADERS, ImportedReply
from gateway.contract.values.definitions import with_definitions
from gateway.encoding.replies.content import BODILESS, RESULT
from gateway.encoding.replies.headers import headers_schema
from gateway.encoding.replies.results import FIXED, object_with
from gateway.encoding.shapes import Schema, Shapes

ANY_OBJECT: Final[dict[str, Any]] = {"type": "object"}
_UNIONS: Final = frozenset({"allOf", "anyOf", "oneOf", "unevaluatedProperties"})


def published_results(
    replies: Sequence[ImportedReply], definitions: Mapping[str, Any], *, is_enforced: bool
) -> dict[str, Any]:
    """A schema of objects that every result of these replies is valid by.

    It is any object where a result may be one: if replies that break the document are passed on.
    """
    shapes = Shapes(definitions)
    found = [schema for each in _successes(replies) for schema in _results(each, shapes)]
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


def _results(reply: ImportedReply, shapes: Shapes) -> Iterator[dict[str, Any]]:
    if not reply.headers:
        yield from _bodies(reply, shapes)
        return
    headers = {HEADERS: headers_schema(reply.headers)}
    for schema in _bodies(reply, shapes):
        if _UNIONS.isdisjoint(schema):
            yield {**schema, "properties": {**schema.get("properties", {}), **headers}}
        else:
            # What is closed in a part of it would refuse the headers.
            yield {"type": "object", "properties": headers}


def _bodies(reply: ImportedReply, shapes: Shapes) -> Iterator[dict[str, Any]]:
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
