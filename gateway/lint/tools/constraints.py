"""Schemas that are well-formed and cannot be meant: contradictions and values they refuse."""

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
from gateway.lint.draft import Draft, SchemaPlace

_DIALECT_VALIDATOR: Final = Validator({"$ref": "https://json-schema.org/draft/2020-12/schema"})


def check_validity(draft: Draft) -> Iterator[Finding]:
    """schema/invalid"""
    for document in draft.tree.documents.values():
        if document.path.suffix == ".json" and not isinstance(document.value, dict):
            message = "a schema file holds an object"
            yield draft.finding("schema/invalid", document, "", message)
    for root in draft.roots:
        for violation in _DIALECT_VALIDATOR.violations(root.schema):
            if violation.keyword != "format":
                pointer = root.pointer + violation.pointer
                message = f"is not valid JSON Schema 2020-12: {_reason(violation)}"
                yield draft.finding("schema/invalid", root.document, pointer, message)


def _reason(violation: Violation) -> str:
    """The validator's words, where they do not speak of the inside of the meta-schema."""
    is_inside = violation.keyword in {"anyOf", "oneOf", "allOf"}
    return "the value is none of those allowed here" if is_inside else violation.detail


def check_required(draft: Draft) -> Iterator[Finding]:
    """schema/required-undeclared"""
    for place in draft.schemas:
        known = place.schema.get("properties")
        names = list(known) if isinstance(known, dict) else []
        for index, name in _undeclared(place.schema):
            pointer = child(child(place.pointer, "required"), index)
            message = f"{name} is required, but not a property of this closed object"
            fix = did_you_mean(name, names)
            yield draft.finding("schema/required-undeclared", place.document, pointer, message, fix)


def _undeclared(schema: Any) -> Iterator[tuple[int, str]]:
    """Each name that a closed object requires and does not admit, with its place in the list."""
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
            place = origin(draft.tree, entry.document, entry.pointer, pointer)
            if any(_undeclared(place.value)):
                continue
            message = "no value satisfies all of these constraints"
            yield draft.finding("schema/unsatisfiable", place.document, place.pointer, message)


def _contradictions(schema: Any) -> list[str]:
    """Pointers to subschemas that admit nothing; a plain `false` is meant so."""
    if not isinstance(schema, dict):
        return []
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
    """Without the places that are contradictory only because something inside them is."""
    return [
        pointer
        for pointer in pointers
        if not any(other.startswith(f"{pointer}/") for other in pointers)
    ]


def check_values(draft: Draft) -> Iterator[Finding]:
    """schema/default-refused, schema/example-refused, schema/enum-refused"""
    for place in draft.schemas:
        for rule, pointer, value in _values(place):
            validator = draft.validator(place.document.path, place.pointer)
            for violation in validator.violations(value) if validator else ():
                message = f"the schema around it refuses this value ({violation.keyword})"
                where = pointer + violation.pointer
                yield draft.finding(rule, place.document, where, message)


def _values(place: SchemaPlace) -> Iterator[tuple[str, str, Any]]:
    schema, pointer = place.schema, place.pointer
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
    for place in draft.schemas:
        step = place.schema.get("multipleOf")
        if isinstance(step, float) and not step.is_integer():
            pointer = child(place.pointer, "multipleOf")
            message = "a fraction as multipleOf"
            yield draft.finding("schema/fractional-multiple-of", place.document, pointer, message)


def check_unique_items(draft: Draft) -> Iterator[Finding]:
    """schema/unbounded-unique"""
    for place in draft.schemas:
        if place.schema.get("uniqueItems") is True and "maxItems" not in place.schema:
            pointer = child(place.pointer, "uniqueItems")
            message = "comparing all items with each other must be bounded"
            yield draft.finding("schema/unbounded-unique", place.document, pointer, message)
