"""Brings a document of any version into the normal form.

The normal form is OpenAPI 3.1 with the additions of 3.2 (`additionalOperations`, `querystring`,
`itemSchema`) and Schema Objects in JSON Schema 2020-12. Every `$ref` in it is
`#/components/<section>/<name>`, or `#/x-refused/<number>` for a part that cannot be served. Any
object may be a reference to a refused part, also where OpenAPI allows no reference, such as an
operation: `resolve` follows every kind.

Walks the objects of OpenAPI 3.0, 3.1 and 3.2 by a table of their members.

Members that the table does not name are data, such as examples: they are not changed, also if they
contain something that looks like a reference.

Brings one Schema Object and all its subschemas into the normal form.

Rewrites keywords of Swagger 2.0 and OpenAPI 3.0 schemas as JSON Schema 2020-12 has them.

Each function changes one schema object, whose subschemas are already in the normal form. Documents
of 3.1 use these keywords too, and mean them as 3.0 does.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, Protocol
from urllib.parse import quote

from msgspec import Struct

from gateway.authoring.contracts.finding import Finding, Severity
from gateway.authoring.openapi.reading import dialect
from gateway.authoring.openapi.reading.bundle import (
    REFUSED,
    SECTIONS,
    Bundle,
    Noted,
    Spot,
    UnusableReference,
    Written,
    is_reference,
)
from gateway.authoring.openapi.reading.source import DocumentRefused, SourceDocument, SourceFile
from gateway.authoring.openapi.reading.swagger import PATHS, SwaggerWalk, WalkSchema
from gateway.contract.schemas.dialects import (
    NAMED,
    NEWEST,
    dialect_name,
    dialect_of,
    modernise,
)
from gateway.contract.schemas.keywords import ANNOTATIONS
from gateway.contract.values.pointers import child, follow, parent, pointer_of

NULL: Final = {"type": "null"}
_COMBINED: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf", "not"})


def rewrite(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema` in the normal form."""
    schema = dict(schema)
    modernise(schema)
    _rewrite_example(schema)
    _rewrite_bytes(schema)
    if isinstance(schema.get("discriminator"), str):
        schema["discriminator"] = {"propertyName": schema["discriminator"]}
    is_nullable = schema.pop("nullable", False) is True
    is_nullable |= schema.pop("x-nullable", False) is True
    return _nullable(schema) if is_nullable else schema


def _rewrite_example(schema: dict[str, Any]) -> None:
    if "example" in schema:
        example = schema.pop("example")
        schema.setdefault("examples", [example])


def _rewrite_bytes(schema: dict[str, Any]) -> None:
    """`format: byte` is base64 text, and `binary` or `type: file` are bytes (OpenAPI 3.1 §4.4)."""
    is_file = schema.get("type") == "file"
    if is_file:
        schema["type"] = "string"
    if is_file or schema.get("format") == "binary":
        schema.pop("format", None)
        schema.setdefault("contentMediaType", "application/octet-stream")
    elif schema.get("format") == "byte":
        del schema["format"]
        schema.setdefault("contentEncoding", "base64")


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    if _COMBINED & schema.keys():
        outer: dict[str, Any] = {
            name: schema.pop(name) for name in tuple(schema) if name in ANNOTATIONS
        }
        return {**outer, "anyOf": [schema, NULL]}
    if "enum" in schema and isinstance(schema["enum"], list) and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    if "const" in schema and schema["const"] is not None:
        schema["enum"] = [schema.pop("const"), None]
    kinds = schema.get("type")
    if isinstance(kinds, str):
        kinds = [kinds]
    if isinstance(kinds, list) and kinds and "null" not in kinds:
        schema["type"] = [*kinds, "null"]
    return schema


_BESIDE_OLD_REFERENCE: Final = ("title", "description", "deprecated")
_OLD_VERSIONS: Final = frozenset({"2.0", "3.0"})
_IDENTIFIERS: Final = frozenset(
    {"$id", "$schema", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$comment"}
)


class SchemaWalk:
    """Normalises the schemas of one document."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._is_old = bundle.source.version in _OLD_VERSIONS
        if not self._is_old:
            # The dialect of schemas that name none (OpenAPI 3.1 §4.8.24.5).
            spot = Spot(bundle.source.file, "/jsonSchemaDialect")
            self._is_old = self._dialect(bundle.source.value.get("jsonSchemaDialect"), spot) <= 7

    def _dialect(self, named: Any, spot: Spot) -> int:
        """The dialect of this name. One that is not known is noted, and read as the newest."""
        try:
            return dialect_of(str(named)) if named else NEWEST
        except ValueError as error:
            message = f"{error}, so it is read as 2020-12"
            self._bundle.note(spot, "schema/dialect", message, "name one of json-schema.org")
            return NEWEST

    def value(self, schema: Any, spot: Spot) -> Any:
        """The normal form of `schema`, which is written at `spot`."""
        self._bundle.count()
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            message = "a schema must be an object"
            return {"$ref": self._bundle.refuse(spot, "document/shape", message)}
        if "$ref" in schema:
            return self._reference(schema, spot)
        if "$recursiveRef" in schema:
            return self._recursive(spot)
        if "$dynamicRef" in schema:
            message, fix = "`$dynamicRef` is not supported", "use `$ref`"
            ref = self._bundle.refuse(spot.at("$dynamicRef"), "schema/dynamic-ref", message, fix)
            return {"$ref": ref}
        return rewrite(self._subschemas(schema, spot))

    def _subschemas(self, schema: dict[str, Any], spot: Spot) -> dict[str, Any]:
        def change(_: str, value: Any, steps: tuple[str | int, ...]) -> Any:
            return self.value(value, Spot(spot.file, spot.pointer + pointer_of(steps)))

        walked = {
            keyword: value
            if keyword in dialect.MAPS and is_reference(value)
            else dialect.changed(keyword, value, change)
            for keyword, value in schema.items()
            if keyword not in _IDENTIFIERS
        }
        if "$schema" in schema and not self._is_old:
            named = self._dialect(schema["$schema"], spot.at("$schema"))
            walked |= {NAMED: dialect_name(named)} if named != NEWEST else {}
        for keyword in walked:
            if keyword in dialect.MAPS and is_reference(schema[keyword]):
                walked[keyword] = self._members(schema[keyword], spot.at(keyword))
        # Swagger 2.0 documents describe tuples by a list of items (JSON Schema draft 4 §5.3.1).
        if isinstance(items := schema.get("items"), list):
            walked["items"] = [
                self.value(item, spot.at("items").at(at)) for at, item in enumerate(items)
            ]
        if isinstance(dependencies := schema.get("dependencies"), dict):
            walked["dependencies"] = {
                name: each
                if isinstance(each, list)
                else self.value(each, spot.at("dependencies").at(name))
                for name, each in dependencies.items()
            }
        self._walk_mapping(walked, spot)
        return walked

    def _members(self, value: dict[str, Any], spot: Spot) -> dict[str, Any]:
        """The subschemas of the map that the reference `value` leads to."""
        try:
            members = self._bundle.members(value, spot)
        except UnusableReference as error:
            ref = self._bundle.refuse(spot, error.rule, error.message, error.fix)
            return {REFUSED: {"$ref": ref}}
        self._bundle.note_followed(spot)
        return {name: self.value(*each) for name, each in members.items()}

    def _reference(self, schema: dict[str, Any], spot: Spot) -> Any:
        ref = self._bundle.reference("Schema", schema["$ref"], spot)
        siblings = {name: value for name, value in schema.items() if name != "$ref"}
        if not self._is_old:
            return rewrite({"$ref": ref, **self._subschemas(siblings, spot)})
        kept: dict[str, Any] = {
            name: siblings[name] for name in _BESIDE_OLD_REFERENCE if name in siblings
        }
        # Strictly a sibling of `$ref` has no effect in 3.0, but authors who write it mean it.
        for keyword in ("nullable", "x-nullable"):
            if siblings.get(keyword) is True:
                kept[keyword] = True
        self._note_ignored(siblings, kept, spot)
        return rewrite({"$ref": ref, **kept})

    def _note_ignored(self, siblings: dict[str, Any], kept: dict[str, Any], spot: Spot) -> None:
        ignored = [
            name
            for name in siblings
            if name not in kept and not name.startswith("x-") and name != "example"
        ]
        if ignored:
            message = f"{', '.join(map(repr, ignored[:5]))} beside `$ref` has no effect here"
            fix = "put the reference into `allOf`, with the other keywords beside it"
            self._bundle.note(spot, "schema/beside-ref", message, fix)

    def _recursive(self, spot: Spot) -> dict[str, Any]:
        """The reference to the nearest schema around `spot` with `$recursiveAnchor: true`.

        JSON Schema 2019-09 §8.2.4.2.
        """
        pointer = spot.pointer
        whole = self._bundle.value_of(spot.file)
        while pointer:
            pointer = parent(pointer)
            around = follow(whole, pointer)
            if isinstance(around, dict) and around.get("$recursiveAnchor") is True:
                return {"$ref": self._bundle.reference("Schema", f"#{quote(pointer)}", spot)}
        message, fix = "no schema around it has `$recursiveAnchor`", "use `$ref`"
        ref = self._bundle.refuse(spot.at("$recursiveRef"), "schema/dynamic-ref", message, fix)
        return {"$ref": ref}

    def _walk_mapping(self, schema: dict[str, Any], spot: Spot) -> None:
        """Replace the references of a discriminator's mapping, which may also be plain names."""
        discriminator = schema.get("discriminator")
        mapping = discriminator.get("mapping") if isinstance(discriminator, dict) else None
        if isinstance(discriminator, dict) and isinstance(mapping, dict):
            inside = spot.at("discriminator").at("mapping")
            schema["discriminator"] = {
                **discriminator,
                "mapping": {
                    name: self._mapped(ref, inside.at(name)) for name, ref in mapping.items()
                },
            }

    def _mapped(self, ref: Any, spot: Spot) -> Any:
        is_reference = isinstance(ref, str) and ("#" in ref or "/" in ref)
        return self._bundle.reference("Schema", ref, spot) if is_reference else ref


Form = Literal["one", "list", "map"]
Members = dict[str, tuple[str, Form]]

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_SERIALIZED: Final[Members] = {
    "schema": ("Schema", "one"),
    "content": ("MediaType", "map"),
    "examples": ("Example", "map"),
}
OBJECTS: Final[dict[str, Members]] = {
    "Document": {
        **dict.fromkeys(PATHS, ("PathItem", "map")),
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
MEDIA_SHAPE: Final = "media/shape"
"""The rule of a Media Type Object that is none. PHP writes an empty object as an empty array."""


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
            rule = MEDIA_SHAPE if kind == "MediaType" else "document/shape"
            return {"$ref": self._bundle.refuse(spot, rule, message)}
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


_MAX_LISTED: Final = 5


class Walk(Protocol):
    """Normalises the objects of one version of OpenAPI."""

    def reserve(self, document: dict[str, Any], spot: Spot) -> None:
        """Keep the names of the document's own components."""

    def value(self, kind: str, value: Any, spot: Spot) -> Any:
        """The normal form of `value`, an object of `kind` that is written at `spot`."""


class Place(Struct, frozen=True):
    """A place in a file of the vendor."""

    path: str
    pointer: str
    line: int


class NormalDocument(Struct, frozen=True, kw_only=True):
    """A document in the normal form. Its value must not be changed."""

    source: SourceDocument
    value: dict[str, Any]
    files: tuple[SourceFile, ...]
    """The files that were read: the first one, then those that references lead to."""
    notes: tuple[Noted, ...]
    """What was changed or left out although it is not served exactly as written."""
    refusals: tuple[Noted, ...]
    """The parts that cannot be served. `#/x-refused/<number>` is the index."""

    moved: Mapping[str, Spot]
    """Pointers of the normal form whose part was written elsewhere, with that place."""

    def place_of(self, pointer: str) -> Place:
        """Where the vendor wrote the part at `pointer` of the normal form."""
        spot = self.spot_of(pointer)
        return Place(spot.file.path, spot.pointer, spot.file.line_of(spot.pointer))

    def spot_of(self, pointer: str) -> Spot:
        """The file and the pointer there, as in `place_of`, without looking for the line."""
        prefix = pointer
        while prefix and prefix not in self.moved:
            prefix = parent(prefix)
        if not prefix:
            return Spot(self.source.file, pointer)
        spot = self.moved[prefix]
        return Spot(spot.file, spot.pointer + pointer[len(prefix) :])

    def pointer_of(self, pointer: str) -> str:
        """The pointer in the vendor's file of the part at `pointer` of the normal form."""
        return self.spot_of(pointer).pointer

    def finding(
        self,
        pointer: str,
        rule: str,
        message: str,
        fix: str,
        severity: Severity = Severity.ERROR,
    ) -> Finding:
        """A finding about the part at `pointer` of the normal form."""
        place = self.place_of(pointer)
        return Finding(
            path=place.path,
            line=place.line,
            pointer=place.pointer,
            rule=rule,
            message=message,
            fix=fix,
            severity=severity,
        )


def normalise(source: SourceDocument) -> NormalDocument:
    """The normal form of `source`. Raises `DocumentRefused` if the document has no usable shape.

    The work counts against the budget that the source was read with.
    """
    _refuse_without_paths(source)
    bundle = Bundle(source)
    schemas = SchemaWalk(bundle)
    spot = Spot(source.file, "")
    walk: Walk
    if source.version == "2.0":
        walk = SwaggerWalk(bundle, schemas.value)
    else:
        walk = ObjectWalk(bundle, schemas.value)
    walk.reserve(source.value, spot)
    value = walk.value("Document", source.value, spot)
    _add_components(bundle, walk, value)
    _note_repeated(bundle)
    _note_hidden(bundle)
    return NormalDocument(
        source=source,
        value=value,
        files=bundle.folder.files,
        notes=tuple(bundle.notes),
        refusals=tuple(bundle.refusals),
        moved=bundle.moved,
    )


def _refuse_without_paths(source: SourceDocument) -> None:
    """`paths` is required before OpenAPI 3.1 (OpenAPI 3.0.3 §4.7.1)."""
    if source.version in {"2.0", "3.0"} and not isinstance(source.value.get("paths"), dict):
        message = f"a document of version {source.version} needs `paths`"
        fix = "add the paths, or give a document that has some"
        raise DocumentRefused([source.file.finding("", "document/no-paths", message, fix)])


def _add_components(bundle: Bundle, walk: Walk, value: dict[str, Any]) -> None:
    """Normalise the targets of references, and those of their references, until none is left."""
    while bundle.waiting:
        kind, name, target = bundle.waiting.pop()
        section = value.setdefault("components", {}).setdefault(SECTIONS[kind], {})
        section[name] = walk.value(kind, target.value, target.spot)


def _note_repeated(bundle: Bundle) -> None:
    for file in bundle.folder.files:
        if file.repeated:
            names = ", ".join(map(repr, file.repeated[:_MAX_LISTED]))
            message = f"names occur twice in one object, and the last one counts: {names}"
            spot = Spot(file, "")
            bundle.note(spot, "document/repeated-name", message, "keep one of each")


def _note_hidden(bundle: Bundle) -> None:
    for file in bundle.folder.files:
        if file.hidden:
            message = f"{file.hidden} invisible characters were removed from texts and examples"
            fix = "read the texts: a model would have read what you do not see"
            bundle.note(Spot(file, ""), "document/hidden-text", message, fix)
