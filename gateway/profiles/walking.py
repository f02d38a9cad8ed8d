"""Changes the subschemas of a schema."""

from collections.abc import Callable
from typing import Any, Final

from gateway.contract.schemas.keywords import SCHEMA_LISTS, SCHEMA_MAPS, SCHEMA_VALUES

Schema = dict[str, Any]

NEGATIVE: Final = frozenset({"not", "if", "then", "else"})
"""Keywords that refuse more when a schema in them admits more, and those that depend on them."""
LEVELS: Final = frozenset(
    {"properties", "patternProperties", "additionalProperties", "items", "prefixItems", "contains"}
)
"""Keywords whose subschemas are for values inside the value."""


def mapped(schema: Schema, change: Callable[[str, Schema], Schema]) -> Schema:
    """`schema` with `change(keyword, subschema)` in the place of each direct subschema."""

    def changed(keyword: str, value: Any) -> Any:
        return change(keyword, value) if isinstance(value, dict) else value

    found: Schema = {}
    for keyword, value in schema.items():
        if keyword in SCHEMA_VALUES:
            found[keyword] = changed(keyword, value)
        elif keyword in SCHEMA_LISTS and isinstance(value, list):
            found[keyword] = [changed(keyword, each) for each in value]
        elif keyword in SCHEMA_MAPS and isinstance(value, dict):
            found[keyword] = {name: changed(keyword, each) for name, each in value.items()}
        else:
            found[keyword] = value
    return found


def positive(schema: Schema) -> Schema:
    """`schema` without the keywords in which a wider schema would refuse more."""
    return {name: value for name, value in schema.items() if name not in NEGATIVE}
