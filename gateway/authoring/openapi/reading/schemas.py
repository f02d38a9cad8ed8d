"""Makes JSON Schemas (2020-12) that the gateway's validator accepts of the document's schemas."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import permutations
from typing import Any, Final, NamedTuple

from msgspec import Struct

from gateway.authoring.contracts.finding import Finding, Severity
from gateway.authoring.openapi.reading import dialect
from gateway.authoring.openapi.reading.bundle import FIXES, REFUSED, UNCLEAN
from gateway.authoring.openapi.reading.dialect import (
    WIDENING,
    Direction,
    Directions,
    Formats,
    Note,
    all_subschemas,
    are_octets,
    checked_format,
    clean,
    component_of,
    hide,
    reaching,
    say_base64,
)
from gateway.authoring.openapi.reading.normalise import NormalDocument
from gateway.authoring.openapi.reading.source import (
    DocumentRefused,
    Meter,
    OutOfBudget,
    PartRefused,
)
from gateway.contract.schemas.keywords import ANNOTATIONS
from gateway.contract.values.hidden import holds_hidden
from gateway.contract.values.pointers import NoSuchPlace, child, follow, pointer_of
from gateway.contract.values.schema import PREFIX, names_in

# Follows references of the normal form, except those of schemas.

_REFUSED_PREFIX: Final = f"#/{REFUSED}/"
_TEXTS: Final = frozenset({"summary", "description"})


class Part(NamedTuple):
    """An object of the normal form, and its pointer there."""

    value: dict[str, Any]
    pointer: str


def resolve(document: NormalDocument, node: Any, pointer: str = "") -> dict[str, Any]:
    """`node`, or the object that its `$ref` leads to.

    `summary` and `description` beside a `$ref` replace those of its target (OpenAPI 3.1 §4.8.23).
    Operations beside the `$ref` of a Path Item are added to those of its target. Raises
    `PartRefused` for a part that cannot be served, and for references that lead to themselves.
    """
    return resolve_part(document, node, pointer).value


def resolve_part(document: NormalDocument, node: Any, pointer: str) -> Part:
    """As `resolve`, with the pointer to the object that was found. `pointer` is that of `node`."""
    passed: list[str] = []
    beside: dict[str, Any] = {}
    at = pointer
    while isinstance(node, dict) and "$ref" in node:
        ref = node["$ref"]
        if not isinstance(ref, str):
            raise _malformed(document, at, "a reference must be text")
        if ref in passed:
            message = f"the reference leads to itself: {' → '.join([*passed, ref])}"
            rule = "ref/recursive"
            raise PartRefused(document.finding(pointer, rule, message, FIXES[rule]))
        passed.append(ref)
        beside = {**{name: node[name] for name in node if name != "$ref"}, **beside}
        at = ref[1:]
        node = target_of(document, ref)
    if isinstance(node, bool):
        # A schema may be a boolean (JSON Schema Core §4.3.2).
        node = {} if node else {"not": {}}
    if not isinstance(node, dict):
        raise _malformed(document, pointer, "the reference leads to no object")
    _refuse_conflicts(document, node, beside, pointer)
    return Part({**node, **beside} if beside else node, at)


def target_of(document: NormalDocument, ref: str) -> Any:
    """The value that a `$ref` of the normal form leads to. Raises `PartRefused`."""
    if ref.startswith(_REFUSED_PREFIX):
        raise PartRefused(document.refusals[int(ref.removeprefix(_REFUSED_PREFIX))].finding)
    try:
        return follow(document.value, ref[1:])
    except NoSuchPlace:
        rule = "ref/dangling"
        message = f"there is nothing at {ref}"
        raise PartRefused(document.finding("", rule, message, FIXES[rule])) from None


def _malformed(document: NormalDocument, pointer: str, message: str) -> PartRefused:
    rule = "ref/malformed"
    return PartRefused(document.finding(pointer, rule, message, FIXES[rule]))


def _refuse_conflicts(
    document: NormalDocument, target: dict[str, Any], beside: dict[str, Any], pointer: str
) -> None:
    """OpenAPI does not define which of two equal members of a Path Item counts (3.1 §4.8.9)."""
    if repeated := sorted((beside.keys() & target.keys()) - _TEXTS):
        message = f"the `$ref` and its target both have {', '.join(map(repr, repeated))}"
        raise PartRefused(document.finding(pointer, "ref/conflict", message, "keep one of the two"))


# Makes JSON Schemas (2020-12) that the gateway's validator accepts of the document's schemas.
#
# Schemas that are checked in part only, where that would refuse values.
#
# A keyword that cannot be run is left out, so that its schema admits more values. Under `not`,
# `if`, `oneOf` and a bounded `contains`, the schema around it would then admit fewer.
#
# Schemas that refuse all that their authors mean.
#
# Authors write `oneOf` for "one of these", and leave their objects open. Then JSON Schema refuses
# what both branches admit, which is nearly everything. And they misspell names in `required`,
# which a closed object cannot have. Schemas are in the normal form.

_MOST: Final = 40
"""Branches of which each is compared with each other one."""
_SHAPE: Final = frozenset(
    ["$ref", "additionalProperties", "allOf", "minProperties", "properties", "required"]
)
_ANNOTATIONS: Final = frozenset(
    ["default", "deprecated", "description", "example", "examples", "externalDocs", "title", "xml"]
)
_UNIONS: Final = ("allOf", "anyOf", "oneOf")
_OTHER_NAMES: Final = frozenset(
    {"dependentSchemas", "else", "if", "patternProperties", "propertyNames", "then"}
)


class _Objects(Struct, frozen=True):
    """The objects of one branch: those with these members, and perhaps others."""

    properties: Mapping[str, Any]
    required: frozenset[str]
    least: int
    """The fewest members."""
    is_open: bool


def holds_another(branches: Sequence[Any], components: Mapping[str, Any]) -> bool:
    """Whether a branch admits what another one does: all values of its type, or all objects, if
    they have no members but its own."""
    if len(branches) > _MOST:
        return False
    types = [_type(each, components) for each in branches]
    kinds = [kind for kind, _ in types]
    if any(is_all and kinds.count(kind) > 1 for kind, is_all in types):
        return True
    found = [_objects(each, components) for each in branches]
    known = [each for each in found if each is not None]
    return any(_is_within(one, other) for one, other in permutations(known, 2))


def impossible_names(schema: Mapping[str, Any], components: Mapping[str, Any]) -> list[str]:
    """The names that `schema` requires and that its objects, which are closed, cannot have."""
    required = schema.get("required")
    closing = (schema.get("additionalProperties"), schema.get("unevaluatedProperties"))
    if False not in closing or not isinstance(required, list):
        return []
    known: set[str] = set()
    for part in _parts(schema, components, _UNIONS):
        if part is None or not _OTHER_NAMES.isdisjoint(part):
            return []
        others = {"additionalProperties", "unevaluatedProperties"} & part.keys()
        if any(part[each] is not False for each in others):
            return []
        members = part.get("properties")
        known |= members.keys() if isinstance(members, dict) else set()
    names = [each for each in required if isinstance(each, str) and each not in known]
    return names if known else []


def _is_within(one: _Objects, other: _Objects) -> bool:
    return (
        other.is_open
        and other.required <= one.required
        and other.least <= one.least
        and all(
            schema == other.properties[name]
            for name, schema in one.properties.items()
            if name in other.properties
        )
    )


def _type(schema: Any, components: Mapping[str, Any]) -> tuple[str, bool]:
    """The type of a branch, and whether it admits all values of it. Empty: it is not known."""
    passed: set[str] = set()
    while (name := component_of(schema)) is not None and name not in passed:
        passed.add(name)
        schema = components.get(name)
    kind = schema.get("type") if isinstance(schema, dict) else None
    if not isinstance(kind, str):
        return "", False
    rest = schema.keys() - _ANNOTATIONS - {"type"}
    if kind == "string" and checked_format(schema) is None:
        rest -= {"format"}
    return kind, all(each.startswith("x-") for each in rest)


def _objects(schema: Any, components: Mapping[str, Any]) -> _Objects | None:
    """The objects that `schema` admits. None: it has other rules, or admits other values."""
    properties: dict[str, Any] = {}
    required: set[str] = set()
    least = 0
    is_open = True
    is_object = False
    for part in _parts(schema, components):
        if part is None or not _is_plain(part):
            return None
        for name, member in part.get("properties", {}).items():
            if properties.setdefault(name, member) != member:
                return None
        required |= {each for each in part.get("required", ()) if isinstance(each, str)}
        least = max(least, part.get("minProperties", 0), len(required))
        is_open &= part.get("additionalProperties", True) is not False
        is_object |= part.get("type") == "object" or "properties" in part
    return _Objects(properties, frozenset(required), least, is_open) if is_object else None


def _parts(
    schema: Any, components: Mapping[str, Any], keywords: Sequence[str] = ("allOf",)
) -> Iterator[Mapping[str, Any] | None]:
    """The schema objects that `schema` joins by `$ref` and `keywords`. None: one is unknown."""
    passed: set[str] = set()
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, dict):
            yield None
            return
        yield part
        name = component_of(part)
        if name is not None and name not in passed:
            passed.add(name)
            waiting.append(components.get(name))
        if "$ref" in part and name is None:
            waiting.append(None)
        for keyword in keywords:
            joined = part.get(keyword, [])
            waiting += joined if isinstance(joined, list) else [None]


def _is_plain(part: Mapping[str, Any]) -> bool:
    rest = part.keys() - _SHAPE - _ANNOTATIONS - {"type"}
    return (
        part.get("type", "object") == "object"
        and isinstance(part.get("properties", {}), dict)
        and isinstance(part.get("required", []), list)
        and isinstance(part.get("additionalProperties", True), bool)
        and type(part.get("minProperties", 0)) is int
        and all(each.startswith("x-") for each in rest)
    )


_MAX_LISTED: Final = 200
_LEFT_OUT: Final[Mapping[str, tuple[str, ...]]] = {
    "not": ("not",),
    # Members that only the condition evaluates would be refused as unevaluated.
    "if": ("if", "then", "else", "unevaluatedProperties", "unevaluatedItems"),
}


class PartialSchemas:
    """Finds them in one document, whose component schemas are in the normal form."""

    def __init__(
        self,
        components: Mapping[str, Any],
        check_time: Callable[[], None],
        *,
        checks_formats: bool = True,
    ) -> None:
        self._components = components
        self._check_time = check_time
        self._checks_formats = checks_formats

    def widened(self, schema: dict[str, Any], note: Note) -> dict[str, Any]:
        """`schema` without the keywords that would refuse values that the document admits."""
        for keyword, left_out in _LEFT_OUT.items():
            if self._is_partial(schema.get(keyword)):
                schema = {name: each for name, each in schema.items() if name not in left_out}
                message = "a part of it cannot be checked, so that the whole is not"
                note(keyword, "schema/partial", message)
        if "maxContains" in schema and self._is_partial(schema.get("contains")):
            schema = {name: each for name, each in schema.items() if name != "maxContains"}
            message = "`contains` cannot be checked in full, so that more items may match"
            note("maxContains", "schema/partial", message)
        if unknown := impossible_names(schema, self._components):
            required = [each for each in schema["required"] if each not in unknown]
            schema = {**schema, "required": required}
            names = ", ".join(unknown)[:_MAX_LISTED]
            message = f"a closed object has no other members, so these are not needed: {names}"
            note("required", "schema/required", message)
        branches = schema.get("oneOf")
        if isinstance(branches, list) and any(map(self._is_partial, branches)):
            note("oneOf", "schema/one-of", "a branch is checked in part, so it is as `anyOf`")
            return _as_any_of(schema)
        if self._overlaps(schema):
            message = "a branch admits what another one means, so `oneOf` is checked as `anyOf`"
            note("oneOf", "schema/one-of", message)
            return _as_any_of(schema)
        return schema

    def _overlaps(self, schema: dict[str, Any]) -> bool:
        """Whether the branches of its oneOf admit one another's values."""
        branches = schema.get("oneOf")
        return isinstance(branches, list) and holds_another(branches, self._components)

    def _is_partial(self, schema: Any) -> bool:
        return any(
            component_of(part) in self._partial_components or self._loses(part)
            for part in all_subschemas(schema)
        )

    @cached_property
    def _partial_components(self) -> frozenset[str]:
        return reaching(self._components, self._loses, self._check_time)

    def _loses(self, schema: dict[str, Any]) -> bool:
        """Whether a keyword of the schema object itself, which refuses values, is left out."""
        self._check_time()
        if not self._checks_formats and checked_format(schema) is not None:
            return True
        if self._overlaps(schema) or impossible_names(schema, self._components):
            return True
        lost: list[str] = []

        def note(keyword: str, rule: str, _: str) -> None:
            # A name that JSON Schema does not know refuses nothing.
            if rule != "schema/unknown-keyword" and keyword not in ANNOTATIONS:
                lost.append(keyword)

        clean(schema, note)
        return bool(lost)


def _as_any_of(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema`, with its oneOf as anyOf."""
    if "anyOf" not in schema:
        return {"anyOf" if name == "oneOf" else name: each for name, each in schema.items()}
    kept = {name: each for name, each in schema.items() if name != "oneOf"}
    others = schema.get("allOf")
    return {
        **kept,
        "allOf": [*(others if isinstance(others, list) else ()), {"anyOf": schema["oneOf"]}],
    }


_MAX_NAME: Final = 100


def clean_name(name: str) -> str:
    """`name`, or a plain name with a digest of it if it has other characters or is long."""
    cleaned = UNCLEAN.sub("_", name)[:_MAX_NAME]
    return name if cleaned == name and name else hashed(cleaned, name)


def hashed(name: str, original: str) -> str:
    """`name` with a digest of `original`."""
    return f"{name}_{hashlib.sha256(original.encode()).hexdigest()[:8]}"


Schema = dict[str, Any] | bool

_MAX_DEPTH: Final = 200
"""The deepest pointer of a subschema. The validator compiles up to 255 levels."""
_MAX_INLINED: Final = 20
_SUFFIXES: Final[Mapping[Direction, str]] = {"input": "Input", "output": "Output"}
_FIX: Final = "correct the schema with an overlay if the value must be checked"


class SchemaLowering:
    """Lowers the schemas of one document. Definitions are shared by all operations.

    A component schema becomes the definition of its name. If it differs in the two directions, it
    becomes two, such as `Pet` for outputs and `PetInput` for inputs.
    """

    def __init__(self, document: NormalDocument, *, checks_results: bool = True) -> None:
        """`checks_results`: formats of outputs refuse values. Otherwise they are annotations."""
        self._document = document
        components = document.value.get("components", {})
        self._components: dict[str, Any] = components.get("schemas", {})
        self._meter = Meter(document.source.meter.budget)
        self._directions = Directions(self._components, self.check_time)
        self.formats = Formats(self._components, self.check_time, checks_results=checks_results)
        self._partial = {
            direction: PartialSchemas(
                self._components,
                self.check_time,
                checks_formats=self.formats.are_checked(direction),
            )
            for direction in _SUFFIXES
        }
        self._plain_names = {clean_name(name) for name in self._components}
        self._definitions: dict[str, Schema] = {}
        self._uses: dict[str, set[str]] = {}
        self._failed: dict[str, PartRefused] = {}
        self._notes: dict[Finding, None] = {}

    def lower(self, schema: Any, direction: Direction, pointer: str) -> Schema:
        """`schema` as JSON Schema 2020-12. Its references are `#/$defs/<name>`.

        `schema` is in the normal form, and `pointer` is its pointer there. Raises `PartRefused` if
        it, or a schema that it refers to, cannot be served.
        """
        single = _Single(self, direction)
        lowered = single.schema(schema, pointer, frozenset())
        self._define(single.used)
        for name in self._reached({self.name_of(*each) for each in single.used}):
            if name in self._failed:
                raise self._failed[name]
        return lowered

    @property
    def definitions(self) -> Mapping[str, Schema]:
        """All definitions that were needed so far, by name."""
        return self._definitions

    @property
    def notes(self) -> tuple[Finding, ...]:
        """What was changed or left out so far, such as patterns that the validator cannot run."""
        return tuple(self._notes)

    def needed(self, schema: Schema) -> dict[str, Schema]:
        """The definitions that the lowered `schema` refers to, directly or indirectly."""
        reached = self._reached({*names_in(schema)})
        return {name: self._definitions[name] for name in sorted(reached)}

    def target(self, schema: Schema) -> Schema:
        """The lowered `schema`, or the definition that it is a plain reference to."""
        passed: set[str] = set()
        while isinstance(schema, dict) and schema.keys() == {"$ref"}:
            name = schema["$ref"].removeprefix(PREFIX)
            if name in passed:
                return True
            passed.add(name)
            schema = self._definitions[name]
        return schema

    def name_of(self, component: str, direction: Direction) -> str:
        """The name of the definition of a component schema."""
        name = clean_name(component)
        differs = self._directions.differs(component, direction)
        if not differs and not self.formats.lose(component, direction):
            return name
        suffixed = f"{name}{_SUFFIXES[direction]}"
        return hashed(suffixed, component) if suffixed in self._plain_names else suffixed

    def component(self, name: str) -> Any:
        """The component schema `name` of the normal form."""
        return self._components.get(name, True)

    def hidden(self, schema: Any, direction: Direction) -> frozenset[str]:
        """The members of `schema` that this direction does not have."""
        return self._directions.hidden(schema, direction)

    def required(self, schema: Any) -> frozenset[str]:
        """The members that `schema` requires, also behind references and in branches."""
        return self._directions.required(schema)

    def widened(self, schema: dict[str, Any], direction: Direction, note: Note) -> dict[str, Any]:
        """`schema` without what would refuse values because a part of it is not checked."""
        return self.formats.lowered(self._partial[direction].widened(schema, note), direction)

    def refused(self, ref: str, pointer: str) -> PartRefused:
        """The refusal that a `$ref` which leads to no component schema stands for."""
        try:
            target_of(self._document, ref)
        except PartRefused as error:
            return error
        message = "the reference does not lead to a component schema"
        finding = self._document.finding(pointer, "ref/dangling", message, "correct the reference")
        return PartRefused(finding)

    def check_time(self) -> None:
        """Raise `DocumentRefused` if lowering takes longer than the budget."""
        try:
            self._meter.check_time()
        except OutOfBudget as error:
            fix = "import fewer operations, or shorten chains of references"
            finding = self._document.finding("", "document/too-large", str(error), fix)
            raise DocumentRefused([finding]) from None

    def too_deep(self, pointer: str) -> PartRefused:
        """The refusal of a schema that the validator could not compile."""
        message = f"the schema nests deeper than {_MAX_DEPTH} levels"
        fix = "make schemas of its inner parts in `components`, and refer to them"
        return PartRefused(self._document.finding(pointer, "schema/too-deep", message, fix))

    def hides(self, pointer: str) -> PartRefused:
        """The refusal of a schema whose names or values have characters that nobody sees."""
        message = "a name or a value has invisible characters, which a model reads"
        fix = "correct it with an overlay, or exclude the operations that need it"
        return PartRefused(self._document.finding(pointer, "schema/hidden-text", message, fix))

    def note(self, pointer: str, rule: str, message: str) -> None:
        """Record what is left out at `pointer` of the normal form."""
        finding = self._document.finding(pointer, rule, message, _FIX, Severity.NOTE)
        self._notes[finding] = None

    def _define(self, used: set[tuple[str, Direction]]) -> None:
        """Lower the components `used` and all that they refer to."""
        waiting = sorted(used)
        while waiting:
            component, direction = waiting.pop()
            name = self.name_of(component, direction)
            if name in self._uses:
                continue
            single = _Single(self, direction)
            pointer = f"/components/schemas{child('', component)}"
            try:
                lowered = single.schema(self.component(component), pointer, frozenset())
                if holds_hidden(lowered):
                    raise self.hides(pointer)
                self._definitions[name] = lowered
            except PartRefused as error:
                self._failed[name] = error
            self._uses[name] = {self.name_of(*each) for each in single.used}
            waiting.extend(sorted(single.used))

    def _reached(self, names: set[str]) -> set[str]:
        reached: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting.extend(self._uses.get(name, ()))
        return reached


class _Single:
    """Lowers one schema in one direction, and collects the components that it refers to."""

    def __init__(self, lowering: SchemaLowering, direction: Direction) -> None:
        self._lowering = lowering
        self._direction = direction
        self._inside: list[str] = []
        self.used: set[tuple[str, Direction]] = set()

    def schema(self, schema: Any, pointer: str, hidden: frozenset[str]) -> Schema:
        """`schema` lowered. `hidden` are members that a schema around it does not have."""
        if not isinstance(schema, dict):
            return schema is not False
        if "$ref" in schema and component_of(schema) is None:
            raise self._lowering.refused(schema["$ref"], pointer)
        if pointer.count("/") > _MAX_DEPTH or len(self._inside) > _MAX_INLINED:
            raise self._lowering.too_deep(pointer)
        self._lowering.check_time()
        hidden |= self._lowering.hidden(schema, self._direction)
        if self._must_inline(schema, hidden):
            return self._inlined(schema, pointer, hidden)
        note = self._noting(pointer)
        lowered = clean(self._lowering.widened(schema, self._direction, note), note)
        if hidden:
            hide(lowered, hidden)
        for keyword, value in lowered.items():
            lowered[keyword] = dialect.changed(keyword, value, self._below(pointer, hidden))
        self._refer(lowered)
        say_base64(lowered)
        return lowered

    def _below(self, pointer: str, hidden: frozenset[str]) -> dialect.Change:
        def change(keyword: str, value: Any, steps: tuple[str | int, ...]) -> Schema:
            passed = hidden if keyword in WIDENING else frozenset[str]()
            return self.schema(value, pointer + pointer_of(steps), passed)

        return change

    def _noting(self, pointer: str) -> Note:
        def note(keyword: str, rule: str, message: str) -> None:
            self._lowering.note(child(pointer, keyword), rule, message)

        return note

    def _refer(self, lowered: dict[str, Any]) -> None:
        component = component_of(lowered)
        if component is not None:
            self.used.add((component, self._direction))
            name = self._lowering.name_of(component, self._direction)
            lowered["$ref"] = f"{PREFIX}{name}"

    def _must_inline(self, schema: dict[str, Any], hidden: frozenset[str]) -> bool:
        """Whether the target requires a member that is hidden by a schema around the reference."""
        name = component_of(schema)
        if name is None or name in self._inside:
            return False
        target = self._lowering.component(name)
        inherited = hidden and hidden - self._lowering.hidden(target, self._direction)
        return bool(inherited) and not inherited.isdisjoint(self._lowering.required(target))

    def _inlined(self, schema: dict[str, Any], pointer: str, hidden: frozenset[str]) -> Schema:
        name = component_of(schema) or ""
        siblings = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
        self._inside.append(name)
        place = f"/components/schemas{child('', name)}"
        target = self.schema(self._lowering.component(name), place, hidden)
        self._inside.pop()
        if not siblings:
            return target
        return {"allOf": [target, self.schema(siblings, pointer, hidden)]}


def is_binary(document: NormalDocument, schema: Any) -> bool:
    """Whether a schema of the normal form describes bytes that are sent as they are.

    In arguments and results such a value is base64 text. `format: byte` is not binary: there the
    base64 text itself is sent.
    """
    passed: set[str] = set()
    while (name := component_of(schema)) is not None and name not in passed:
        passed.add(name)
        schema = target_of(document, schema["$ref"])
    if not isinstance(schema, dict):
        return False
    if "contentEncoding" in schema:
        # RFC 2045 §6.2: this encoding is none, so the bytes are sent as they are.
        return bool(schema["contentEncoding"] == "binary")
    media_type = schema.get("contentMediaType")
    return isinstance(media_type, str) and are_octets(media_type)
