"""Walks the objects of OpenAPI 3.0, 3.1 and 3.2 by a table of their members.

Members that the table does not name are data, such as examples: they are not changed, also if they
contain something that looks like a reference.
"""

from collections.abc import Callable
from typing import Any, Final, Literal

from gateway.openapi.reading.bundle import SECTIONS, Bundle, Spot

Form = Literal["one", "list", "map"]
Members = dict[str, tuple[str, Form]]
WalkSchema = Callable[[Any, Spot], Any]

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_SERIALIZED: Final[Members] = {
    "schema": ("Schema", "one"),
    "content": ("MediaType", "map"),
    "examples": ("Example", "map"),
}
OBJECTS: Final[dict[str, Members]] = {
    "Document": {
        "paths": ("PathItem", "map"),
        "webhooks": ("PathItem", "map"),
        "x-webhooks": ("PathItem", "map"),
        "components": ("Components", "one"),
    },
    "Components": {section: (kind, "map") for kind, section in SECTIONS.items()},
    "PathItem": {
        **dict.fromkeys(METHODS, ("Operation", "one")),
        "additionalOperations": ("Operation", "map"),
        "parameters": ("Parameter", "list"),
    },
    "Operation": {
        "parameters": ("Parameter", "list"),
        "requestBody": ("RequestBody", "one"),
        "responses": ("Response", "map"),
        "callbacks": ("Callback", "map"),
    },
    "Parameter": _SERIALIZED,
    "Header": _SERIALIZED,
    "RequestBody": {"content": ("MediaType", "map")},
    "MediaType": {
        "schema": ("Schema", "one"),
        "itemSchema": ("Schema", "one"),
        "encoding": ("Encoding", "map"),
        "prefixEncoding": ("Encoding", "list"),
        "itemEncoding": ("Encoding", "one"),
        "examples": ("Example", "map"),
    },
    "Encoding": {
        "headers": ("Header", "map"),
        "encoding": ("Encoding", "map"),
        "prefixEncoding": ("Encoding", "list"),
        "itemEncoding": ("Encoding", "one"),
    },
    "Response": {
        "headers": ("Header", "map"),
        "content": ("MediaType", "map"),
        "links": ("Link", "map"),
    },
    "Link": {},
    "Example": {},
    "SecurityScheme": {},
}
"""For each kind of object, the kind of each member that is walked (OpenAPI 3.2 §4)."""
_EXTENSIBLE_MAPS: Final = frozenset({"paths", "responses"})
"""Maps in which a name that begins with `x-` is an extension, not a member."""
_BESIDE_REFERENCE: Final = ("summary", "description")


class ObjectWalk:
    """Normalises objects. `walk_schema` normalises a Schema Object."""

    def __init__(self, bundle: Bundle, walk_schema: WalkSchema) -> None:
        self._bundle = bundle
        self._walk_schema = walk_schema

    def reserve(self, document: dict[str, Any], spot: Spot) -> None:
        """Keep the names of the document's own components."""
        components = document.get("components")
        for kind, section in SECTIONS.items():
            members = components.get(section) if isinstance(components, dict) else None
            for name in members if isinstance(members, dict) else ():
                self._bundle.reserve(kind, name, spot.at("components").at(section).at(name))

    def value(self, kind: str, value: Any, spot: Spot) -> Any:
        """The normal form of `value`, an object of `kind` that is written at `spot`."""
        if kind == "Schema":
            return self._walk_schema(value, spot)
        self._bundle.count()
        if not isinstance(value, dict):
            message = f"a {kind} must be an object"
            return {"$ref": self._bundle.refuse(spot, "document/shape", message)}
        if "$ref" in value and kind in SECTIONS:
            return self._reference(kind, value, spot)
        if kind == "Callback":
            return self._map("PathItem", _without_extensions(value), spot)
        return self._members(kind, value, spot)

    def _members(self, kind: str, value: dict[str, Any], spot: Spot) -> dict[str, Any]:
        table = OBJECTS[kind]
        return {
            name: self._member(name, table[name], member, spot.at(name))
            if name in table
            else member
            for name, member in value.items()
        }

    def _member(self, name: str, entry: tuple[str, Form], value: Any, spot: Spot) -> Any:
        kind, form = entry
        if form == "one":
            return self.value(kind, value, spot)
        if form == "list" and isinstance(value, list):
            return [self.value(kind, item, spot.at(at)) for at, item in enumerate(value)]
        if form == "map" and isinstance(value, dict):
            members = _without_extensions(value) if name in _EXTENSIBLE_MAPS else value
            return self._map(kind, members, spot)
        message = f"`{name}` must be {'an array' if form == 'list' else 'an object'}"
        refused = {"$ref": self._bundle.refuse(spot, "document/shape", message)}
        return [refused] if form == "list" else {REFUSED_NAME: refused}

    def _map(self, kind: str, members: dict[str, Any], spot: Spot) -> dict[str, Any]:
        return {name: self.value(kind, member, spot.at(name)) for name, member in members.items()}

    def _reference(self, kind: str, value: dict[str, Any], spot: Spot) -> dict[str, Any]:
        ref = self._bundle.reference(kind, value["$ref"], spot)
        siblings = {name: member for name, member in value.items() if name != "$ref"}
        if kind == "PathItem":
            return {"$ref": ref, **self._members(kind, siblings, spot)}
        kept: dict[str, Any] = {
            name: siblings[name] for name in _BESIDE_REFERENCE if name in siblings
        }
        return {"$ref": ref, **kept}


def _without_extensions(members: dict[str, Any]) -> dict[str, Any]:
    return {name: member for name, member in members.items() if not name.startswith("x-")}


REFUSED_NAME: Final = "x-refused"
"""The only member of a map that cannot be read. Its value is a reference to the refusal."""
