"""The schemas of an OpenAPI document, in the form in which they are compared."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from gateway.authoring.diff import prepared as forms
from gateway.authoring.diff.changes import ChangePlace, Direction
from gateway.authoring.diff.prepared import UNREAD, Later, prepared
from gateway.authoring.diff.surface import ExchangedSchema, Locate
from gateway.authoring.diff.texts import as_value
from gateway.authoring.openapi.reading.bundle import REFUSED
from gateway.authoring.openapi.reading.dialect import WIDENING, Directions, component_of, hide
from gateway.authoring.openapi.reading.normalise import NormalDocument
from gateway.authoring.openapi.reading.schemas import clean_name
from gateway.contract.values.pointers import child, pointer_of, steps

_REFERENCE: Final = "#/components/schemas/"
_OUTPUT: Final = frozenset(
    {Direction.RESPONSE, Direction.UPSTREAM_RESPONSE, Direction.EVENT, Direction.TOOL_OUTPUT}
)
Side = Literal["input", "output", "input text", "output text"]
_ENCODINGS: Final = {
    "base64": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    "base32": "^[A-Z2-7]*=*$",
    "base16": "^([0-9A-Fa-f]{2})*$",
}
"""The texts that `contentEncoding` means (RFC 4648). Who reads them refuses others."""
_EXTENSIBLE: Final = "x-extensible-enum"
"""The values that are read. Readers of what is sent are ready for others."""


class WrittenSchema(NamedTuple):
    """A schema of the normal form, and its pointer there."""

    schema: Any
    pointer: str


class DocumentSchemas:
    """Makes exchanges of the schemas of one document."""

    def __init__(self, document: NormalDocument) -> None:
        self._document = document
        components = document.value.get("components", {}).get("schemas", {})
        self._components: Mapping[str, Any] = components
        self._names = {clean_name(name): name for name in components}
        self._directions = Directions(components, lambda: None)
        self._is_evaluated = any(forms.evaluates(each.raw) for each in document.files)
        written = _Components({clean: components[name] for clean, name in self._names.items()})
        sides: tuple[Side, ...] = ("input", "output", "input text", "output text")
        self._definitions = {
            side: Later(self._names, partial(self._component, side), written) for side in sides
        }

    def exchange(
        self, name: str, direction: Direction, written: WrittenSchema, *, is_text: bool = False
    ) -> ExchangedSchema:
        """The exchange of one schema. `is_text`: all its values are written as texts, as in XML."""
        sides: tuple[Side, Side] = ("input text", "output text") if is_text else ("input", "output")
        side = sides[direction in _OUTPUT]
        return ExchangedSchema(
            name=name,
            direction=direction,
            schema=self._prepared(written.schema, side, frozenset()),
            definitions=self._definitions[side],
            written=written.schema,
            components=self._components,
            locate=self._locate({"": written.pointer}),
        )

    def composed(
        self,
        name: str,
        direction: Direction,
        members: Mapping[str, WrittenSchema],
        required: Iterable[str],
        *,
        is_closed: bool,
        is_output: bool,
    ) -> ExchangedSchema:
        """The exchange of an object that is written in parts: parameters, or headers."""
        side: Side = "output" if is_output else "input"
        said = {each: written.schema for each, written in members.items()}
        schema = {
            "type": "object",
            "properties": {
                each: self._prepared(written, side, frozenset()) for each, written in said.items()
            },
            "required": sorted(required),
            **({"additionalProperties": False} if is_closed else {}),
        }
        places = {pointer_of(("properties", each)): one.pointer for each, one in members.items()}
        return ExchangedSchema(
            name=name,
            direction=direction,
            schema=prepared(schema, is_evaluated=self._is_evaluated),
            definitions=self._definitions[side],
            written={"properties": said, "required": schema["required"]},
            components=self._components,
            locate=self._locate(places),
            member_removed="parameter-removed" if is_closed else "",
        )

    def _component(self, side: Side, name: str) -> Any:
        return self._prepared(self._components[name], side, frozenset())

    def _prepared(self, schema: Any, side: Side, hidden: frozenset[str]) -> Any:
        """`schema` without the members that this direction does not have."""
        if not isinstance(schema, dict):
            return prepared(schema, is_evaluated=self._is_evaluated)
        is_input = side.startswith("input")
        hidden |= self._directions.hidden(schema, "input" if is_input else "output")

        def below(keyword: str, value: Any, _: str | int) -> Any:
            passed = hidden if keyword in WIDENING else frozenset[str]()
            return self._prepared(value, side, passed)

        schema = self._by_discriminator(self._referring(schema))
        if is_input and "enum" not in schema and isinstance(schema.get(_EXTENSIBLE), list):
            schema = {**schema, "enum": schema[_EXTENSIBLE]}
        encoding = schema.get("contentEncoding")
        is_text = schema.get("type") == "string" and "pattern" not in schema
        if is_text and isinstance(encoding, str) and encoding in _ENCODINGS:
            schema = {**schema, "pattern": _ENCODINGS[encoding]}
        found = prepared(schema, below, is_evaluated=self._is_evaluated)
        if hidden:
            hide(found, hidden)
            found = forms.shortened(found, is_evaluated=self._is_evaluated)
        return as_value(found) if side.endswith("text") else found

    def _referring(self, schema: dict[str, Any]) -> dict[str, Any]:
        """`schema` with its reference as one to a definition."""
        if "$ref" not in schema:
            return schema
        name = component_of(schema)
        rest = {keyword: each for keyword, each in schema.items() if keyword != "$ref"}
        if name is not None and name in self._components:
            return {"$ref": f"#/$defs/{clean_name(name)}", **rest}
        return {**rest, UNREAD: {"$ref": self._refusal(schema["$ref"])}}

    def _refusal(self, ref: str) -> str:
        number = ref.removeprefix(f"#/{REFUSED}/")
        if number.isdigit():
            refusal = self._document.refusals[int(number)]
            return f"{refusal.rule}: {refusal.message}"
        return ref

    def _by_discriminator(self, schema: dict[str, Any]) -> dict[str, Any]:
        """`schema` with `oneOf` as `anyOf` where a discriminator names the branch."""
        if "discriminator" not in schema or "oneOf" not in schema or "anyOf" in schema:
            return schema
        return {"anyOf" if name == "oneOf" else name: each for name, each in schema.items()}

    def _locate(self, places: Mapping[str, str]) -> Locate:
        """Where the parts of an exchange are written. `places` are pointers of its parts."""

        def place(at: str) -> ChangePlace:
            if at.startswith("#"):
                name, *rest = steps(f"/{at[1:]}")
                pointer = f"/components/schemas{child('', self._names[name])}{pointer_of(rest)}"
            else:
                pointer = _moved(at, places)
            spot = self._document.spot_of(pointer)
            return ChangePlace(spot.file.path, spot.pointer)

        return place


class _Components(forms.WrittenDefinitions):
    """Component schemas as they are written: their references are those of OpenAPI."""

    def _found_in(self, schema: Any) -> set[str]:
        found: set[str] = set()
        waiting = [schema]
        while waiting:
            part = waiting.pop()
            if isinstance(part, dict):
                if (used := component_of(part)) is not None:
                    found.add(clean_name(used))
                waiting += part.values()
            elif isinstance(part, list):
                waiting += part
        return found


def _moved(at: str, places: Mapping[str, str]) -> str:
    for start, pointer in places.items():
        if at == start or at.startswith(f"{start}/"):
            return pointer + at[len(start) :]
    return next(iter(places.values()), "")
