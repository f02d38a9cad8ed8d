"""Checks of schemas: keywords, patterns, contradictions, and what MCP clients accept of them."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

import jsonschema_rs
from jsonschema_rs import canonical

from gateway.authoring.contracts.entity_tools import DIALECT
from gateway.authoring.contracts.finding import Finding
from gateway.authoring.contracts.patterns import shared_form
from gateway.authoring.contracts.refs import origin
from gateway.authoring.contracts.tree import ENTITIES, EVENTS, UPSTREAMS
from gateway.authoring.lint.draft import Draft, SchemaNode
from gateway.contract.schemas import keywords
from gateway.contract.schemas.keywords import ANNOTATIONS
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child
from gateway.contract.values.schema import FORMATS, Validator
from gateway.contract.values.violation import Violation

# Checks of JSON Schema keywords: green ones are allowed, amber ones reported, red ones refused.
#
# Green keywords mean the same in the validator, in generated models and in MCP clients. Amber
# keywords are checked only by the validator. Red keywords are ignored by some tools, so that a
# contract must not depend on them.

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


MOST_IN_TUPLES: Final = 8
"""The most items of a tuple that becomes a tuple in a model."""


def _is_open_tuple(schema: Mapping[str, Any]) -> bool:
    members = schema["prefixItems"]
    is_whole = isinstance(members, list) and schema.get("minItems") == len(members)
    return schema.get("items") is not False or not is_whole or len(members) > MOST_IN_TUPLES


def _is_structured_constant(schema: Mapping[str, Any]) -> bool:
    return isinstance(schema["const"], dict | list)


def _is_like_boolean(members: list[Any]) -> bool:
    """Whether a `Literal` would admit values of another type too: in Python 1 equals True."""
    return any(isinstance(each, bool | int) and each in {0, 1} for each in members)


def _is_mixed_enum(schema: Mapping[str, Any]) -> bool:
    members = schema["enum"]
    if not isinstance(members, list):
        return False
    kinds = {type(member) for member in members if member is not None}
    return len(kinds) > 1 or not kinds.isdisjoint({dict, list, float}) or _is_like_boolean(members)


def _is_untyped_format(schema: Mapping[str, Any]) -> bool:
    name = schema["format"]
    return isinstance(name, str) and name in FORMATS - TYPED_FORMATS


def _is_schema(schema: Mapping[str, Any]) -> bool:
    return isinstance(schema["additionalProperties"], dict)


_AMBER_FORMS: Final[Mapping[str, tuple[Callable[[Mapping[str, Any]], bool], str]]] = {
    "type": (_has_several_types, "models contain a union of types without its constraints"),
    "prefixItems": (
        _is_open_tuple,
        "models do not contain prefixItems without `items: false` and as many `minItems`",
    ),
    "const": (_is_structured_constant, "models do not contain a const that is a list or an object"),
    "enum": (
        _is_mixed_enum,
        "models do not contain an enum of several types, or with 0, 1 or a fraction",
    ),
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


# Checks of patterns: they run in linear time and mean the same in every engine.

_UNPORTABLE: Final = re.compile(
    r"""
      (?P<escape>  \\ [dDwWsSbBpPkAzZGhHRXKQEcC1-9] )
    | \\ .
    | (?P<group>   \( \? (?!:) .{0,2} )
    | (?P<set>     && | -- | ~~ )
    | (?P<open>    \[ \^? \]? )
    | (?P<close>   \] )
    """,
    re.VERBOSE | re.DOTALL,
)
"""One token of a pattern. All other characters are plain."""


def check_patterns(draft: Draft) -> Iterator[Finding]:
    """schema/pattern-invalid, schema/pattern-unportable"""
    for node in draft.schemas:
        for pointer, pattern in _patterns(node):
            found = unportable(pattern)
            if found:
                message = f"`{found}` has different meanings in different engines"
                yield draft.finding("schema/pattern-unportable", node.document, pointer, message)
            elif not compiles(pattern):
                message = "the pattern is not a regular expression of linear time"
                yield draft.finding("schema/pattern-invalid", node.document, pointer, message)
            elif (form := shared_form(pattern)) != pattern:
                message = f"ECMAScript with the flag u does not compile it: write `{form}`"
                yield draft.finding("schema/pattern-unportable", node.document, pointer, message)


def unportable(pattern: str) -> str | None:
    """The first part of `pattern` whose meaning depends on the engine. None if there is none.

    Such parts are `\\d \\w \\s \\b \\p` (ASCII or Unicode), lookaround, back references, named
    groups, flags, and sets inside sets.
    """
    is_in_set = False
    for token in _UNPORTABLE.finditer(pattern):
        kind = token.lastgroup
        if kind == "escape":
            return token[0]
        if kind == ("set" if is_in_set else "group"):
            return token[0]
        if kind == "open":
            if is_in_set:
                return "[ inside [ ]"
            is_in_set = True
        elif kind == "close":
            is_in_set = False
    return None


def _patterns(node: SchemaNode) -> Iterator[tuple[str, str]]:
    pattern: Any = node.schema.get("pattern")
    if isinstance(pattern, str):
        yield child(node.pointer, "pattern"), pattern
    by_pattern = node.schema.get("patternProperties")
    for name in by_pattern if isinstance(by_pattern, dict) else ():
        yield child(child(node.pointer, "patternProperties"), name), name


def compiles(pattern: str) -> bool:
    """Whether the validator can run `pattern`."""
    try:
        Validator({"pattern": pattern})
    except ValueError:
        return False
    return True


# Checks of schemas: validity, contradictions, and values that they refuse.

_DIALECT_VALIDATOR: Final = Validator({"$ref": DIALECT})


def check_validity(draft: Draft) -> Iterator[Finding]:
    """schema/invalid"""
    for document in draft.tree.documents.values():
        if document.path.suffix == ".json" and not isinstance(document.value, dict):
            message = "a schema file must contain an object"
            yield draft.finding("schema/invalid", document, "", message)
    for root in draft.roots:
        for violation in _DIALECT_VALIDATOR.violations(root.schema):
            if violation.keyword != "format":
                pointer = root.pointer + violation.pointer
                message = f"is not valid JSON Schema 2020-12: {_reason(violation)}"
                yield draft.finding("schema/invalid", root.document, pointer, message)


def _reason(violation: Violation) -> str:
    """The validator's message, or a general one if that would describe the meta-schema."""
    is_about_meta_schema = violation.keyword in {"anyOf", "oneOf", "allOf"}
    return "the value is not allowed here" if is_about_meta_schema else violation.detail


def check_required(draft: Draft) -> Iterator[Finding]:
    """schema/required-undeclared"""
    for node in draft.schemas:
        known = node.schema.get("properties")
        names = list(known) if isinstance(known, dict) else []
        for index, name in _undeclared(node.schema):
            pointer = child(child(node.pointer, "required"), index)
            message = f"{name} is required, but this closed object does not declare it"
            fix = did_you_mean(name, names)
            yield draft.finding("schema/required-undeclared", node.document, pointer, message, fix)


def _undeclared(schema: Any) -> Iterator[tuple[int, str]]:
    """Each name that a closed object requires and does not declare, with its index in the list."""
    if not isinstance(schema, dict) or schema.get("additionalProperties") is not False:
        return
    required, known = schema.get("required"), schema.get("properties", {})
    if not isinstance(required, list) or not isinstance(known, dict):
        return
    for index, name in enumerate(required):
        if isinstance(name, str) and name not in known and "patternProperties" not in schema:
            yield index, name


def check_satisfiability(draft: Draft) -> Iterator[Finding]:
    """schema/unsatisfiable"""
    for entry in draft.entries:
        schema = draft.expanded(entry.document.path, entry.pointer)
        for pointer in _innermost(_contradictions(schema)):
            node = origin(draft.tree, entry.document, entry.pointer, pointer)
            if any(_undeclared(node.value)):
                continue
            message = "no value satisfies all of these constraints"
            yield draft.finding("schema/unsatisfiable", node.document, node.pointer, message)


def _contradictions(schema: Any) -> list[str]:
    """Pointers to subschemas that no value satisfies, except `false`, which is intended."""
    if not isinstance(schema, dict):
        return []
    if "$defs" in schema:
        # Each definition is examined by itself, without the others, which may be hundreds.
        schema = {**schema, "$defs": dict.fromkeys(schema["$defs"], True)}
    try:
        found = canonical.find_unsatisfiable(
            schema,
            validate_formats=True,
            pattern_options=jsonschema_rs.RegexOptions(),
            offline=True,
        )
    except ValueError:
        return []
    return [
        pointer
        for pointer, reason in found.items()
        if not isinstance(reason, canonical.UnsatisfiableReason.Literal)
    ]


def _innermost(pointers: list[str]) -> list[str]:
    """`pointers` without the parents of other pointers."""
    return [
        pointer
        for pointer in pointers
        if not any(other.startswith(f"{pointer}/") for other in pointers)
    ]


def check_values(draft: Draft) -> Iterator[Finding]:
    """schema/default-refused, schema/example-refused, schema/enum-refused"""
    for node in draft.schemas:
        for rule, pointer, value in _values(node):
            validator = draft.validator(node.document.path, node.pointer)
            for violation in validator.violations(value) if validator else ():
                message = f"its own schema refuses this value ({violation.keyword})"
                where = pointer + violation.pointer
                yield draft.finding(rule, node.document, where, message)


def _values(node: SchemaNode) -> Iterator[tuple[str, str, Any]]:
    schema, pointer = node.schema, node.pointer
    if "default" in schema:
        yield "schema/default-refused", child(pointer, "default"), schema["default"]
    if "const" in schema and len(schema) > 1:
        yield "schema/enum-refused", child(pointer, "const"), schema["const"]
    for rule, keyword in (("schema/example-refused", "examples"), ("schema/enum-refused", "enum")):
        values = schema.get(keyword)
        for index, value in enumerate(values if isinstance(values, list) else ()):
            yield rule, child(child(pointer, keyword), index), value


def check_numbers(draft: Draft) -> Iterator[Finding]:
    """schema/fractional-multiple-of"""
    for node in draft.schemas:
        step = node.schema.get("multipleOf")
        if isinstance(step, float) and not step.is_integer():
            pointer = child(node.pointer, "multipleOf")
            message = f"{step} is not an integer"
            yield draft.finding("schema/fractional-multiple-of", node.document, pointer, message)


def check_unique_items(draft: Draft) -> Iterator[Finding]:
    """schema/unbounded-unique"""
    for node in draft.schemas:
        if node.schema.get("uniqueItems") is True and "maxItems" not in node.schema:
            pointer = child(node.pointer, "uniqueItems")
            message = "uniqueItems without maxItems compares any number of items"
            yield draft.finding("schema/unbounded-unique", node.document, pointer, message)


# Checks of published schemas: MCP clients accept them, and everything has a description.

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
        for node in _value_schemas(draft, start, seen):
            if _is_open(node.schema):
                message = "the object allows members that are not declared"
                yield draft.finding("publish/open-object", node.document, node.pointer, message)


def _value_schemas(
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
            yield from _value_schemas(draft, target_node, seen)
        return
    yield node
    for keyword, pointer, member in keywords.branches(node.schema, node.pointer):
        if keyword not in _NOT_OWN:
            yield from _value_schemas(draft, SchemaNode(node.document, pointer, member), seen)


def _is_open(schema: dict[str, Any]) -> bool:
    types = schema.get("type")
    is_object = types == "object" or (isinstance(types, list) and "object" in types)
    closing = ("additionalProperties", "unevaluatedProperties")
    is_closed = any(schema.get(keyword, True) is not True for keyword in closing)
    return (is_object or "properties" in schema) and not is_closed
