"""Checks files against their meta-schemas, and the copies of the meta-schemas."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from gateway.contract.schemas.keywords import SCHEMA_LISTS
from gateway.contract.values import jsontext
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import follow, parent, steps
from gateway.contract.values.violation import Violation
from gateway.contracts import meta
from gateway.contracts.finding import Finding
from gateway.contracts.sources.document import Document
from gateway.lint.draft import Draft, meta_schema_of
from gateway.lint.rules.all_rules import BY_ID

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


_RULES: Final = {
    "index.schema.json": "shape/index",
    "policies.schema.json": "shape/policies",
    "upstream.schema.json": "shape/upstream",
    "tool.schema.json": "shape/tool",
    "webhook.schema.json": "shape/webhook",
    "event.schema.json": "shape/event",
    "entity.schema.json": "shape/entity",
    "resource.schema.json": "shape/resource",
    "prompt.schema.json": "shape/prompt",
}
_EXTENSIONS: Final = {
    "tool.schema.json": ("/post/x-mcp", "/post/x-policy", "/post/x-binding"),
    "webhook.schema.json": ("/post/x-webhook",),
    "entity.schema.json": ("/x-entity",),
}
_ONE_KIND: Final = (
    "must hold exactly one of value, const, object, array, each, count, python and ref"
)
_FORMS: Final = {
    ("shape/x-binding", "oneOf"): _ONE_KIND,
    ("shape/x-webhook", "oneOf"): _ONE_KIND,
    ("shape/x-binding", "pattern"): (
        "is not an expression: write `$inputs.name`, `$response.body#/pointer`, `@/pointer`, …; "
        "a fixed value is `{const: …}`"
    ),
}
"""Messages that replace those of the validator, which would describe the meta-schema."""


_MAX_LISTED: Final = 12
"""The longest list of names or values in a message."""
_TYPES: Final = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a text",
}


def check_shapes(draft: Draft) -> Iterator[Finding]:
    """shape/*"""
    for path, violations in draft.misshapen.items():
        document = draft.tree.documents[path]
        for violation in violations:
            rule = _rule(meta_schema_of(path) or "", violation.pointer)
            message, fix = _message_and_fix(rule, document, violation)
            yield draft.finding(rule, document, violation.pointer, message, fix)


def _message_and_fix(rule: str, document: Document, violation: Violation) -> tuple[str, str | None]:
    """The message, and as a fix a similar name or value, or the known names."""
    file, pointer = meta_schema_of(document.path) or "", violation.pointer
    message = _FORMS.get((rule, violation.keyword), violation.detail)
    match violation.keyword:
        case "additionalProperties":
            names = names_at(file, document.value, parent(pointer))
            name = steps(pointer)[-1]
            known = [each for each in names if each != name]
            message = f"unknown property {name}" if known else message
            return message, did_you_mean(name, known) or _listed(known)
        case "enum" if 0 < len(values := values_at(file, document.value, pointer)) <= _MAX_LISTED:
            known = [str(each) for each in values]
            value = str(follow(document.value, pointer))
            return f"must be one of {', '.join(known)}", did_you_mean(value, known)
        case "type" if types := types_at(file, document.value, pointer):
            return f"must be {' or '.join(_TYPES[each] for each in types)}", None
        case _:
            return message, None


def _listed(names: Sequence[str]) -> str | None:
    """A fix that lists the allowed names."""
    return f"Known names: {', '.join(names)}." if 0 < len(names) <= _MAX_LISTED else None


def _rule(name: str, pointer: str) -> str:
    for extension in _EXTENSIONS.get(name, ()):
        if f"{pointer}/".startswith(f"{extension}/"):
            return f"shape/{steps(extension)[-1]}"
    return _RULES[name]


def check_meta_copies(draft: Draft) -> Iterator[Finding]:
    """meta/stale"""
    rule = BY_ID["meta/stale"]
    for name in meta.stale_copies(draft.tree.root):
        yield Finding(
            path=f"_meta/{name}",
            line=1,
            pointer="",
            rule=rule.id,
            message="the copy is missing or belongs to another version of the gateway",
            fix=rule.fix,
        )
