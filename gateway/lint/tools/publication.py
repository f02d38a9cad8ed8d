"""What MCP clients and readers of the documentation need of the schemas we publish."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.contract.values.pointers import child
from gateway.contracts.finding import Finding
from gateway.contracts.sources import keywords
from gateway.contracts.sources.tree import ENTITIES, EVENTS
from gateway.lint.draft import Draft, SchemaPlace

_PROPERTY_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_NOT_AT_ROOT: Final = ("oneOf", "anyOf", "allOf", "not", "if", "then", "else", "enum", "const")
_NOT_OWN: Final = frozenset(
    {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "$defs"}
)
"""Keywords whose subschemas validate the value around them, or nothing until they are referred
to."""


def check_roots(draft: Draft) -> Iterator[Finding]:
    """publish/root"""
    for tool, media in draft.published():
        pointer = f"{media}/schema"
        schema = draft.expanded(tool.path, pointer)
        if not isinstance(schema, dict):
            continue
        target = draft.file_of(tool, pointer)
        if schema.get("type") != "object":
            message = "arguments and results are objects"
            yield draft.finding("publish/root", target.document, target.pointer, message)
        for keyword in _NOT_AT_ROOT:
            if keyword in schema:
                where = child(target.pointer, keyword)
                message = f"{keyword} at the root makes MCP clients drop the tool"
                yield draft.finding("publish/root", target.document, where, message)


def check_property_names(draft: Draft) -> Iterator[Finding]:
    """publish/property-name"""
    for place in draft.schemas:
        if place.is_ours:
            for pointer, name, _ in _properties(place):
                if not _PROPERTY_NAME.fullmatch(name):
                    message = "MCP clients refuse this property name"
                    yield draft.finding("publish/property-name", place.document, pointer, message)


def check_descriptions(draft: Draft) -> Iterator[Finding]:
    """publish/undescribed, publish/untitled"""
    for place in draft.schemas:
        if place.is_ours:
            for pointer, name, schema in _properties(place):
                if not _is_described(draft, place, pointer, schema):
                    message = f"the property {name} has no description"
                    yield draft.finding("publish/undescribed", place.document, pointer, message)
            if place.pointer == "":
                yield from _untitled(draft, place)


def _untitled(draft: Draft, place: SchemaPlace) -> Iterator[Finding]:
    for keyword in ("title", "description"):
        if not place.schema.get(keyword):
            message = f"the file has no {keyword}"
            yield draft.finding("publish/untitled", place.document, "", message)


def _is_described(draft: Draft, place: SchemaPlace, pointer: str, schema: Any) -> bool:
    if not isinstance(schema, dict) or schema.get("description"):
        return True
    if "$ref" not in schema:
        return False
    target = draft.target(place.document, pointer, schema)
    return target is None or bool(
        isinstance(target.value, dict) and target.value.get("description")
    )


def _properties(place: SchemaPlace) -> Iterator[tuple[str, str, Any]]:
    members = place.schema.get("properties")
    for name, schema in members.items() if isinstance(members, dict) else ():
        yield child(child(place.pointer, "properties"), name), name, schema


def check_closed(draft: Draft) -> Iterator[Finding]:
    """publish/open-object"""
    seen: set[tuple[PurePosixPath, str]] = set()
    tools = (draft.file_of(tool, f"{media}/schema") for tool, media in draft.published())
    starts = [SchemaPlace(target.document, target.pointer, target.value) for target in tools]
    ours = {EVENTS, ENTITIES}
    starts += [root for root in draft.roots if root.document.path.parts[0] in ours]
    for start in starts:
        for place in _values(draft, start, seen):
            if _is_open(place.schema):
                message = "an object that admits members nobody described"
                yield draft.finding("publish/open-object", place.document, place.pointer, message)


def _values(
    draft: Draft, place: SchemaPlace, seen: set[tuple[PurePosixPath, str]]
) -> Iterator[SchemaPlace]:
    """`place` and the schemas that it uses, once each, that validate a separate value.

    The branches of allOf and the like validate the value around them, which is closed there.
    """
    key = (place.document.path, place.pointer)
    if key in seen or not isinstance(place.schema, dict):
        return
    seen.add(key)
    if "$ref" in place.schema:
        target = draft.target(place.document, place.pointer, place.schema)
        if target:
            there = SchemaPlace(target.document, target.pointer, target.value)
            yield from _values(draft, there, seen)
        return
    yield place
    for keyword, pointer, member in keywords.branches(place.schema, place.pointer):
        if keyword not in _NOT_OWN:
            yield from _values(draft, SchemaPlace(place.document, pointer, member), seen)


def _is_open(schema: dict[str, Any]) -> bool:
    types = schema.get("type")
    is_object = types == "object" or (isinstance(types, list) and "object" in types)
    closing = ("additionalProperties", "unevaluatedProperties")
    is_closed = any(schema.get(keyword, True) is not True for keyword in closing)
    return (is_object or "properties" in schema) and not is_closed
