"""Schemas that refer to shared definitions as `#/$defs/<name>`."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

PREFIX: Final = "#/$defs/"
DATA: Final = frozenset({"const", "default", "enum", "example", "examples"})
"""Keywords whose values are data. A `$ref` in them is not a reference."""
MAPS: Final = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs"})
"""Keywords whose members have names that the author chose."""


def with_definitions(
    schema: dict[str, Any] | bool, definitions: Mapping[str, Any]
) -> dict[str, Any] | bool:
    """`schema` with the definitions that it needs, directly or indirectly, under `$defs`.

    Raises `LookupError` if one of them does not exist.
    """
    if isinstance(schema, bool):
        return schema
    needed: dict[str, Any] = {}
    waiting = [*names_in(schema)]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed[name] = definitions[name]
            waiting.extend(names_in(definitions[name]))
    if not needed:
        return schema
    return {**schema, "$defs": {name: needed[name] for name in sorted(needed)}}


def names_in(node: Any, *, is_map: bool = False) -> Iterator[str]:
    """The definitions that `node` refers to directly. `is_map`: its members are no keywords."""
    if isinstance(node, list):
        for each in node:
            yield from names_in(each)
    elif isinstance(node, dict):
        for key, value in node.items():
            if is_map:
                yield from names_in(value)
            elif key == "$ref" and isinstance(value, str) and value.startswith(PREFIX):
                name = value.removeprefix(PREFIX).partition("/")[0]
                yield name.replace("~1", "/").replace("~0", "~")
            elif key not in DATA:
                yield from names_in(value, is_map=key in MAPS)
