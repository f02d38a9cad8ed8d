"""Values that no request can say as null: they are absent instead."""

from typing import Any, Final

from gateway.openapi.reading.schemas import Schema

_NULL: Final = {"type": "null"}


def without_null(schema: Schema) -> Schema:
    """The lowered `schema` without null, if it admits other values too.

    A text has no null (OpenAPI 3.2, Appendix B), so a caller who gave one would be refused.
    """
    if isinstance(schema, bool):
        return schema
    found = {**schema, **_other_types(schema), **_other_values(schema)}
    if found.get("default", True) is None:
        del found["default"]
    return _other_branches(found)


def _other_types(schema: dict[str, Any]) -> dict[str, Any]:
    listed = schema.get("type")
    types = [each for each in listed if each != "null"] if isinstance(listed, list) else []
    if not types:
        return {}
    return {"type": types[0] if len(types) == 1 else types}


def _other_values(schema: dict[str, Any]) -> dict[str, Any]:
    values = [each for each in schema.get("enum", ()) if each is not None]
    return {"enum": values} if values else {}


def _other_branches(schema: dict[str, Any]) -> Schema:
    """`schema` without the alternative null. A single alternative that is left is the schema."""
    for keyword in ("anyOf", "oneOf"):
        branches = [each for each in schema.get(keyword, ()) if each != _NULL]
        if not branches or len(branches) == len(schema[keyword]):
            continue
        rest = {name: value for name, value in schema.items() if name != keyword}
        (first, *others) = branches
        if others or isinstance(first, bool) or first.keys() & rest.keys():
            return {**rest, keyword: branches}
        return {**first, **rest}
    return schema
