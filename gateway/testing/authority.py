"""The authority on verdicts: Python's `jsonschema`, which shares no code with the gateway's own.

What is valid is decided here, neither by the gate under test nor by what a generator intended.
"""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Final, Literal

import jsonschema  # type: ignore[import-untyped]  # it has no stubs
from referencing import Registry
from referencing.exceptions import Unresolvable

from gateway.catalogue import Entry
from gateway.contract.values.pointers import child, pointer_of

Said = Literal["valid", "invalid", "undecided"]

_DOLLAR: Final = re.compile(r"(\\.)|\[(?:\\.|[^\]\\])*\]|(\$)", re.DOTALL)
"""An escape, a class of characters, or the anchor, which Python puts before a last line feed."""
_CHECKED: Final = ("date", "ipv4", "ipv6")
"""The formats that the authority knows as well as the gate."""
_UNKNOWN: Final = frozenset({"format", "x-format"})


def _pattern(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
    anchored = _DOLLAR.sub(lambda found: r"\Z" if found[2] else found[0], pattern)
    if isinstance(instance, str) and not re.search(anchored, instance, re.ASCII):
        yield jsonschema.ValidationError("it does not match the pattern")


def _multiple(_: Any, step: Any, instance: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
    is_number = isinstance(instance, int | float) and not isinstance(instance, bool)
    if is_number and Fraction(repr(instance)) % Fraction(repr(step)):
        yield jsonschema.ValidationError("it is no multiple")


def _required(
    optional: frozenset[str], _: Any, names: Any, instance: Any, __: Any
) -> Iterator[jsonschema.ValidationError]:
    for name in names if isinstance(instance, dict) else ():
        if name not in instance and name not in optional:
            yield jsonschema.ValidationError(f"{name!r} is missing")


def _enum(_: Any, known: Any, instance: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
    """Many documents write the values of the items beside a list."""
    is_of_items = isinstance(instance, list) and not any(isinstance(e, list) for e in known)
    for each in instance if is_of_items else [instance]:
        alike = (o for o in known if isinstance(o, bool) is isinstance(each, bool))
        if each not in alike:
            yield jsonschema.ValidationError("it is none of the values")


_VALIDATOR: Final = jsonschema.validators.extend(
    jsonschema.Draft202012Validator, {"pattern": _pattern, "multipleOf": _multiple}
)


class Authority:
    """Decides by one schema. What it cannot decide, such as a pattern Python cannot compile, it
    says."""

    def __init__(
        self,
        schema: Mapping[str, Any] | bool,
        registry: Registry[Any] | None = None,
        optional: frozenset[str] = frozenset(),
    ) -> None:
        """`registry`: where references of an upstream's document lead. `optional`: names that no
        schema of it requires."""
        kind, known = _VALIDATOR, {}
        if registry is not None:
            known = {"registry": registry}
            changed = {"required": partial(_required, optional), "enum": _enum}
            kind = jsonschema.validators.extend(kind, changed)
        formats = jsonschema.FormatChecker(_CHECKED)
        self._validator = kind(schema, format_checker=formats, **known)

    def says(self, value: Any) -> Said:
        """Whether the schema admits `value`."""
        try:
            return "valid" if self._validator.is_valid(value) else "invalid"
        except (re.error, RecursionError, Unresolvable, OverflowError, ValueError):
            return "undecided"

    def place(self, value: Any) -> str:
        """The pointer to the keyword that refuses `value`, without numbers of branches."""
        try:
            error = jsonschema.exceptions.best_match(self._validator.iter_errors(value))
        except (re.error, RecursionError, Unresolvable, OverflowError, ValueError):
            return ""
        return "" if error is None else "/".join(("", *map(str, error.absolute_schema_path)))

    def places(self, value: Any) -> frozenset[str] | None:
        """Pointers to what is refused, those of each branch too, and to members that are missing.

        None: it cannot say.
        """
        try:
            errors = list(self._validator.iter_errors(value))
        except (re.error, RecursionError, Unresolvable, OverflowError, ValueError):
            return None
        return frozenset(place for error in errors for place in _places(error))


def _places(error: jsonschema.ValidationError) -> Iterator[str]:
    here = pointer_of(map(str, error.absolute_path))
    yield here
    match error.validator, error.validator_value:
        case "required", list(names):
            yield from (child(here, name) for name in names)
        case "dependentRequired", dict(needed):
            yield from (child(here, name) for names in needed.values() for name in names)
    for each in error.context:
        yield from _places(each)


def is_beyond(keyword: str) -> bool:
    """Whether a violation is of a rule that the authority does not know."""
    return keyword in _UNKNOWN or keyword not in _VALIDATOR.VALIDATORS


@lru_cache(maxsize=256)
def authority_on(entry: Entry) -> Authority:
    """The authority on the arguments of a tool, by the schema that clients are shown."""
    return Authority(entry.listing.input_schema)
