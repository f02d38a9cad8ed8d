"""Rewrites keywords of Swagger 2.0 and OpenAPI 3.0 schemas as JSON Schema 2020-12 has them.

Each function changes one schema object, whose subschemas are already in the normal form. Documents
of 3.1 use these keywords too, and mean them as 3.0 does.
"""

from typing import Any, Final

from gateway.contracts.sources.keywords import ANNOTATIONS

NULL: Final = {"type": "null"}
_COMBINED: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf", "not"})
_BOUNDS: Final = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))


def rewrite(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema` in the normal form."""
    schema = dict(schema)
    _rewrite_bounds(schema)
    _rewrite_example(schema)
    _rewrite_bytes(schema)
    _rewrite_tuple(schema)
    if isinstance(schema.get("discriminator"), str):
        schema["discriminator"] = {"propertyName": schema["discriminator"]}
    is_nullable = schema.pop("nullable", False) is True
    is_nullable |= schema.pop("x-nullable", False) is True
    return _nullable(schema) if is_nullable else schema


def _rewrite_bounds(schema: dict[str, Any]) -> None:
    for exclusive, inclusive in _BOUNDS:
        if isinstance(flag := schema.get(exclusive), bool):
            del schema[exclusive]
            if flag and inclusive in schema:
                schema[exclusive] = schema.pop(inclusive)


def _rewrite_example(schema: dict[str, Any]) -> None:
    if "example" in schema:
        example = schema.pop("example")
        schema.setdefault("examples", [example])


def _rewrite_bytes(schema: dict[str, Any]) -> None:
    """`format: byte` is base64 text, and `binary` or `type: file` are bytes (OpenAPI 3.1 §4.4)."""
    is_file = schema.get("type") == "file"
    if is_file:
        schema["type"] = "string"
    if is_file or schema.get("format") == "binary":
        schema.pop("format", None)
        schema.setdefault("contentMediaType", "application/octet-stream")
    elif schema.get("format") == "byte":
        del schema["format"]
        schema.setdefault("contentEncoding", "base64")


def _rewrite_tuple(schema: dict[str, Any]) -> None:
    items = schema.get("items")
    if isinstance(items, list):
        del schema["items"]
        if items:
            schema["prefixItems"] = items
            if "additionalItems" in schema:
                schema["items"] = schema["additionalItems"]
    schema.pop("additionalItems", None)


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    if _COMBINED & schema.keys():
        outer: dict[str, Any] = {
            name: schema.pop(name) for name in tuple(schema) if name in ANNOTATIONS
        }
        return {**outer, "anyOf": [schema, NULL]}
    if "enum" in schema and isinstance(schema["enum"], list) and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    if "const" in schema and schema["const"] is not None:
        schema["enum"] = [schema.pop("const"), None]
    kinds = schema.get("type")
    if isinstance(kinds, str):
        kinds = [kinds]
    if isinstance(kinds, list) and kinds and "null" not in kinds:
        schema["type"] = [*kinds, "null"]
    return schema
