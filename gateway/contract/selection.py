"""The argument `fields` of reads: the members of a result that its caller wants."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

from gateway.contract.operation import Effect
from gateway.contract.schemas.keywords import SCHEMA_LISTS
from gateway.contract.values.nearest import nearest
from gateway.contract.values.pointers import NoSuchPlace, follow
from gateway.contract.values.schema import DATA, MAPS
from gateway.contract.values.violation import Violation

# The argument `fields` itself: which operations have it, and its schema.
#
# The gateway adds it to the published input schema of reads. Neither handlers nor upstreams see it.

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


# Keeps the selected members of a result.

Selection: TypeAlias = Mapping[str, "Selection | None"]
"""The members to keep, by name. None: the member is kept whole."""


def selected(value: Any, selection: Selection) -> Any:
    """`value` with only the members of `selection`, which applies to each item of a list.

    Values without members are kept: a member may be null where its schema allows an object too.
    """
    if isinstance(value, list):
        return [selected(each, selection) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for name, member in value.items():
        if name in selection:
            inner = selection[name]
            kept[name] = member if inner is None else selected(member, inner)
    return kept


# Finds the members of a result that names such as `airports.icao` stand for, by its schema.

MAX_NAMES: Final = 100
MAX_NAME: Final = 256
"""Characters of one name."""
_MAX_SHOWN: Final = 20
_SEPARATOR: Final = "."
_COMBINED: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_CONDITIONAL: Final = ("then", "else", "items", "unevaluatedItems")
_WITH_MEMBERS: Final = frozenset({"object", "array"})
_Tree = dict[str, Any]


class UnknownMembers(Exception):
    """Some names stand for nothing in the result."""

    def __init__(self, violations: Sequence[Violation]) -> None:
        super().__init__("unknown members")
        self.violations = tuple(violations)


class ResultMembers:
    """The members that results of one schema may have.

    Names are checked where the schema declares properties. Where it declares none, or types the
    values of a map (`additionalProperties`), any name is accepted.
    """

    def __init__(self, schema: Callable[[], Any]) -> None:
        """`schema`: makes the schema. It is called by the first selection."""
        self._make = schema

    @cached_property
    def _schema(self) -> Any:
        return self._make()

    def selection(self, names: Sequence[str]) -> Selection:
        """The selection of the members `names`. Raises `UnknownMembers`."""
        if not 0 < len(names) <= MAX_NAMES:
            detail = f"name at least one member, and at most {MAX_NAMES}"
            raise UnknownMembers([_violation(f"/{FIELDS}", detail)])
        tree: _Tree = {}
        unknown = []
        for index, name in enumerate(names):
            steps, detail = self._steps(name)
            if detail:
                unknown.append(_violation(f"/{FIELDS}/{index}", detail))
            else:
                _add(tree, steps)
        if unknown:
            raise UnknownMembers(unknown)
        return tree

    def _steps(self, name: str) -> tuple[list[str], str]:
        """The members on the way to `name`, or what is wrong with it."""
        if len(name) > MAX_NAME:
            return [], f"is longer than {MAX_NAME} characters"
        place = _Place(self._schema, [self._schema])
        steps: list[str] = []
        rest = name
        while rest:
            step = place.first(rest)
            if step is None:
                return [], _unknown(rest, _SEPARATOR.join(steps), place)
            steps.append(step)
            place = place.member(step)
            if len(rest) == len(step):
                return steps, ""
            rest = rest[len(step) + 1 :]
        return [], "is not a name: a dot is between two names"


class _Place:
    """All schemas that may describe the value at one place of the result."""

    def __init__(self, root: Any, schemas: Sequence[Any]) -> None:
        self._root = root
        self._parts = list(_parts(root, schemas))
        self.names = [*dict.fromkeys(name for part in self._parts for name in _properties(part))]

    @property
    def is_open(self) -> bool:
        """Whether any name may be a member."""
        if any(_is_map(part) for part in self._parts):
            return True
        kinds = [_kinds(part) for part in self._parts]
        is_scalar = any(kinds) and not any(each & _WITH_MEMBERS for each in kinds)
        is_closed = any(part.get("additionalProperties") is False for part in self._parts)
        return not (self.names or is_scalar or is_closed)

    def first(self, rest: str) -> str | None:
        """The member with which `rest` begins. None if there is none.

        A declared name may have dots itself.
        """
        fitting = [
            name
            for name in self.names
            if name and (rest == name or rest.startswith(f"{name}{_SEPARATOR}"))
        ]
        if fitting:
            return max(fitting, key=len)
        return (rest.partition(_SEPARATOR)[0] or None) if self.is_open else None

    def member(self, name: str) -> "_Place":
        """The place of the member `name`."""
        schemas = [_properties(part)[name] for part in self._parts if name in _properties(part)]
        if not schemas:
            schemas = [part.get("additionalProperties") for part in self._parts if _is_map(part)]
            schemas += [each for part in self._parts for each in _patterned(part).values()]
        return _Place(self._root, schemas)


def _parts(root: Any, schemas: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """`schemas` and all that they combine. A list stands for its items."""
    waiting = [*reversed(schemas)]
    seen: set[int] = set()
    while waiting:
        schema = waiting.pop()
        if not isinstance(schema, dict) or id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        inner = [each for keyword in _COMBINED for each in schema.get(keyword, ())]
        inner += [schema[keyword] for keyword in _CONDITIONAL if keyword in schema]
        inner += schema.get("dependentSchemas", {}).values()
        if "$ref" in schema:
            inner.append(_target(root, schema["$ref"]))
        waiting.extend(reversed(inner))


def _target(root: Any, reference: str) -> Any:
    try:
        return follow(root, reference.removeprefix("#"))
    except NoSuchPlace:
        return True


def _properties(part: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = part.get("properties", {})
    return properties


def _patterned(part: dict[str, Any]) -> dict[str, Any]:
    patterned: dict[str, Any] = part.get("patternProperties", {})
    return patterned


def _is_map(part: dict[str, Any]) -> bool:
    """Whether it describes members whose names it does not declare."""
    return isinstance(part.get("additionalProperties"), dict) or "patternProperties" in part


def _kinds(part: dict[str, Any]) -> set[str]:
    kinds = part.get("type", ())
    return {kinds} if isinstance(kinds, str) else {*kinds}


def _add(tree: _Tree, steps: Sequence[str]) -> None:
    """Add the member at `steps`. A member that is kept whole stays whole."""
    *outer, last = steps
    for step in outer:
        inner = tree.setdefault(step, {})
        if inner is None:
            return
        tree = inner
    tree[last] = None


def _unknown(rest: str, before: str, place: _Place) -> str:
    """What to write in place of `rest`, after the members `before`."""
    within = f"in {before}" if before else "of the result"
    if not place.names:
        return f"names no member: {before} has none"
    near = nearest(rest.partition(_SEPARATOR)[0], place.names)
    known = ", ".join(place.names[:_MAX_SHOWN])
    more = ", …" if len(place.names) > _MAX_SHOWN else ""
    prefix = f"{before}{_SEPARATOR}" if before else ""
    fix = f"; did you mean {prefix}{near}?" if near else ""
    return f"names no member {within}{fix}; known are {known}{more}"


def _violation(pointer: str, detail: str) -> Violation:
    return Violation(pointer=pointer, keyword=FIELDS, detail=detail)


# Widens an output schema so that it accepts a result of which `fields` left members out.

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
    return relaxed(value) if isinstance(value, dict) or keyword in SCHEMA_LISTS else value


def _has_members(value: Any) -> bool:
    """Whether a value, or one of several, is an object or a list."""
    values = value if isinstance(value, list) else [value]
    return isinstance(value, dict) or any(isinstance(each, dict | list) for each in values)
