"""What MCP clients and readers of the documentation need of the schemas we publish."""

import re
from collections.abc import Iterator
from typing import Any, Final

from gateway.codegen import keywords
from gateway.codegen.finding import Finding
from gateway.codegen.lint.workspace import Place, Workspace
from gateway.codegen.pointers import child, steps

_PROPERTY_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_NOT_AT_ROOT: Final = ("oneOf", "anyOf", "allOf", "not", "if", "then", "else", "enum", "const")
_IN_PLACE: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else"})
"""Keywords whose subschemas judge the same object, which is closed (or not) around them."""


def check_roots(workspace: Workspace) -> Iterator[Finding]:
    """publish/root"""
    for tool, media in workspace.published():
        pointer = f"{media}/schema"
        schema = workspace.expanded(tool.path, pointer)
        if not isinstance(schema, dict):
            continue
        target = workspace.file_of(tool, pointer)
        if schema.get("type") != "object":
            message = "arguments and results are objects"
            yield workspace.finding("publish/root", target.document, target.pointer, message)
        for keyword in _NOT_AT_ROOT:
            if keyword in schema:
                where = child(target.pointer, keyword)
                message = f"{keyword} at the root makes MCP clients drop the tool"
                yield workspace.finding("publish/root", target.document, where, message)


def check_property_names(workspace: Workspace) -> Iterator[Finding]:
    """publish/property-name"""
    for place in workspace.schemas:
        if place.is_ours:
            for pointer, name, _ in _properties(place):
                if not _PROPERTY_NAME.fullmatch(name):
                    message = "MCP clients refuse this property name"
                    yield workspace.finding(
                        "publish/property-name", place.document, pointer, message
                    )


def check_descriptions(workspace: Workspace) -> Iterator[Finding]:
    """publish/undescribed, publish/untitled"""
    for place in workspace.schemas:
        if place.is_ours:
            for pointer, name, schema in _properties(place):
                if not _is_described(workspace, place, pointer, schema):
                    message = f"the property {name} has no description"
                    yield workspace.finding("publish/undescribed", place.document, pointer, message)
            if place.pointer == "":
                yield from _untitled(workspace, place)


def _untitled(workspace: Workspace, place: Place) -> Iterator[Finding]:
    for keyword in ("title", "description"):
        if not place.schema.get(keyword):
            message = f"the file has no {keyword}"
            yield workspace.finding("publish/untitled", place.document, "", message)


def _is_described(workspace: Workspace, place: Place, pointer: str, schema: Any) -> bool:
    if not isinstance(schema, dict) or schema.get("description"):
        return True
    if "$ref" not in schema:
        return False
    target = workspace.target(place.document, pointer, schema)
    return target is None or bool(
        isinstance(target.value, dict) and target.value.get("description")
    )


def _properties(place: Place) -> Iterator[tuple[str, str, Any]]:
    members = place.schema.get("properties")
    for name, schema in members.items() if isinstance(members, dict) else ():
        yield child(child(place.pointer, "properties"), name), name, schema


def check_closed(workspace: Workspace) -> Iterator[Finding]:
    """publish/open-object"""
    seen: set[tuple[str, str, bool]] = set()
    for tool, media in workspace.published():
        target = workspace.file_of(tool, f"{media}/schema")
        start = Place(target.document, target.pointer, target.value)
        for place in _reachable(workspace, start, seen, in_place=False):
            if _is_open(place.schema):
                message = "an object that admits members nobody described"
                yield workspace.finding(
                    "publish/open-object", place.document, place.pointer, message
                )


def _reachable(
    workspace: Workspace, start: Place, seen: set[tuple[str, str, bool]], *, in_place: bool
) -> Iterator[Place]:
    """Schemas that `start` uses, through references, that stand for a value of their own."""
    for pointer, schema in keywords.subschemas(_without_definitions(start.schema), start.pointer):
        is_branch = _is_branch(pointer, start.pointer, in_place=in_place)
        key = (str(start.document.path), pointer, is_branch)
        if key in seen:
            continue
        seen.add(key)
        place = Place(start.document, pointer, schema)
        if not is_branch:
            yield place
        if "$ref" in schema:
            target = workspace.target(start.document, pointer, schema)
            if target and isinstance(target.value, dict):
                there = Place(target.document, target.pointer, target.value)
                yield from _reachable(workspace, there, seen, in_place=is_branch)


def _without_definitions(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    return {keyword: value for keyword, value in schema.items() if keyword != "$defs"}


def _is_branch(pointer: str, start: str, *, in_place: bool) -> bool:
    """Whether the schema judges the same value as one around it."""
    path = steps(pointer[len(start) :])
    if not path:
        return in_place
    keyword = path[-2] if path[-1].isdigit() and len(path) > 1 else path[-1]
    return keyword in _IN_PLACE


def _is_open(schema: dict[str, Any]) -> bool:
    types = schema.get("type")
    is_object = types == "object" or (isinstance(types, list) and "object" in types)
    closing = ("additionalProperties", "unevaluatedProperties")
    is_closed = any(schema.get(keyword, True) is not True for keyword in closing)
    return (is_object or "properties" in schema) and not is_closed
