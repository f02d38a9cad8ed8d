"""Checks of published schemas: MCP clients accept them, and everything has a description."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.contract.schemas import keywords
from gateway.contract.values.pointers import child
from gateway.contracts.finding import Finding
from gateway.contracts.sources.tree import ENTITIES, EVENTS
from gateway.lint.draft import Draft, SchemaNode
from gateway.lint.tools.profile import ANCHOR

PROPERTY_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""The names of properties that MCP clients accept."""
_NOT_AT_ROOT: Final = ("oneOf", "anyOf", "allOf", "not", "if", "then", "else", "enum", "const")
_NOT_OWN: Final = keywords.SAME_VALUE | {"$defs"}


def check_roots(draft: Draft) -> Iterator[Finding]:
    """publish/root"""
    for tool, media in draft.published():
        pointer = f"{media}/schema"
        schema = draft.expanded(tool.path, pointer)
        if not isinstance(schema, dict):
            continue
        target = draft.file_of(tool, pointer)
        if schema.get("type") != "object":
            message = "the type of arguments and results must be object"
            yield draft.finding("publish/root", target.document, target.pointer, message)
        for keyword in _NOT_AT_ROOT:
            if keyword in schema:
                where = child(target.pointer, keyword)
                message = f"MCP clients ignore a tool with {keyword} at the root"
                yield draft.finding("publish/root", target.document, where, message)


def check_anchors(draft: Draft) -> Iterator[Finding]:
    """publish/anchor"""
    for node in draft.schemas:
        if ANCHOR in node.schema:
            message = "MCP clients do not know $anchor, and references of contracts cannot use it"
            where = child(node.pointer, ANCHOR)
            yield draft.finding("publish/anchor", node.document, where, message)


def check_property_names(draft: Draft) -> Iterator[Finding]:
    """publish/property-name"""
    for node in draft.schemas:
        if node.is_ours:
            for pointer, name, _ in _properties(node):
                if not PROPERTY_NAME.fullmatch(name):
                    message = f"MCP clients refuse the property name {name}"
                    yield draft.finding("publish/property-name", node.document, pointer, message)


def check_descriptions(draft: Draft) -> Iterator[Finding]:
    """publish/undescribed, publish/untitled"""
    for node in draft.schemas:
        if node.is_ours:
            for pointer, name, schema in _properties(node):
                if not _is_described(draft, node, pointer, schema):
                    message = f"the property {name} has no description"
                    yield draft.finding("publish/undescribed", node.document, pointer, message)
            if node.pointer == "":
                yield from _untitled(draft, node)


def _untitled(draft: Draft, node: SchemaNode) -> Iterator[Finding]:
    for keyword in ("title", "description"):
        if not node.schema.get(keyword):
            message = f"the file has no {keyword}"
            yield draft.finding("publish/untitled", node.document, "", message)


def _is_described(draft: Draft, node: SchemaNode, pointer: str, schema: Any) -> bool:
    if not isinstance(schema, dict) or schema.get("description"):
        return True
    if "$ref" not in schema:
        return False
    target = draft.target(node.document, pointer, schema)
    return target is None or bool(
        isinstance(target.value, dict) and target.value.get("description")
    )


def _properties(node: SchemaNode) -> Iterator[tuple[str, str, Any]]:
    members = node.schema.get("properties")
    for name, schema in members.items() if isinstance(members, dict) else ():
        yield child(child(node.pointer, "properties"), name), name, schema


def check_closed(draft: Draft) -> Iterator[Finding]:
    """publish/open-object"""
    seen: set[tuple[PurePosixPath, str]] = set()
    tools = (draft.file_of(tool, f"{media}/schema") for tool, media in draft.published())
    starts = [SchemaNode(target.document, target.pointer, target.value) for target in tools]
    ours = {EVENTS, ENTITIES}
    starts += [root for root in draft.roots if root.document.path.parts[0] in ours]
    for start in starts:
        for node in _values(draft, start, seen):
            if _is_open(node.schema):
                message = "the object allows members that are not declared"
                yield draft.finding("publish/open-object", node.document, node.pointer, message)


def _values(
    draft: Draft, node: SchemaNode, seen: set[tuple[PurePosixPath, str]]
) -> Iterator[SchemaNode]:
    """`node` and the schemas of the values inside it, once each.

    Skips branches of `allOf` and similar keywords: they validate the same value.
    """
    key = (node.document.path, node.pointer)
    if key in seen or not isinstance(node.schema, dict):
        return
    seen.add(key)
    if "$ref" in node.schema:
        target = draft.target(node.document, node.pointer, node.schema)
        if target:
            target_node = SchemaNode(target.document, target.pointer, target.value)
            yield from _values(draft, target_node, seen)
        return
    yield node
    for keyword, pointer, member in keywords.branches(node.schema, node.pointer):
        if keyword not in _NOT_OWN:
            yield from _values(draft, SchemaNode(node.document, pointer, member), seen)


def _is_open(schema: dict[str, Any]) -> bool:
    types = schema.get("type")
    is_object = types == "object" or (isinstance(types, list) and "object" in types)
    closing = ("additionalProperties", "unevaluatedProperties")
    is_closed = any(schema.get(keyword, True) is not True for keyword in closing)
    return (is_object or "properties" in schema) and not is_closed
