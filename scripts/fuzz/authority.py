"""The authority: the package `jsonschema`, which shares no code with the gateway's validator.

Numbers are compared exactly: fractions are given to it as decimals, because its own division of
floats is not exact. Patterns are those of ECMA-262: in Python, `$` also matches before a line end
at the end of the text, and `\\d` matches more than ten digits.
"""

import re
from decimal import Decimal, localcontext
from typing import Any, Final

import jsonschema  # type: ignore[import-untyped]  # it ships no types

_DIGITS: Final = 1000
"""More than the quotient of any two floats has: the remainder is exact."""


class Authority:
    """A schema as the authority reads it. Formats are asserted."""

    def __init__(self, schema: Any) -> None:
        self._validator = jsonschema.Draft202012Validator(
            _as_ecma(exact(schema)), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
        )

    def admits(self, value: Any) -> bool:
        """Whether the value is valid.

        Raises `RecursionError` if a definition refers to itself for the same value.
        """
        try:
            with localcontext(prec=_DIGITS):
                return bool(self._validator.is_valid(exact(value)))
        except BaseException as error:
            # The map of the package's registry panics if the stack ends while it compares names.
            if type(error).__name__ == "PanicException":
                raise RecursionError from error
            raise


def exact(value: Any) -> Any:
    """`value` with whole numbers as integers, and other ones as decimals."""
    if isinstance(value, dict):
        return {name: exact(member) for name, member in value.items()}
    if isinstance(value, list):
        return [exact(item) for item in value]
    if isinstance(value, float):
        return int(value) if value.is_integer() else Decimal(repr(value))
    return value


_END: Final = re.compile(r"\\.|\[(?:\\.|[^\]])*\]|\$")
_MAPS: Final = frozenset({"properties", "dependentSchemas", "$defs"})
_DATA: Final = frozenset({"const", "enum", "required", "dependentRequired", "default", "examples"})


def _as_ecma(schema: Any) -> Any:
    """`schema` with patterns that mean to Python what they mean to ECMA-262."""
    if isinstance(schema, list):
        return [_as_ecma(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found: dict[str, Any] = {}
    for keyword, given in schema.items():
        if keyword == "pattern":
            found[keyword] = _pattern(given)
        elif keyword == "patternProperties":
            found[keyword] = {_pattern(name): _as_ecma(each) for name, each in given.items()}
        elif keyword in _MAPS:
            found[keyword] = {name: _as_ecma(each) for name, each in given.items()}
        else:
            found[keyword] = given if keyword in _DATA else _as_ecma(given)
    return found


def _pattern(pattern: str) -> str:
    whole = _END.sub(lambda match: r"\Z" if match[0] == "$" else match[0], pattern)
    return f"(?a:{whole})"
