"""Makes JSON Schemas (2020-12) that the gateway's validator accepts of the document's schemas."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.values.definitions import PREFIX, names_in
from gateway.contract.values.hidden import holds_hidden
from gateway.contract.values.pointers import child, pointer_of
from gateway.contracts.finding import Finding, Severity
from gateway.openapi.reading.budget import Meter, OutOfBudget
from gateway.openapi.reading.dialect import positions
from gateway.openapi.reading.dialect.annotated import Formats
from gateway.openapi.reading.dialect.cleaning import Note, clean
from gateway.openapi.reading.dialect.components import component_of
from gateway.openapi.reading.dialect.directions import WIDENING, Direction, Directions, hide
from gateway.openapi.reading.dialect.names import clean_name, hashed
from gateway.openapi.reading.dialect.octets import are_octets, say_base64
from gateway.openapi.reading.dialect.partial import PartialSchemas
from gateway.openapi.reading.normalise import NormalDocument
from gateway.openapi.reading.refs import target_of
from gateway.openapi.reading.refusal import DocumentRefused, PartRefused

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
            lowered[keyword] = positions.changed(keyword, value, self._below(pointer, hidden))
        self._refer(lowered)
        say_base64(lowered)
        return lowered

    def _below(self, pointer: str, hidden: frozenset[str]) -> positions.Change:
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
