"""Checks of JSON Schema keywords: green ones are allowed, amber ones reported, red ones refused.

Green keywords mean the same in the validator, in generated models and in MCP clients. Amber
keywords are checked only by the validator. Red keywords are ignored by some tools, so that a
contract must not depend on them.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from gateway.contract.schemas.keywords import ANNOTATIONS
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child
from gateway.contract.values.schema import FORMATS
from gateway.contracts.finding import Finding
from gateway.contracts.sources.tree import ENTITIES, UPSTREAMS
from gateway.lint.draft import Draft, SchemaNode

GREEN: Final = ANNOTATIONS | {
    "$schema",
    "$defs",
    "$ref",
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
}
AMBER: Final = frozenset(
    {
        "oneOf",
        "anyOf",
        "allOf",
        "not",
        "if",
        "then",
        "else",
        "dependentRequired",
        "dependentSchemas",
        "contains",
        "minContains",
        "maxContains",
        "patternProperties",
        "propertyNames",
        "minProperties",
        "maxProperties",
        "uniqueItems",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
ANCHOR: Final = "$anchor"
"""Checked by a rule of its own, which a tool may waive: no reference of a contract uses it."""
RED: Final[Mapping[str, str]] = {
    "$dynamicRef": "write the reference as $ref",
    "$dynamicAnchor": "write the reference as $ref",
    "$recursiveRef": "write the reference as $ref",
    "$recursiveAnchor": "write the reference as $ref",
    "$id": "remove it: files are named by their path",
    "$vocabulary": "remove it",
    "contentEncoding": "use a pattern: validators of 2020-12 ignore contentEncoding",
    "contentMediaType": "remove it: validators of 2020-12 ignore it",
    "contentSchema": "remove it: validators of 2020-12 ignore it",
    "definitions": "write $defs",
    "dependencies": "write dependentRequired or dependentSchemas",
    "additionalItems": "write items beside prefixItems",
    "nullable": 'write `type: [string, "null"]`',
    "discriminator": "write oneOf with a const property in each branch",
    "xml": "remove it",
    "example": "write examples, a list",
    "id": "remove it: files are named by their path",
}
TYPED_FORMATS: Final = frozenset({"date", "date-time", "uuid", "uri", "email"})
MAX_DEFINITIONS: Final = 1_000
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def check_keywords(draft: Draft) -> Iterator[Finding]:
    """schema/unknown-keyword, schema/red-keyword, schema/amber-keyword"""
    for node in draft.schemas:
        for keyword in node.schema:
            if keyword not in GREEN and keyword != ANCHOR and not _is_extension(node, keyword):
                yield from _keyword(draft, node, keyword)


def _is_extension(node: SchemaNode, keyword: str) -> bool:
    """Whether `keyword` is x-entity of an entity or x-table of a table."""
    if node.pointer:
        return False
    parts = node.document.path.parts
    is_table = parts[0] == UPSTREAMS and parts[-2] == "tables"
    return keyword == "x-entity" if parts[0] == ENTITIES else is_table and keyword == "x-table"


def _keyword(draft: Draft, node: SchemaNode, keyword: str) -> Iterator[Finding]:
    pointer = child(node.pointer, keyword)
    if keyword in RED:
        message = f"some tools do not support {keyword}"
        yield draft.finding(
            "schema/red-keyword", node.document, pointer, message, f"{RED[keyword]}."
        )
    elif keyword not in AMBER:
        message = f"unknown keyword {keyword}"
        fix = did_you_mean(keyword, [*GREEN, *AMBER])
        yield draft.finding("schema/unknown-keyword", node.document, pointer, message, fix)
    elif node.is_ours:
        message = f"{keyword} is checked at run time, and the generated models do not contain it"
        yield draft.finding("schema/amber-keyword", node.document, pointer, message)


def check_amber_forms(draft: Draft) -> Iterator[Finding]:
    """schema/amber-keyword"""
    for node in draft.schemas:
        if node.is_ours:
            for keyword, (is_amber, why) in _AMBER_FORMS.items():
                if keyword in node.schema and is_amber(node.schema):
                    pointer = child(node.pointer, keyword)
                    yield draft.finding("schema/amber-keyword", node.document, pointer, why)


def _has_several_types(schema: Mapping[str, Any]) -> bool:
    types = schema["type"]
    return isinstance(types, list) and len([name for name in types if name != "null"]) > 1


def _is_open_tuple(schema: Mapping[str, Any]) -> bool:
    return schema.get("items") is not False


def _is_structured_constant(schema: Mapping[str, Any]) -> bool:
    return isinstance(schema["const"], dict | list)


def _is_mixed_enum(schema: Mapping[str, Any]) -> bool:
    members = schema["enum"]
    if not isinstance(members, list):
        return False
    kinds = {type(member) for member in members if member is not None}
    return len(kinds) > 1 or not kinds.isdisjoint({dict, list})


def _is_untyped_format(schema: Mapping[str, Any]) -> bool:
    name = schema["format"]
    return isinstance(name, str) and name in FORMATS - TYPED_FORMATS


def _is_schema(schema: Mapping[str, Any]) -> bool:
    return isinstance(schema["additionalProperties"], dict)


_AMBER_FORMS: Final[Mapping[str, tuple[Callable[[Mapping[str, Any]], bool], str]]] = {
    "type": (_has_several_types, "models contain a union of types without its constraints"),
    "prefixItems": (_is_open_tuple, "models do not contain prefixItems without `items: false`"),
    "const": (_is_structured_constant, "models do not contain a const that is a list or an object"),
    "enum": (_is_mixed_enum, "models do not contain an enum of several types"),
    "format": (_is_untyped_format, "models contain a text: the format is checked at run time"),
    "additionalProperties": (_is_schema, "models do not contain the schema of other properties"),
}


def check_formats(draft: Draft) -> Iterator[Finding]:
    """schema/unknown-format"""
    for node in draft.schemas:
        name = node.schema.get("format")
        if isinstance(name, str) and name not in FORMATS:
            pointer = child(node.pointer, "format")
            message = f"the format {name} is unknown, so that it would not be checked"
            yield draft.finding("schema/unknown-format", node.document, pointer, message)


def check_dialects(draft: Draft) -> Iterator[Finding]:
    """schema/dialect, schema/too-many-definitions"""
    for root in draft.roots:
        dialect = root.schema.get("$schema")
        is_file = root.document.path.suffix == ".json"
        if dialect != DIALECT and (is_file or dialect is not None):
            message = f"$schema must be {DIALECT}"
            pointer = child(root.pointer, "$schema")
            yield draft.finding("schema/dialect", root.document, pointer, message)
        definitions = root.schema.get("$defs")
        if isinstance(definitions, dict) and len(definitions) > MAX_DEFINITIONS:
            pointer = child(root.pointer, "$defs")
            message = f"there are {len(definitions)} definitions in one file"
            yield draft.finding("schema/too-many-definitions", root.document, pointer, message)
