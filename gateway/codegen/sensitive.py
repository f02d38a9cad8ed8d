"""Which arguments no log, audit record or trace may hold, as the input schema marks them."""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway.codegen import keywords
from gateway.contract.schema import pointer_of


def sensitive_pointers(schema: Any, path: tuple[str, ...] = ()) -> tuple[str, ...]:
    """JSON Pointers to the parts marked `writeOnly` or `x-sensitive`; `*` is any index or name."""
    if not isinstance(schema, dict):
        return ()
    if schema.get("writeOnly") is True or schema.get("x-sensitive") is True:
        return (pointer_of(list(path)),)
    found = [
        pointer
        for step, member in _members(schema)
        for pointer in sensitive_pointers(member, (*path, *step))
    ]
    return tuple(dict.fromkeys(found))


def _members(schema: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Subschemas, each with the step from a value to the part that it describes."""
    for keyword, value in schema.items():
        if keyword == "properties":
            yield from (((name,), member) for name, member in value.items())
        elif keyword in {"items", "additionalProperties", "contains", "unevaluatedProperties"}:
            yield ("*",), value
        elif keyword == "patternProperties":
            yield from ((("*",), member) for member in value.values())
        elif keyword == "prefixItems":
            yield from (((str(index),), member) for index, member in enumerate(value))
        elif keyword in keywords.SCHEMA_LISTS:
            yield from (((), member) for member in value)
        elif keyword in {"then", "else", "if"}:
            yield (), value
