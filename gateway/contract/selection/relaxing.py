"""Widens an output schema so that it accepts a result of which `fields` left members out."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.selection.argument import FIELDS, FIELDS_SCHEMA
from gateway.contract.values.definitions import DATA, MAPS

_LIST_KEYWORDS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_DROPPED: Final = frozenset(
    {
        # They require members, or count them.
        "required",
        "minProperties",
        "dependentRequired",
        "dependentSchemas",
        # They compare items, which may be equal without the left-out members.
        "uniqueItems",
        "contains",
        "minContains",
        "maxContains",
        # They refuse what another schema accepts, and that schema accepts more now.
        "not",
        "if",
        "then",
        "else",
        "unevaluatedProperties",
        "unevaluatedItems",
    }
)


def relaxed(schema: Any) -> Any:
    """`schema` without what only complete results satisfy.

    It accepts every value that `schema` accepts, and each such value with any members left out.
    """
    if isinstance(schema, list):
        return [relaxed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in _DROPPED or (keyword in {"const", "enum"} and _has_members(value)):
            continue
        # A value may match several alternatives when nothing is required any more.
        name = "anyOf" if keyword == "oneOf" and "anyOf" not in schema else keyword
        if name == "oneOf":
            continue
        found[name] = _inner(keyword, value)
    return found


def published_output(input_schema: Mapping[str, Any], output_schema: Any) -> Any:
    """The schema of all results of a tool: selected ones too, if its input has `fields` of ours."""
    is_selecting = input_schema.get("properties", {}).get(FIELDS) == FIELDS_SCHEMA
    return relaxed(output_schema) if is_selecting else output_schema


def _inner(keyword: str, value: Any) -> Any:
    if keyword in DATA:
        return value
    if keyword in MAPS and isinstance(value, dict):
        return {name: relaxed(member) for name, member in value.items()}
    return relaxed(value) if isinstance(value, dict) or keyword in _LIST_KEYWORDS else value


def _has_members(value: Any) -> bool:
    """Whether a value, or one of several, is an object or a list."""
    values = value if isinstance(value, list) else [value]
    return isinstance(value, dict) or any(isinstance(each, dict | list) for each in values)
