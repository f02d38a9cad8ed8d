"""Schema Objects of all OpenAPI versions, brought to JSON Schema 2020-12."""

import re
from collections.abc import Callable, Collection, Container, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any, Final, Literal

import msgspec

from gateway.authoring.contracts.patterns import shared_form
from gateway.contract.schemas import keywords
from gateway.contract.values.pointers import steps
from gateway.contract.values.schema import ANNOTATED, FORMATS, Validator

# Where the subschemas of a schema are, in every dialect that OpenAPI documents use.

MAPS: Final = keywords.SCHEMA_MAPS | {"definitions"}
LISTS: Final = keywords.SCHEMA_LISTS
VALUES: Final = keywords.SCHEMA_VALUES | {"additionalItems"}

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


# References to component schemas, and which components reach a schema of some kind by them.
#
# Schemas are in the normal form.

_PREFIX: Final = "#/components/schemas/"


def component_of(schema: Any) -> str | None:
    """The name of the component that `schema` refers to, if it is a reference to one."""
    ref = schema.get("$ref") if isinstance(schema, dict) else None
    return steps(ref[1:])[-1] if isinstance(ref, str) and ref.startswith(_PREFIX) else None


def reaching(
    components: Mapping[str, Any],
    is_one: Callable[[dict[str, Any]], bool],
    check_time: Callable[[], None],
) -> frozenset[str]:
    """The components with a subschema that `is_one`, also behind references."""
    users: dict[str, set[str]] = {}
    waiting: list[str] = []
    for name, schema in components.items():
        for part in all_subschemas(schema):
            check_time()
            if (used := component_of(part)) is not None:
                users.setdefault(used, set()).add(name)
            if is_one(part):
                waiting.append(name)
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(users.get(name, ()))
    return frozenset(found)


def all_subschemas(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema object in `schema`, itself first."""
    waiting = [schema]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict):
            yield current
            for keyword, value in current.items():
                waiting.extend(direct(keyword, value))


# Which members inputs and outputs do not have: `readOnly` and `writeOnly` (OpenAPI 3.1 §4.8.24).
#
# Schemas are in the normal form. A component that reaches such a member has two definitions.

Direction = Literal["input", "output"]
"""Inputs have no `readOnly` members, outputs no `writeOnly` members."""

FLAGS: Final[Mapping[Direction, str]] = {"input": "readOnly", "output": "writeOnly"}
WIDENING: Final = frozenset({"allOf", "anyOf", "oneOf", "then", "else"})
"""Keywords in which a hidden member may be required too."""


class Directions:
    """What the component schemas of one document hide."""

    def __init__(self, components: Mapping[str, Any], check_time: Callable[[], None]) -> None:
        self._components = components
        self._check_time = check_time
        self._differing: dict[Direction, frozenset[str]] = {}

    def differs(self, name: str, direction: Direction) -> bool:
        """Whether the component reaches a member that this direction does not have."""
        return name in self._differing_in(direction)

    def _differing_in(self, direction: Direction) -> frozenset[str]:
        if direction not in self._differing:
            self._differing[direction] = self._find_differing(direction)
        return self._differing[direction]

    def hidden(self, schema: Any, direction: Direction) -> frozenset[str]:
        """The members of `schema` that this direction lacks.

        They are flagged in it, behind `$ref` and `allOf`, or in every branch of a union there.
        """
        # A component that is the same in both directions hides nothing.
        followed = self._differing_in(direction)
        found: set[str] = set()
        for part in self._parts(schema, followed):
            found |= self._flagged_in(part, direction)
            for branches in _unions(part):
                found |= self._flagged_in_all(branches, direction, followed)
        return frozenset(found)

    def required(self, schema: Any) -> frozenset[str]:
        """The members that `schema` requires, also behind `$ref` and in branches."""
        found: set[str] = set()
        for part in self._parts(schema, self._components, WIDENING):
            self._check_time()
            names = part.get("required")
            found.update(
                name for name in (names if isinstance(names, list) else ()) if isinstance(name, str)
            )
        return frozenset(found)

    def _flagged_in(self, part: dict[str, Any], direction: Direction) -> set[str]:
        properties = part.get("properties")
        members = properties.items() if isinstance(properties, dict) else ()
        return {name for name, member in members if self._is_flagged(member, direction)}

    def _flagged_in_all(
        self, branches: list[Any], direction: Direction, followed: Container[str]
    ) -> set[str]:
        """The members that each branch flags. Unions inside a branch do not count."""
        found: set[str] | None = None
        for branch in branches:
            self._check_time()
            parts = self._parts(branch, followed)
            flagged = {name for part in parts for name in self._flagged_in(part, direction)}
            found = flagged if found is None else found & flagged
            if not found:
                break
        return found or set()

    def _is_flagged(self, member: Any, direction: Direction) -> bool:
        flag = FLAGS[direction]

        def has_flag(schema: Any) -> bool:
            return any(part.get(flag) is True for part in self._parts(schema, self._components))

        return has_flag(member) or any(
            all(map(has_flag, branches))
            for part in self._parts(member, self._components)
            for branches in _unions(part)
        )

    def _parts(
        self, schema: Any, followed: Container[str], keywords: Collection[str] = ("allOf",)
    ) -> Iterator[dict[str, Any]]:
        """`schema` and the schemas behind `$ref`, in the components `followed`, and `keywords`."""
        passed: set[str] = set()
        waiting = [schema]
        while waiting:
            part = waiting.pop()
            if not isinstance(part, dict):
                continue
            yield part
            name = component_of(part)
            if name is not None and name not in passed and name in followed:
                passed.add(name)
                waiting.append(self._components.get(name))
            for keyword in keywords:
                if keyword in part:
                    waiting.extend(direct(keyword, part[keyword]))

    def _find_differing(self, direction: Direction) -> frozenset[str]:
        def has_flagged(part: dict[str, Any]) -> bool:
            return bool(self._flagged_in(part, direction))

        return reaching(self._components, has_flagged, self._check_time)


def _unions(part: dict[str, Any]) -> list[list[Any]]:
    """The branches of each union of the schema object."""
    found = [part.get(keyword) for keyword in ("anyOf", "oneOf")]
    return [branches for branches in found if isinstance(branches, list) and branches]


def hide(lowered: dict[str, Any], hidden: frozenset[str]) -> None:
    """Remove the members `hidden` from the schema object `lowered`."""
    if "properties" in lowered:
        lowered["properties"] = {
            name: value for name, value in lowered["properties"].items() if name not in hidden
        }
    if "required" in lowered:
        lowered["required"] = [name for name in lowered["required"] if name not in hidden]
    if "dependentRequired" in lowered:
        lowered["dependentRequired"] = {
            name: [each for each in names if each not in hidden]
            for name, names in lowered["dependentRequired"].items()
            if name not in hidden
        }


# Keeps what the validator understands of one schema object, and reports what it leaves out.
#
# The result of `clean` has only keywords of JSON Schema 2020-12 with values of the right kind.
# Leaving a keyword out never refuses a value that the schema object admits. Where more values of a
# part are fewer of the whole, as under `not`, see `partial`.


@lru_cache(maxsize=10_000)
def runnable(pattern: str) -> str | None:
    """`pattern` in the form that validators of clients compile and ours runs in linear time.

    None if there is no such form: of look-around and back references, for example.
    """
    form = shared_form(pattern)
    if form is None:
        return None
    try:
        Validator({"pattern": form})
    except ValueError:
        return None
    return form


Note = Callable[[str, str, str], None]
"""Gets the keyword, the rule and the message of what is left out."""

TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_COMBINING: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf"})
BITS: Final = {"int32": 32, "int64": 64}
"""The formats that bound integers (OpenAPI Format Registry)."""
_LENGTHS: Final = {"date": 10, "uuid": 36}
"""The formats of which all texts have the same length."""
_DIRECTIONS: Final = ("readOnly", "writeOnly")
_LEFT_OUT: Final = frozenset(
    [
        "$defs",
        "definitions",
        "discriminator",
        "example",
        "externalDocs",
        "id",
        "xml",
        "contentSchema",
    ]
)
"""Keywords that are used up, or have no effect on values."""


def clean(schema: dict[str, Any], note: Note) -> dict[str, Any]:
    """`schema` without what the validator does not accept. Its subschemas are not changed."""
    cleaned = {
        keyword: value
        for keyword, value in _translated(schema, note).items()
        if _is_kept(keyword, value, note)
    }
    if "pattern" in cleaned:
        cleaned["pattern"] = runnable(cleaned["pattern"])
    _unify_lists(cleaned)
    _bound(schema, cleaned)
    _fix_enum(cleaned, note)
    _close(cleaned, note)
    _drop_format(cleaned, note)
    _drop_patterns(cleaned, note)
    if schema.get("format") == "password":
        cleaned["x-sensitive"] = True
    return cleaned


def _translated(schema: dict[str, Any], note: Note) -> dict[str, Any]:
    """`schema` with a oneOf as anyOf where a value may be valid by several branches.

    A discriminator names the branch, and a whole number is a number too.
    """
    if "oneOf" not in schema or "anyOf" in schema:
        return schema
    if "discriminator" in schema:
        message = "the discriminator decides, so `oneOf` is checked as `anyOf`"
    elif isinstance(schema["oneOf"], list) and _has_number_twice(schema["oneOf"]):
        message = "an integer is a number too, so `oneOf` is checked as `anyOf`"
    else:
        return schema
    note("oneOf", "schema/one-of", message)
    return {"anyOf" if name == "oneOf" else name: value for name, value in schema.items()}


def _has_number_twice(branches: list[Any]) -> bool:
    """Whether one branch is for integers and another one for numbers."""
    types = [each.get("type") for each in branches if isinstance(each, dict)]
    kinds = [each if isinstance(each, list) else [each] for each in types]
    whole = {at for at, each in enumerate(kinds) if "integer" in each}
    numbers = {at for at, each in enumerate(kinds) if "number" in each}
    return bool(whole and numbers) and len(whole | numbers) > 1


def _is_kept(keyword: str, value: Any, note: Note) -> bool:
    if keyword == "x-sensitive":
        return isinstance(value, bool)
    if keyword == ANNOTATED:
        return _is_known_format(value)
    if keyword.startswith("x-") or keyword in _LEFT_OUT:
        return False
    check = _CHECKS.get(keyword)
    if check is None:
        note(keyword, "schema/unknown-keyword", f"`{keyword[:40]}` is no keyword of JSON Schema")
        return False
    if check(value):
        return True
    if keyword == "pattern" and isinstance(value, str):
        message = "not every validator can run the pattern in linear time, so it is not checked"
        note(keyword, "schema/pattern", message)
    # An unknown format is an annotation, which has no effect anyway.
    elif keyword != "format":
        note(keyword, "schema/keyword", f"`{keyword}` has no valid value, so it is left out")
    return False


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_filled_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_type(value: Any) -> bool:
    kinds = value if isinstance(value, list) else [value]
    return bool(kinds) and all(isinstance(kind, str) and kind in TYPES for kind in kinds)


def _is_names_by_name(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_names, value.values()))


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict | bool)


def _is_known_format(value: Any) -> bool:
    return isinstance(value, str) and value in FORMATS


def _is_pattern(value: Any) -> bool:
    return isinstance(value, str) and runnable(value) is not None


def _is_anything(_: Any) -> bool:
    return True


_CHECKS: Final[Mapping[str, Callable[[Any], bool]]] = {
    **dict.fromkeys(VALUES, _is_schema),
    **dict.fromkeys(LISTS, _is_filled_list),
    **dict.fromkeys(MAPS, _is_map),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    "multipleOf": lambda value: _is_number(value) and value > 0,
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _is_count),
    **dict.fromkeys(("minProperties", "maxProperties", "minContains", "maxContains"), _is_count),
    **dict.fromkeys(("uniqueItems", "deprecated", *_DIRECTIONS), _is_flag),
    **dict.fromkeys(("title", "description", "contentEncoding", "contentMediaType"), _is_text),
    **dict.fromkeys(("const", "default", "$ref"), _is_anything),
    "format": _is_known_format,
    "pattern": _is_pattern,
    "required": _is_names,
    "dependentRequired": _is_names_by_name,
    "enum": _is_filled_list,
    "examples": _is_list,
    "type": _is_type,
}


def _unify_lists(cleaned: dict[str, Any]) -> None:
    """Names and types may occur once (JSON Schema Validation §6.1.1, §6.5.3)."""
    for keyword in ("required", "type"):
        if isinstance(cleaned.get(keyword), list):
            cleaned[keyword] = list(dict.fromkeys(cleaned[keyword]))
    if "dependentRequired" in cleaned:
        cleaned["dependentRequired"] = {
            name: list(dict.fromkeys(names)) for name, names in cleaned["dependentRequired"].items()
        }
    if "enum" in cleaned:
        unique = {msgspec.json.encode(value): value for value in cleaned["enum"]}
        cleaned["enum"] = list(unique.values())


def _bound(schema: dict[str, Any], cleaned: dict[str, Any]) -> None:
    """Bounds for `format: int32` and `int64` (OpenAPI Format Registry)."""
    form = schema.get("format")
    bits = BITS.get(form) if isinstance(form, str) else None
    kinds = cleaned.get("type")
    if bits is None or "integer" not in (kinds if isinstance(kinds, list) else [kinds]):
        return
    highest = 2 ** (bits - 1) - 1
    lower, upper = cleaned.get("minimum"), cleaned.get("maximum")
    cleaned["minimum"] = -highest - 1 if lower is None else max(lower, -highest - 1)
    cleaned["maximum"] = highest if upper is None else min(upper, highest)


def _fix_enum(cleaned: dict[str, Any], note: Note) -> None:
    values, kinds = cleaned.get("enum"), cleaned.get("type")
    if values is None or kinds is None:
        return
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if any(_has_type(value, kinds) for value in values):
        return
    del cleaned["enum"]
    items = cleaned.get("items")
    if "array" in kinds and isinstance(items, dict) and "enum" not in items:
        cleaned["items"] = {**items, "enum": values}
        note("enum", "schema/enum", "the values are those of the items, so they are checked there")
    else:
        note("enum", "schema/enum", "no value has the type, so the values are not checked")


def _close(cleaned: dict[str, Any], note: Note) -> None:
    """Close an object behind its `allOf`, where authors forget that only own members count.

    `additionalProperties: false` does not see members of other schemas (JSON Schema Core §10.3.2),
    so that a member that is required, or every member, would be refused.
    """
    own = cleaned.get("properties", {})
    is_contradiction = not own or not own.keys() >= set(cleaned.get("required", ()))
    is_combined = not cleaned.keys().isdisjoint(_COMBINING)
    if cleaned.get("additionalProperties") is not False or not (is_combined and is_contradiction):
        return
    del cleaned["additionalProperties"]
    cleaned["unevaluatedProperties"] = False
    message = "members of the schemas that it combines are admitted too"
    note("additionalProperties", "schema/closed", message)


def _drop_format(cleaned: dict[str, Any], note: Note) -> None:
    """Leave out a format that no text of the right length has."""
    length = _LENGTHS.get(cleaned.get("format", ""))
    if length is None:
        return
    least, most = cleaned.get("minLength", length), cleaned.get("maxLength", length)
    if not least <= length <= most:
        del cleaned["format"]
        message = f"texts of this format have {length} characters, so it is not checked"
        note("format", "schema/format", message)


def _drop_patterns(cleaned: dict[str, Any], note: Note) -> None:
    patterns = cleaned.get("patternProperties", {})
    kept: dict[str, Any] = {}
    for name, value in patterns.items():
        if (form := runnable(name)) is not None:
            kept[form] = {"allOf": [kept[form], value]} if form in kept else value
    if kept:
        cleaned["patternProperties"] = kept
    else:
        cleaned.pop("patternProperties", None)
    if None not in map(runnable, patterns):
        return
    # Members that the pattern admits would be refused without it.
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        cleaned.pop(keyword, None)
    message = (
        "not every validator can run a pattern in linear time, so other members are not checked"
    )
    note("patternProperties", "schema/pattern", message)


def _has_type(value: Any, kinds: list[str]) -> bool:
    return any(_IS_OF_TYPE[kind](value) for kind in kinds)


_IS_OF_TYPE: Final[Mapping[str, Callable[[Any], bool]]] = {
    "array": _is_list,
    "boolean": _is_flag,
    "integer": lambda value: _is_number(value) and value == int(value),
    "null": lambda value: value is None,
    "number": _is_number,
    "object": _is_map,
    "string": _is_text,
}


# `format` as an annotation, which refuses no value (JSON Schema Validation 2020-12 §7.2.1).


class Formats:
    """Where the formats of one document refuse values."""

    def __init__(
        self,
        components: Mapping[str, Any],
        check_time: Callable[[], None],
        *,
        checks_results: bool,
    ) -> None:
        """`checks_results`: in outputs too. In inputs they always do."""
        self._components = components
        self._check_time = check_time
        self._checks_results = checks_results
        self._asked: set[str] = set()

    @property
    def of_arguments(self) -> tuple[str, ...]:
        """The formats of the texts in inputs that were lowered so far."""
        return tuple(sorted(self._asked))

    def are_checked(self, direction: Direction) -> bool:
        """Whether formats refuse values."""
        return direction == "input" or self._checks_results

    def lose(self, component: str, direction: Direction) -> bool:
        """Whether the component reaches a format that is an annotation in this direction alone."""
        return not self.are_checked(direction) and component in self._formatted

    def lowered(self, schema: dict[str, Any], direction: Direction) -> dict[str, Any]:
        """The schema object, whose format may become an extension that no validator checks."""
        found = checked_format(schema)
        if found is None:
            return schema
        if not self.are_checked(direction):
            return {ANNOTATED if key == "format" else key: value for key, value in schema.items()}
        if direction == "input" and found in FORMATS:
            self._asked.add(found)
        return schema

    @cached_property
    def _formatted(self) -> frozenset[str]:
        return reaching(self._components, lambda part: bool(checked_format(part)), self._check_time)


def checked_format(schema: dict[str, Any]) -> str | None:
    """The format of the schema object itself, if it would refuse values."""
    found = schema.get("format")
    return found if isinstance(found, str) and (found in FORMATS or found in BITS) else None


# Schemas of bytes: base64 text in arguments and results, which are JSON.

BASE64_HINT: Final = "Bytes, encoded as base64 (RFC 4648 §4)."
_TEXT_TYPES: Final = re.compile(r"text/|application/(?:.*\+)?(?:json|xml)\b", re.IGNORECASE)


def say_base64(lowered: dict[str, Any]) -> None:
    """Say in a lowered schema of bytes that its values are base64 text."""
    if "contentMediaType" in lowered and are_octets(lowered["contentMediaType"]):
        if lowered.setdefault("contentEncoding", "base64") == "base64":
            own = lowered.get("description", "").strip()
            lowered["description"] = f"{own} {BASE64_HINT}".strip()
        lowered.setdefault("type", "string")


def are_octets(media_type: str) -> bool:
    """Whether content of `media_type` is no text."""
    return not _TEXT_TYPES.match(media_type)
