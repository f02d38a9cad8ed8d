"""Validates JSON values with compiled JSON Schemas (2020-12).

Only this module configures jsonschema-rs, so that contracts, arguments, replies and results are
validated by the same rules: formats are asserted, unknown formats are refused, patterns run in
linear time, nothing is fetched, and no message contains a value.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from textwrap import shorten
from typing import Any, Final

import jsonschema_rs
from jsonschema_rs import ValidationError, ValidationErrorKind

from gateway.contract.values import jsontext, shallow
from gateway.contract.values.alternatives import Tag, branches_of, nearest, needed, relevant
from gateway.contract.values.formats import OWN_FORMATS
from gateway.contract.values.pointers import pointer_of
from gateway.contract.values.reach import Reach
from gateway.contract.values.violation import MAX_VIOLATIONS, Violation

MAX_EXPLAINED: Final = 1000
_MAX_ERRORS: Final = 3000
"""As many take the validator 50 ms."""
_MAX_NAME: Final = 64
_MAX_LISTED: Final = 20
"""The most names or values that one message lists."""
_MAX_PATTERN: Final = 60
"""Longer patterns are not shown, because they are not readable."""
_MAX_MEANING: Final = 160
_WRITTEN: Final = {"date": "2026-12-01", "date-time": "2026-12-01T15:00:00Z"}
_MASK: Final = "the value"
_TOO_DEEP: Final = "is not valid, and is too deep to say why: correct or omit it"


class Validator:
    """A compiled schema. Raises `ValueError` when the schema itself cannot be compiled."""

    __slots__ = ("_multiplies", "_outer", "_reach", "_schema", "_validator", "admits")

    def __init__(self, schema: dict[str, Any] | bool) -> None:
        self._schema = schema
        self._outer: Validator | None = None
        self._multiplies: bool | None = None
        self._reach: int | None = None
        self._validator = jsonschema_rs.Draft202012Validator(
            schema,
            validate_formats=True,
            formats=dict(OWN_FORMATS),
            ignore_unknown_formats=False,
            pattern_options=jsonschema_rs.RegexOptions(),
            mask=_MASK,
            offline=True,
        )
        self.admits: Callable[[Any], bool] = self._validator.is_valid

    def violations(self, value: Any) -> tuple[Violation, ...]:
        """The violations of `value`, at most `MAX_VIOLATIONS`, in document order.

        For a value with more than `MAX_EXPLAINED` members, or of which there may be more than
        `_MAX_ERRORS` errors, only the first one is reported, because the validator finds all errors
        before it returns one. For a deep value of a schema with branches that contain it, only the
        outer levels count. Where one place alone may have too many errors, only the place counts.
        """
        if self._reaches() > _MAX_ERRORS:
            return () if self.admits(value) else (self._wrong_part(value),)
        if (outer := self._outer_violations(value)) is not None:
            return outer
        found = (
            v for error in relevant(self._errors(value)) for v in _violations(error, self._schema)
        )
        return tuple(islice(_unique(found), MAX_VIOLATIONS))

    def _outer_violations(self, value: Any) -> tuple[Violation, ...] | None:
        """The violations of the outer levels of `value`. None if all of them can be listed."""
        schema = self._schema
        if not isinstance(schema, dict) or "$defs" not in schema or not shallow.is_deep(value):
            return None
        if self._multiplies is None:
            self._multiplies = shallow.multiplies(schema)
        if not self._multiplies:
            return None
        if self.admits(value):
            return ()
        if self._outer is None and shallow.is_small(schema):
            self._outer = Validator(shallow.without_inner(schema))
        if self._outer is not None and (found := self._outer.violations(value)):
            return found
        return (self._wrong_part(value),)

    def _wrong_part(self, value: Any) -> Violation:
        steps = shallow.wrong_part(value, self.admits, 1_000_000 // self._reaches())
        return Violation(pointer=pointer_of(map(str, steps)), keyword="$ref", detail=_TOO_DEEP)

    def _reaches(self) -> int:
        """How many errors one place of a value may have."""
        if self._reach is None:
            schema = self._schema
            shared = schema.get("$defs") if isinstance(schema, dict) else None
            self._reach = Reach(shared).of(schema) if isinstance(shared, dict) else 1
        return self._reach

    def _errors(self, value: Any) -> Sequence[ValidationError]:
        explained = min(MAX_EXPLAINED, _MAX_ERRORS // self._reaches())
        if not jsontext.holds_more_than(value, explained):
            return tuple(self._validator.iter_errors(value))
        try:
            self._validator.validate(value)
        except ValidationError as first:
            return (first,)
        return ()


class DeferredValidator(Validator):
    """A schema that is compiled when the first value is validated.

    An imported document has thousands of schemas, and most of them validate nothing before the next
    restart. The generator has compiled them all, so this raises nothing.
    """

    __slots__ = ("_is_compiled", "_read")

    def __init__(self, read: Callable[[], dict[str, Any] | bool]) -> None:
        """`read` gives the schema, which may be decoded only then."""
        self._read = read
        self._is_compiled = False
        self.admits = self._admits_first

    def violations(self, value: Any) -> tuple[Violation, ...]:
        """See `Validator.violations`."""
        self._compile()
        return super().violations(value)

    def _admits_first(self, value: Any) -> bool:
        self._compile()
        return self.admits(value)

    def _compile(self) -> None:
        if not self._is_compiled:
            super().__init__(self._read())
            self._is_compiled = True


def _violations(error: ValidationError, schema: Any) -> Iterator[Violation]:
    path = list(error.instance_path)
    branches = branches_of(error)
    has_tag = branches and isinstance(error.instance, dict)
    if has_tag and (tag := Tag.of(_around(error, schema), schema)):
        yield from _tagged(tag, error, branches, schema)
    elif near := nearest(branches, path):
        for inner in near:
            yield from _violations(inner, schema)
    elif names := needed(branches, path):
        yield _violation(path, error.kind, f"{_MASK} needs one of {', '.join(names)}")
    else:
        yield from _own(error, schema)


def _own(error: ValidationError, schema: Any) -> Iterator[Violation]:
    path, kind = list(error.instance_path), error.kind
    match kind:
        case ValidationErrorKind.Required(property=name):
            yield _violation([*path, str(name)], kind, "is required")
        case (
            ValidationErrorKind.AdditionalProperties(unexpected=names)
            | ValidationErrorKind.UnevaluatedProperties(unexpected=names)
        ):
            known = _known(_around(error, schema))
            for name in names:
                yield _violation([*path, name], kind, f"is not a known property{known}")
        case _:
            yield _violation(path, kind, _detail(error, schema))


def _tagged(
    tag: Tag, error: ValidationError, branches: Sequence[Sequence[ValidationError]], schema: Any
) -> Iterator[Violation]:
    """The errors of the branch that the value names, or of its name."""
    value: Any = error.instance
    place = [*error.instance_path, tag.name]
    values = [value for each in tag.values for value in each]
    few = f"one of {_choices(values)}" if len(values) <= _MAX_LISTED else "one that is known"
    if tag.name not in value:
        detail = f"is required: {few} names the form of the value"
        yield Violation(pointer=_pointer(place), keyword="required", detail=detail)
    elif (at := tag.branch(value)) is None:
        yield Violation(pointer=_pointer(place), keyword="enum", detail=f"{_MASK} is not {few}")
    else:
        for inner in branches[at]:
            yield from _violations(inner, schema)


def _choices(options: Iterable[Any]) -> str:
    return ", ".join(json.dumps(option, ensure_ascii=False) for option in options)


def _detail(error: ValidationError, schema: Any) -> str:
    match error.kind:
        case ValidationErrorKind.Enum(options=list(options)) if len(options) <= _MAX_LISTED:
            return f"{_MASK} is not one of {_choices(options)}"
        case ValidationErrorKind.Pattern(pattern=pattern):
            is_short = len(pattern) <= _MAX_PATTERN
            message = error.message if is_short else f"{_MASK} does not have the required form"
            return message + _meaning(_around(error, schema))
        case ValidationErrorKind.Format(format=name) if name in _WRITTEN:
            return f"{error.message}: write it as {_WRITTEN[name]}"
        case ValidationErrorKind.Type(types=types) if _is_text_meant(types, error.instance):
            wanted = 'is a number where text is required: write it in quotes, such as "380"'
            return f"{_MASK} {wanted}{_meaning(_around(error, schema))}"
        case ValidationErrorKind.Not():
            return _excluded(_around(error, schema).get("not")) or error.message
    return error.message


def _excluded(schema: Any) -> str | None:
    """What is said of a value that `not: schema` refuses. None: it is not a matter of values."""
    if not isinstance(schema, dict) or len(schema) != 1:
        return None
    options = [schema["const"]] if "const" in schema else schema.get("enum", ())
    if not 0 < len(options) <= _MAX_LISTED:
        return None
    return f"{_MASK} must not be {'one of ' if len(options) > 1 else ''}{_choices(options)}"


def _is_text_meant(types: Sequence[str], value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and "string" in types


def _around(error: ValidationError, schema: Any) -> Mapping[str, Any]:
    """The schema that contains the failed keyword. Empty if it is not found."""
    found = schema
    for step in error.schema_path[:-1]:
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            return {}
    return found if isinstance(found, dict) else {}


def _known(schema: Mapping[str, Any]) -> str:
    names = list(schema.get("properties", ()))
    return f"; known are {', '.join(names)}" if 0 < len(names) <= _MAX_LISTED else ""


def _meaning(schema: Mapping[str, Any]) -> str:
    """The schema's description for a message, because patterns are hard to read."""
    description = schema.get("description")
    if not isinstance(description, str):
        return ""
    return f"; what it is: {shorten(description, _MAX_MEANING, placeholder=' …')}"


def _unique(violations: Iterable[Violation]) -> Iterator[Violation]:
    """`violations` without repetitions: two keywords may report the same."""
    seen: set[Violation] = set()
    for violation in violations:
        if violation not in seen:
            seen.add(violation)
            yield violation


def _violation(path: list[str | int], kind: ValidationErrorKind, detail: str) -> Violation:
    return Violation(pointer=_pointer(path), keyword=kind.name, detail=detail)


def _pointer(path: list[str | int]) -> str:
    return pointer_of(str(step)[:_MAX_NAME] for step in path)


@lru_cache(maxsize=1000)
def matcher(pattern: str) -> Callable[[str], bool] | None:
    """Whether a text has a part that `pattern` matches (ECMA-262), in linear time.

    Python's own engine takes exponential time for some patterns.
    None if the validator cannot compile it, for example because of a look-around.
    """
    try:
        return Validator({"pattern": pattern}).admits
    except ValueError:
        return None


def is_whole_match(pattern: str, text: str) -> bool:
    """Whether `pattern`, which the validator can run, matches all of `text`."""
    matches = matcher(f"^(?:{pattern})$")
    return matches is not None and matches(text)
