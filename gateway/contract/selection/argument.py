"""The argument `fields` itself: which operations have it, and its schema.

The gateway adds it to the published input schema of reads. Neither handlers nor upstreams see it.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.operation import Effect

FIELDS: Final = "fields"
FIELDS_SCHEMA: Final[dict[str, Any]] = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Members of the result to return, as a.b. Default: all",
}
"""It is in the list of every read, so it is short. `members` checks and explains the names."""
_EXTENSIBLE: Final = frozenset(
    {"type", "title", "description", "properties", "required", "dependentRequired", "examples"}
)
"""Keywords at the root of an input schema that another argument cannot break."""


def takes_fields(effect: Effect, input_schema: Mapping[str, Any]) -> bool:
    """Whether the gateway adds `fields` to the arguments of an operation.

    It does for reads. An operation with an argument of this name keeps its own. One whose schema
    limits its arguments as a whole, such as by `minProperties`, has none.
    """
    return (
        effect is Effect.READ
        and input_schema.get("additionalProperties") is False
        and input_schema.keys() - {"additionalProperties", "$defs"} <= _EXTENSIBLE
        and FIELDS not in input_schema.get("properties", {})
    )


def with_fields(input_schema: Mapping[str, Any]) -> dict[str, Any]:
    """`input_schema` with the argument `fields`."""
    properties = input_schema.get("properties", {})
    return {**input_schema, "properties": {**properties, FIELDS: FIELDS_SCHEMA}}
