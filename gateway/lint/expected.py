"""The names, values and types that a meta-schema allows at a place, for messages of findings."""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from gateway.contract.values import jsontext
from gateway.contract.values.pointers import follow, steps
from gateway.contracts import meta
from gateway.contracts.sources.keywords import SCHEMA_LISTS

_IN_PLACE: Final = ("then", "else")


class _Part(NamedTuple):
    """A schema, and the file that its references are relative to."""

    file: str
    schema: dict[str, Any]


def names_at(file: str, document: Any, pointer: str) -> tuple[str, ...]:
    """The names that the object at `pointer` may have, if the meta-schema closes it."""
    closed = (
        p for p in _parts_at(file, document, pointer) if p.get("additionalProperties") is False
    )
    return tuple(dict.fromkeys(name for part in closed for name in part.get("properties", {})))


def values_at(file: str, document: Any, pointer: str) -> tuple[Any, ...]:
    """The values that are allowed at `pointer`. Empty if they are not listed."""
    listed = [part["enum"] for part in _parts_at(file, document, pointer) if "enum" in part]
    return tuple(listed[0]) if listed else ()


def types_at(file: str, document: Any, pointer: str) -> tuple[str, ...]:
    """The types that are allowed at `pointer`, by the outermost schema with a type."""
    listed = [part["type"] for part in _parts_at(file, document, pointer) if "type" in part]
    if not listed:
        return ()
    return (listed[0],) if isinstance(listed[0], str) else tuple(listed[0])


def _parts_at(file: str, document: Any, pointer: str) -> list[dict[str, Any]]:
    """The schemas that validate the value at `pointer` of `document`."""
    value = document
    parts = list(_all(_Part(file, jsontext.decode(meta.texts()[file])), value))
    for step in steps(pointer):
        value = value[int(step)] if isinstance(value, list) else value[step]
        inner = [found for part in parts for found in _below(part, step)]
        parts = [found for part in inner for found in _all(part, value)]
    return [part.schema for part in parts]


def _all(part: _Part, value: Any) -> Iterator[_Part]:
    """`part` and every subschema that applies to the same value."""
    yield part
    for schema in _applied(part.schema, value):
        yield from _all(_Part(part.file, schema), value)
    if "$ref" in part.schema:
        yield from _all(_target(part.file, part.schema["$ref"]), value)


def _applied(schema: dict[str, Any], value: Any) -> Iterator[dict[str, Any]]:
    yield from (schema[keyword] for keyword in _IN_PLACE if keyword in schema)
    for keyword in SCHEMA_LISTS - {"prefixItems"}:
        yield from schema.get(keyword, ())
    for name, each in schema.get("dependentSchemas", {}).items():
        if isinstance(value, dict) and name in value:
            yield each


def _target(file: str, ref: str) -> _Part:
    name, _, fragment = ref.partition("#")
    target = name or file
    return _Part(target, follow(jsontext.decode(meta.texts()[target]), fragment))


def _below(part: _Part, step: str) -> Iterator[_Part]:
    """The subschemas of `part` for the member or item `step`."""
    schema = part.schema
    found = [schema["properties"][step]] if step in schema.get("properties", {}) else []
    patterns = schema.get("patternProperties", {})
    found += [each for pattern, each in patterns.items() if re.search(pattern, step)]
    found += [schema.get("additionalProperties")] if not found else []
    found += [schema.get("items")] if step.isdecimal() else []
    yield from (_Part(part.file, each) for each in found if isinstance(each, dict))
