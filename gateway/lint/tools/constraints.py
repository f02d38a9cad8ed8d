"""Checks of schemas: validity, contradictions, and values that they refuse."""

from collections.abc import Iterator
from typing import Any, Final

import jsonschema_rs
from jsonschema_rs import canonical

from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child
from gateway.contract.values.schema import Validator
from gateway.contract.values.violation import Violation
from gateway.contracts.finding import Finding
from gateway.contracts.sources.refs import origin
from gateway.lint.draft import Draft, SchemaNode

_DIALECT_VALIDATOR: Final = Validator({"$ref": "https://json-schema.org/draft/2020-12/schema"})


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
