"""Validates JSON values with compiled JSON Schemas (2020-12).

Only this module configures jsonschema-rs, so that contracts, arguments, replies and results are
validated by the same rules: formats are asserted, unknown formats are refused, patterns run in
linear time, nothing is fetched, and no message contains a value.

Explains what is wrong in a deep value of a schema that contains itself.

A validator lists the errors of each branch of `anyOf` and `oneOf`, and of each branch inside it. So
the errors of a value that nests ten levels can take minutes, although its validity takes no time.
"""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from textwrap import shorten
from typing import Any, Final

import jsonschema_rs
from jsonschema_rs import ValidationError, ValidationErrorKind

from gateway.contract.values import jsontext
from gateway.contract.values.pointers import pointer_of
from gateway.contract.values.violation import (
    MAX_VIOLATIONS,
    Tag,
    Violation,
    branches_of,
    nearest,
    needed,
    relevant,
)

# Schemas that refer to shared definitions as `#/$defs/<name>`.

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


# The formats of text that are checked.

FORMATS: Final = frozenset(
    [
        "date",
        "date-time",
        "time",
        "duration",
        "email",
        "idn-email",
        "hostname",
        "idn-hostname",
        "ipv4",
        "ipv6",
        "uri",
        "uri-reference",
        "iri",
        "iri-reference",
        "uri-template",
        "json-pointer",
        "relative-json-pointer",
        "regex",
        "uuid",
    ]
)
"""Formats that the validator asserts (JSON Schema Validation 2020-12 §7.3)."""


ANNOTATED: Final = "x-format"
"""The keyword of a format that is not checked, such as those of an import's results."""


def _address(name: str) -> Callable[[str], bool]:
    """The check of the format `name` for an address alone.

    The library's own takes a mailbox with a display name too: `A Name <a@b.co>` (RFC 5322 §3.4).
    """
    known = jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True)
    return lambda text: not text.endswith(">") and known.is_valid(text)


OWN_FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    name: _address(name) for name in ("email", "idn-email")
}
"""Formats that are checked in another way than the library does."""


# Counts how often a validator reaches one place of a value.
#
# A validator follows a reference each time it meets it. So a chain of definitions, each of which
# names the next one twice, takes 2^n steps for one value. It remembers the verdicts of definitions
# that contain themselves, but lists their errors once for each way to them.

_CAP: Final = 10**9
"""Counts are not larger."""
_LISTS: Final = ("allOf", "anyOf", "oneOf")
_SINGLE: Final = ("if", "then", "else", "not")

_ONLY_REFERS: Final = frozenset({"$ref"})

_Place = tuple[str, str | int | None]
"""A member, its name, or an item. None: each of them."""
_EACH: Final[Mapping[str, _Place]] = {
    "additionalProperties": ("member", None),
    "unevaluatedProperties": ("member", None),
    "propertyNames": ("name", None),
    "items": ("item", None),
    "contains": ("item", None),
    "unevaluatedItems": ("item", None),
}


class _Counts:
    """How often a schema reaches its own place, and the worst place below each member and item."""

    __slots__ = ("here", "inside")

    def __init__(self, here: int) -> None:
        self.here = here
        self.inside: dict[_Place, int] = {}

    def add(self, other: "_Counts") -> None:
        self.here = min(self.here + other.here, _CAP)
        for place, count in other.inside.items():
            self.add_below(place, count)

    def add_below(self, place: _Place, count: int) -> None:
        self.inside[place] = min(self.inside.get(place, 0) + count, _CAP)

    def worst(self) -> int:
        found = self.here
        for (kind, name), count in self.inside.items():
            of_each = 0 if name is None else self.inside.get((kind, None), 0)
            found = max(found, count + of_each)
        return min(found, _CAP)


class Reach:
    """The counts of schemas that share `definitions`. Each definition is counted once."""

    def __init__(self, definitions: Mapping[str, Any], once: Iterable[str] = ()) -> None:
        """With names in `once`, only references to those count, and they are not followed."""
        self._definitions = definitions
        self._known = {name: _Counts(1) for name in once}
        self._own = 0 if self._known else 1

    def of(self, schema: Any) -> int:
        """How often `schema` reaches the place of a value that it reaches most often.

        A definition that leads back to itself counts once.
        """
        for name in names_in(schema):
            self._learn(name)
        return self._counts(schema).worst()

    def _learn(self, first: str) -> None:
        """Count a definition, after those that it needs: there may be thousands in a row."""
        waiting = [(first, False)]
        while waiting:
            name, others_are_known = waiting.pop()
            definition = self._definitions.get(name)
            if others_are_known:
                self._known[name] = self._counts(definition)
            elif name not in self._known:
                self._known[name] = _Counts(1)
                waiting.append((name, True))
                waiting.extend((other, False) for other in names_in(definition))

    def _counts(self, node: Any) -> _Counts:
        if not isinstance(node, dict):
            return _Counts(self._own)
        found = _Counts(0 if node.keys() == _ONLY_REFERS else self._own)
        reference = node.get("$ref")
        if isinstance(reference, str) and reference.startswith(PREFIX):
            for name in names_in({"$ref": reference}):
                found.add(self._known[name])
        for inner in _here(node):
            found.add(self._counts(inner))
        for place, inner in _inside(node):
            found.add_below(place, self._counts(inner).worst())
        return found


def _here(node: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas that hold for the same place."""
    for keyword in _LISTS:
        yield from node.get(keyword, ())
    yield from (node[keyword] for keyword in _SINGLE if keyword in node)
    yield from node.get("dependentSchemas", {}).values()


def _inside(node: Mapping[str, Any]) -> Iterator[tuple[_Place, Any]]:
    """The schemas that hold for members and items, with their places."""
    for name, inner in node.get("properties", {}).items():
        yield ("member", name), inner
    for inner in node.get("patternProperties", {}).values():
        yield ("member", None), inner
    for number, inner in enumerate(node.get("prefixItems", ())):
        yield ("item", number), inner
    for keyword, place in _EACH.items():
        if keyword in node:
            yield place, node[keyword]


MAX_DEPTH: Final = 4
"""The deepest nesting of a value of which all errors are listed. Of deeper ones, those of so many
levels of definitions are."""
_MAX_TRIES: Final = 200
_MAX_DEFINITIONS: Final = 50
_DEFINITIONS: Final = "$defs"

Schema = dict[str, Any]


def is_deep(value: Any) -> bool:
    """Whether `value` nests deeper than `MAX_DEPTH`."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [inner for each in level for _, inner in _members(each)]
        level = [each for each in level if isinstance(each, dict | list)]
    return bool(level)


def multiplies(schema: Mapping[str, Any]) -> bool:
    """Whether a definition of `schema` that leads back to itself does so twice for one place, so
    that each level of a value has several times the errors of the level inside."""
    definitions = schema.get(_DEFINITIONS, {})
    needed = {name: {*names_in(each)} & definitions.keys() for name, each in definitions.items()}
    # Definitions that need no others are taken away until only circles, and ways to them, are left.
    while free := {name for name, others in needed.items() if not others}:
        needed = {name: others - free for name, others in needed.items() if name not in free}
    reach = Reach(definitions, once=needed)
    return any(reach.of(definitions[name]) > 1 for name in needed)


def is_small(schema: Mapping[str, Any]) -> bool:
    """Whether `without_inner` makes a schema of a size that can be kept."""
    return len(schema.get(_DEFINITIONS, {})) <= _MAX_DEFINITIONS


def without_inner(schema: Mapping[str, Any]) -> Schema:
    """A schema that admits at least what `schema` admits: the definitions end after some levels."""
    definitions = schema.get(_DEFINITIONS, {})
    levels = {
        _numbered(name, level): _at_level(each, level + 1)
        for level in range(MAX_DEPTH - 1)
        for name, each in definitions.items()
    }
    ends = {_numbered(name, MAX_DEPTH - 1): True for name in definitions}
    rest = {name: each for name, each in schema.items() if name != _DEFINITIONS}
    found: Schema = _at_level(rest, 0)
    return {**found, _DEFINITIONS: {**levels, **ends}}


def _numbered(name: str, level: int) -> str:
    return f"{name}@{level}"


def _at_level(node: Any, level: int, *, is_map: bool = False) -> Any:
    """`node` with references to the definitions of a level."""
    if isinstance(node, list):
        return [_at_level(each, level) for each in node]
    if not isinstance(node, dict):
        return node
    if is_map:
        return {name: _at_level(each, level) for name, each in node.items()}
    return {
        keyword: _numbered(value, level)
        if keyword == "$ref" and isinstance(value, str) and value.startswith(PREFIX)
        else value
        if keyword in DATA
        else _at_level(value, level, is_map=keyword in MAPS)
        for keyword, value in node.items()
    }


def wrong_part(value: Any, admits: Callable[[Any], bool], tries: int) -> list[str | int]:
    """The steps to the innermost part without which `value` is valid. Empty if none is found.

    It is looked for in the first `tries` parts, and in no more than `_MAX_TRIES`.
    """
    found: list[str | int] = []
    for steps in islice(_places(value), min(tries, _MAX_TRIES)):
        if admits(_without(value, steps)):
            found = steps
    return found


def _places(value: Any) -> Iterator[list[str | int]]:
    """The steps to every part of `value`, the outer ones first."""
    waiting: deque[tuple[list[str | int], Any]] = deque([([], value)])
    while waiting:
        around, part = waiting.popleft()
        for step, inner in _members(part):
            steps = [*around, step]
            yield steps
            waiting.append((steps, inner))


def _members(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def _without(value: Any, steps: list[str | int]) -> Any:
    """A copy of `value` without the part at `steps`."""
    first, *rest = steps
    if isinstance(value, list):
        index = int(first)
        inner = [_without(value[index], rest)] if rest else []
        return [*value[:index], *inner, *value[index + 1 :]]
    others = {name: each for name, each in value.items() if name != first}
    return {**others, first: _without(value[first], rest)} if rest else others


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
        if not isinstance(schema, dict) or "$defs" not in schema or not is_deep(value):
            return None
        if self._multiplies is None:
            self._multiplies = multiplies(schema)
        if not self._multiplies:
            return None
        if self.admits(value):
            return ()
        if self._outer is None and is_small(schema):
            self._outer = Validator(without_inner(schema))
        if self._outer is not None and (found := self._outer.violations(value)):
            return found
        return (self._wrong_part(value),)

    def _wrong_part(self, value: Any) -> Violation:
        steps = wrong_part(value, self.admits, 1_000_000 // self._reaches())
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
