"""Walks the objects of OpenAPI 3.0, 3.1 and 3.2 by a table of their members.

Members that the table does not name are data, such as examples: they are not changed, also if they
contain something that looks like a reference.
"""

from collections.abc import Callable
from typing import Any, Final, Literal

from gateway.contract.values.pointers import child
from gateway.openapi.reading.bundle import SECTIONS, Bundle, Spot, Written, is_reference
from gateway.openapi.reading.references import UnusableReference

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
        components = self._bundle.known(document.get("components"), spot.at("components"))
        for kind, section in SECTIONS.items():
            if section in components:
                for name, member in self._bundle.known(*components[section]).items():
                    self._bundle.reserve(kind, name, member.spot)
                    self._bundle.place(f"/components/{section}{child('', name)}", member.spot)

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
        try:
            return self._members(kind, value, spot)
        except UnusableReference as error:
            return {"$ref": self._bundle.refuse(spot, error.rule, error.message, error.fix)}

    def _members(self, kind: str, value: dict[str, Any], spot: Spot) -> dict[str, Any]:
        table = OBJECTS[kind]
        found: dict[str, Any] = {}
        for name, (member, place) in self._opened(value, spot).items():
            is_walked = name in table
            found[name] = self._member(name, table[name], member, place) if is_walked else member
        return found

    def _opened(self, value: dict[str, Any], spot: Spot) -> dict[str, Written]:
        """The members of `value`, also of what it refers to. Raises `UnusableReference`."""
        members = self._bundle.members(value, spot)
        if is_reference(value):
            self._bundle.note_followed(spot)
            for name, member in members.items():
                self._bundle.place(spot.at(name).pointer, member.spot)
        return members

    def _member(self, name: str, entry: tuple[str, Form], value: Any, spot: Spot) -> Any:
        kind, form = entry
        if form == "one":
            return self.value(kind, value, spot)
        if form == "list" and isinstance(value, list):
            return [self.value(kind, item, spot.at(at)) for at, item in enumerate(value)]
        if form == "map" and isinstance(value, dict):
            members = _without_extensions(value) if name in _EXTENSIBLE_MAPS else value
            try:
                return self._map(kind, members, spot)
            except UnusableReference as error:
                ref = self._bundle.refuse(spot, error.rule, error.message, error.fix)
                return {REFUSED_NAME: {"$ref": ref}}
        message = f"`{name}` must be {'an array' if form == 'list' else 'an object'}"
        refused = {"$ref": self._bundle.refuse(spot, "document/shape", message)}
        return [refused] if form == "list" else {REFUSED_NAME: refused}

    def _map(self, kind: str, members: dict[str, Any], spot: Spot) -> dict[str, Any]:
        return {
            name: self.value(kind, member, place)
            for name, (member, place) in self._opened(members, spot).items()
        }

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
