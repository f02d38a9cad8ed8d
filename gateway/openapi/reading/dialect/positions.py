"""Where the subschemas of a schema are, in every dialect that OpenAPI documents use."""

from collections.abc import Callable
from typing import Any, Final

from gateway.contract.schemas import keywords

MAPS: Final = keywords.SCHEMA_MAPS | {"definitions"}
LISTS: Final = keywords.SCHEMA_LISTS
VALUES: Final = keywords.SCHEMA_VALUES | {"additionalItems"}
SAME_PLACE: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else"})
"""Keywords whose subschemas validate the same value as the schema around them."""

Change = Callable[[str, Any, tuple[str | int, ...]], Any]
"""Gets the keyword, the subschema and the steps to it, and returns what replaces it."""


def changed(keyword: str, value: Any, change: Change) -> Any:
    """`value` of `keyword`, with `change` applied to its direct subschemas."""
    if keyword in VALUES and isinstance(value, dict | bool):
        return change(keyword, value, (keyword,))
    if keyword in LISTS and isinstance(value, list):
        return [change(keyword, item, (keyword, at)) for at, item in enumerate(value)]
    if keyword in MAPS and isinstance(value, dict):
        return {name: change(keyword, each, (keyword, name)) for name, each in value.items()}
    return value


def direct(keyword: str, value: Any) -> list[Any]:
    """The direct subschemas in `value` of `keyword`."""
    if keyword in VALUES:
        return [value]
    if keyword in LISTS and isinstance(value, list):
        return value
    if keyword in MAPS and isinstance(value, dict):
        return list(value.values())
    return []
