"""The authority: the package `jsonschema`, which shares no code with the gateway's validator.

Numbers are compared exactly: fractions are given to it as decimals, because its own division of
floats is not exact.
"""

from decimal import Decimal
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it ships no types


class Authority:
    """A schema as the authority reads it. Formats are asserted."""

    def __init__(self, schema: Any) -> None:
        self._validator = jsonschema.Draft202012Validator(
            exact(schema), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
        )

    def admits(self, value: Any) -> bool:
        """Whether the value is valid."""
        return bool(self._validator.is_valid(exact(value)))


def exact(value: Any) -> Any:
    """`value` with whole numbers as integers, and other ones as decimals."""
    if isinstance(value, dict):
        return {name: exact(member) for name, member in value.items()}
    if isinstance(value, list):
        return [exact(item) for item in value]
    if isinstance(value, float):
        return int(value) if value.is_integer() else Decimal(repr(value))
    return value
