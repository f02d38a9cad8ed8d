"""Brings the objects of a Swagger 2.0 document into the normal form."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from gateway.authoring.openapi.reading.bundle import (
    Bundle,
    Spot,
    UnusableReference,
    Written,
    is_reference,
)
from gateway.contract.values.files import OCTETS
from gateway.encoding.bodies import FORM

# Makes OpenAPI 3.1 parameters and request bodies of Swagger 2.0 parameters.
#
# Swagger 2.0, "Parameter Object", "Items Object" and "Header Object".

WalkSchema = Callable[[Any, Spot], Any]

MULTIPART: Final = "multipart/form-data"
_JSON: Final = "application/json"
_KEPT: Final = ("name", "in", "description", "required", "allowEmptyValue")
_NOT_SCHEMA: Final = frozenset({*_KEPT, "collectionFormat", "schema"})
_STYLES: Final = {
    "csv": {"query": "form", "formData": "form", "path": "simple", "header": "simple"},
    "ssv": {"query": "spaceDelimited", "formData": "spaceDelimited"},
    "pipes": {"query": "pipeDelimited", "formData": "pipeDelimited"},
    "multi": {"query": "form", "formData": "form"},
}
"""The style for each `collectionFormat` and location. Where there is none, it cannot be sent."""


def parameter(bundle: Bundle, walk_schema: WalkSchema, target: Written) -> dict[str, Any]:
    """The OpenAPI 3.1 parameter of one that is neither a body nor a form field."""
    written, spot = target.value, target.spot
    serialized = serialization(bundle, target, str(written.get("in")))
    if "$ref" in serialized:
        return serialized
    kept = {name: written[name] for name in _KEPT if name in written}
    return {**kept, **serialized, "schema": walk_schema(_schema(written), spot)}


def parameter_header(
    bundle: Bundle, walk_schema: WalkSchema, value: Any, spot: Spot
) -> dict[str, Any]:
    """The OpenAPI 3.1 header of a Header Object."""
    if not isinstance(value, dict):
        return {"$ref": bundle.refuse(spot, "document/shape", "a Header must be an object")}
    serialized = serialization(bundle, Written(value, spot), "header")
    if "$ref" in serialized:
        return serialized
    kept = {"description": value["description"]} if "description" in value else {}
    return {**kept, **serialized, "schema": walk_schema(_schema(value), spot)}


def serialization(bundle: Bundle, target: Written, location: str) -> dict[str, Any]:
    """`style` and `explode` of an array, nothing for another type, or a `$ref` to a refusal."""
    written, spot = target.value, target.spot
    if written.get("type") != "array":
        return {}
    form = written.get("collectionFormat", "csv")
    style = _STYLES.get(form, {}).get(location) if isinstance(form, str) else None
    if style is None:
        message = f"collectionFormat {form!r} cannot be sent in {location!r}"
        fix = "use `csv` or `multi`, or leave the operation out"
        ref = bundle.refuse(spot, "swagger/collection-format", message, fix)
        return {"$ref": ref}
    items = written.get("items")
    if isinstance(items, dict) and items.get("type") == "array":
        message = "an array of arrays has no style in OpenAPI 3.1"
        fix = "send the value in the body, or leave the operation out"
        return {"$ref": bundle.refuse(spot.at("items"), "swagger/nested-array", message, fix)}
    return {"style": style, "explode": form == "multi"}


def request_body(
    bundle: Bundle, walk_schema: WalkSchema, parameters: Sequence[Written], consumes: Sequence[str]
) -> dict[str, Any] | None:
    """The request body of an operation's `body` and `formData` parameters, if it has any."""
    bodies = [each for each in parameters if each.value.get("in") == "body"]
    fields = [each for each in parameters if each.value.get("in") == "formData"]
    if len(bodies) > 1 or (bodies and fields):
        spot = (bodies[1:] + fields)[0].spot
        message = "an operation has one body, or form fields"
        fix = "delete all but one of them"
        return {"$ref": bundle.refuse(spot, "swagger/several-bodies", message, fix)}
    if bodies:
        _note_form(bundle, bodies[0], consumes)
        return _whole_body(walk_schema, bodies[0], consumes)
    return _form_body(bundle, walk_schema, fields, consumes) if fields else None


def _note_form(bundle: Bundle, body: Written, consumes: Sequence[str]) -> None:
    """A note for a body that is sent as a form: Swagger 2.0 has `formData` for forms."""
    if consumes and all(each in {FORM, MULTIPART} for each in consumes):
        message = f"the body is sent as {consumes[0]}, where objects and lists inside it are JSON"
        fix = "if the API takes JSON, say so in `consumes` with an overlay"
        bundle.note(body.spot, "swagger/form-body", message, fix)


def _whole_body(walk_schema: WalkSchema, body: Written, consumes: Sequence[str]) -> dict[str, Any]:
    written, spot = body.value, body.spot
    schema = walk_schema(written.get("schema", {}), spot.at("schema"))
    made: dict[str, Any] = {
        "required": written.get("required") is True,
        "content": {media_type: {"schema": schema} for media_type in consumes or [_JSON]},
    }
    if "description" in written:
        made["description"] = written["description"]
    return made


def _form_body(
    bundle: Bundle, walk_schema: WalkSchema, fields: Sequence[Written], consumes: Sequence[str]
) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    encoding: dict[str, Any] = {}
    for field in fields:
        serialized = serialization(bundle, field, "formData")
        if "$ref" in serialized:
            return serialized
        name = str(field.value.get("name", ""))
        properties[name] = walk_schema(_schema(field.value, described=True), field.spot)
        if serialized:
            encoding[name] = serialized
    required = [
        str(each.value.get("name")) for each in fields if each.value.get("required") is True
    ]
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    content: dict[str, Any] = {"schema": schema}
    if encoding:
        content["encoding"] = encoding
    return {"required": bool(required), "content": {_form_type(fields, consumes): content}}


def _form_type(fields: Sequence[Written], consumes: Sequence[str]) -> str:
    """A file needs multipart. Otherwise the first form type that the operation accepts."""
    if any(each.value.get("type") == "file" for each in fields):
        return MULTIPART
    is_bytes = any(_is_bytes(each.value) for each in fields)
    listed = [each for each in consumes if each in {FORM, MULTIPART}]
    # Bytes cannot be said in a form. Vendors write them where Swagger 2.0 has the type `file`.
    if is_bytes and (not listed or MULTIPART in listed):
        return MULTIPART
    return listed[0] if listed else FORM


def _is_bytes(value: dict[str, Any]) -> bool:
    items = value.get("items")
    return value.get("format") == "binary" or (isinstance(items, dict) and _is_bytes(items))


def _schema(written: dict[str, Any], *, described: bool = False) -> dict[str, Any]:
    """The keywords of `written` that belong to its schema."""
    schema = {
        name: value
        for name, value in written.items()
        if name not in _NOT_SCHEMA and not name.startswith("x-")
    }
    for name in ("x-nullable", "x-sensitive"):
        if name in written:
            schema[name] = written[name]
    if described and "description" in written:
        schema["description"] = written["description"]
    return schema


# Brings the objects of a Swagger 2.0 document into the normal form.

_METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch")
_IN_BODY: Final = frozenset({"body", "formData"})
_SECTIONS: Final = {
    "Schema": ("definitions", "schemas"),
    "Response": ("responses", "responses"),
    "Parameter": ("parameters", "parameters"),
    "SecurityScheme": ("securityDefinitions", "securitySchemes"),
}
"""For each kind, its section in Swagger 2.0 and in OpenAPI 3.1."""
_REPLACED: Final = frozenset({"parameters", "responses", "consumes", "produces", "schemes"})
_DEFAULT_TYPE: Final = "application/json"
_SCHEMES: Final = ("https", "http")
_FLOWS: Final = {
    "implicit": "implicit",
    "password": "password",
    "application": "clientCredentials",
    "accessCode": "authorizationCode",
}
_FLOW_MEMBERS: Final = ("authorizationUrl", "tokenUrl", "refreshUrl")

PATHS: Final = ("paths", "x-ms-paths")
"""The maps of paths. Azure's have a query in them, which tells apart what has one path."""


class SwaggerWalk:
    """Normalises the objects of a Swagger 2.0 document."""

    def __init__(self, bundle: Bundle, walk_schema: Callable[[Any, Spot], Any]) -> None:
        self._bundle = bundle
        self._walk_schema = walk_schema
        root = bundle.source.value
        self._consumes = _texts(root.get("consumes"))
        self._produces = _texts(root.get("produces"))

    def reserve(self, document: dict[str, Any], spot: Spot) -> None:
        """Keep the names of the document's own components, with their places."""
        for kind, (old, new) in _SECTIONS.items():
            for name, (member, place) in self._bundle.known(
                document.get(old), spot.at(old)
            ).items():
                if kind == "Parameter" and _location(member) in _IN_BODY:
                    continue
                self._bundle.reserve(kind, name, place)
                self._bundle.moved[Spot(spot.file, f"/components/{new}").at(name).pointer] = place

    def value(self, kind: str, value: Any, spot: Spot) -> Any:
        """The normal form of `value`, an object of `kind` that is written at `spot`."""
        if kind == "Schema":
            return self._walk_schema(value, spot)
        self._bundle.count()
        if not isinstance(value, dict):
            message = f"a {kind} must be an object"
            return {"$ref": self._bundle.refuse(spot, "document/shape", message)}
        if kind == "Document":
            return self._document(value, spot)
        if kind == "PathItem":
            return self._path_item(value, spot)
        return self._shared(kind, value, spot)

    def _shared(self, kind: str, value: dict[str, Any], spot: Spot) -> dict[str, Any]:
        """A member of a section that references lead to."""
        if "$ref" in value:
            return {"$ref": self._bundle.reference(kind, value["$ref"], spot)}
        if kind == "Response":
            return self._response(value, spot, self._produces)
        if kind == "SecurityScheme":
            return _security_scheme(self._bundle, value, spot)
        return parameter(self._bundle, self._walk_schema, Written(value, spot))

    def _document(self, value: dict[str, Any], spot: Spot) -> dict[str, Any]:
        components = {
            new: {
                name: self.value(kind, member, place)
                for name, (member, place) in self._opened(value.get(old), spot.at(old)).items()
                if not (kind == "Parameter" and _location(member) in _IN_BODY)
            }
            for kind, (old, new) in _SECTIONS.items()
        }
        made = {
            name: member
            for name, member in value.items()
            if name in {"info", "tags", "security", "externalDocs"} or name.startswith("x-")
        }
        return {
            "openapi": "3.1.0",
            **made,
            "servers": [{"url": url} for url in _server_urls(value, value.get("schemes"))],
            **{
                section: {
                    name: self.value("PathItem", item, place)
                    for name, (item, place) in self._opened(
                        value[section], spot.at(section)
                    ).items()
                    if not name.startswith("x-")
                }
                for section in PATHS
                if section in value
            },
            "components": {name: section for name, section in components.items() if section},
        }

    def _path_item(self, value: dict[str, Any], spot: Spot) -> dict[str, Any]:
        shared = self._targets(value.get("parameters"), spot.at("parameters"))
        made: dict[str, Any] = {}
        if "$ref" in value:
            made["$ref"] = self._bundle.reference("PathItem", value["$ref"], spot)
        plain = self._plain(shared)
        if plain:
            made["parameters"] = plain
            self._remember(shared, spot)
        for method in _METHODS:
            if method in value:
                made[method] = self._operation(value[method], spot.at(method), shared)
        return made

    def _opened(self, value: Any, spot: Spot) -> dict[str, Written]:
        """The members of a map, also of what it refers to. Of one that cannot be read: none."""
        if is_reference(value):
            self._bundle.note_followed(spot)
        return self._bundle.known(value, spot)

    def _operation(self, value: Any, spot: Spot, shared: Sequence[Written]) -> dict[str, Any]:
        if is_reference(value):
            return self._operation_at(value["$ref"], spot, shared)
        if not isinstance(value, dict):
            message = "an Operation must be an object"
            return {"$ref": self._bundle.refuse(spot, "document/shape", message)}
        own = self._targets(value.get("parameters"), spot.at("parameters"))
        consumes = _texts(value["consumes"]) if "consumes" in value else self._consumes
        produces = _texts(value["produces"]) if "produces" in value else self._produces
        made = {name: member for name, member in value.items() if name not in _REPLACED}
        if plain := self._plain(own):
            made["parameters"] = plain
        self._remember(_for_body(own, shared) + own, spot)
        body = request_body(self._bundle, self._walk_schema, _for_body(own, shared), consumes)
        if body is not None:
            made["requestBody"] = body
        if "schemes" in value:
            urls = _server_urls(self._bundle.source.value, value["schemes"])
            made["servers"] = [{"url": url} for url in urls]
        made["responses"] = {
            status: self._reply(reply, spot.at("responses").at(status), produces)
            for status, reply in _members(value.get("responses")).items()
            if not status.startswith("x-")
        }
        return made

    def _operation_at(self, ref: str, spot: Spot, shared: Sequence[Written]) -> dict[str, Any]:
        """The operation that `ref` leads to."""
        try:
            target = self._bundle.target(ref, spot)
        except UnusableReference as error:
            return {"$ref": self._bundle.refuse(spot, error.rule, error.message, error.fix)}
        if is_reference(target.value):
            message = "the reference leads to another one"
            return {"$ref": self._bundle.refuse(spot, "ref/recursive", message)}
        self._bundle.note_followed(spot)
        self._bundle.place(spot.pointer, target.spot)
        return self._operation(*target, shared)

    def _targets(self, parameters: Any, spot: Spot) -> list[Written]:
        """The parameters, with references followed. One that cannot be used is a `$ref`."""
        found = []
        for at, written in enumerate(parameters if isinstance(parameters, list) else ()):
            target = Written(written, spot.at(at))
            try:
                for _ in range(8):
                    if not isinstance(target.value, dict) or "$ref" not in target.value:
                        break
                    target = self._bundle.target(target.value["$ref"], target.spot)
            except UnusableReference as error:
                place = target.spot.at("$ref")
                ref = self._bundle.refuse(place, error.rule, error.message, error.fix)
                target = Written({"$ref": ref}, target.spot)
            found.append(self._checked(target))
        return found

    def _checked(self, target: Written) -> Written:
        if isinstance(target.value, dict):
            return target
        message = "a Parameter must be an object"
        ref = self._bundle.refuse(target.spot, "document/shape", message)
        return Written({"$ref": ref}, target.spot)

    def _remember(self, targets: Sequence[Written], spot: Spot) -> None:
        """Record where the parameters and the body of the object at `spot` were written."""
        plain = 0
        for each in targets:
            if each.value.get("in") in _IN_BODY:
                self._bundle.moved.setdefault(spot.at("requestBody").pointer, each.spot)
            else:
                place = spot.at("parameters").at(plain).pointer
                self._bundle.moved[place] = each.spot
                plain += 1

    def _plain(self, targets: Sequence[Written]) -> list[dict[str, Any]]:
        return [
            each.value if "$ref" in each.value else parameter(self._bundle, self._walk_schema, each)
            for each in targets
            if each.value.get("in") not in _IN_BODY
        ]

    def _reply(self, value: Any, spot: Spot, produces: list[str]) -> Any:
        """A response. A shared one is copied if this operation answers with other types."""
        if isinstance(value, dict) and "$ref" in value and produces != self._produces:
            try:
                target = self._bundle.target(value["$ref"], spot)
            except UnusableReference:
                return self.value("Response", value, spot)
            if isinstance(target.value, dict) and "$ref" not in target.value:
                return self._response(target.value, target.spot, produces)
        if isinstance(value, dict) and "$ref" not in value:
            return self._response(value, spot, produces)
        return self.value("Response", value, spot)

    def _response(self, value: dict[str, Any], spot: Spot, produces: list[str]) -> dict[str, Any]:
        made = {name: value[name] for name in ("description",) if name in value}
        if headers := _members(value.get("headers")):
            made["headers"] = {
                name: parameter_header(
                    self._bundle, self._walk_schema, header, spot.at("headers").at(name)
                )
                for name, header in headers.items()
            }
        if "schema" in value:
            schema = self._walk_schema(value["schema"], spot.at("schema"))
            is_file = _members(value["schema"]).get("type") == "file"
            types = produces or [OCTETS if is_file else _DEFAULT_TYPE]
            made["content"] = {media_type: {"schema": schema} for media_type in types}
        return made


def _for_body(own: Sequence[Written], shared: Sequence[Written]) -> list[Written]:
    """The body and form fields. Those of the operation replace shared ones of the same name."""
    mine = [each for each in own if each.value.get("in") in _IN_BODY]
    names = {(each.value.get("in"), each.value.get("name")) for each in mine}
    has_body = any(each.value.get("in") == "body" for each in mine)
    return mine + [
        each
        for each in shared
        if each.value.get("in") in _IN_BODY
        and (each.value.get("in"), each.value.get("name")) not in names
        and not (has_body and each.value.get("in") == "body")
    ]


def _members(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _location(value: Any) -> Any:
    return _members(value).get("in")


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _server_urls(document: dict[str, Any], schemes: Any) -> list[str]:
    """Base URLs of `document`. `https` comes first, and is used if no scheme is named."""
    base = document.get("basePath")
    path = base.rstrip("/") if isinstance(base, str) else ""
    host = document.get("host")
    if not isinstance(host, str) or not host:
        return [path or "/"]
    named = schemes if isinstance(schemes, list) else []
    used = [scheme for scheme in _SCHEMES if scheme in named] or ["https"]
    return [f"{scheme}://{host}{path}" for scheme in used]


def _security_scheme(bundle: Bundle, value: dict[str, Any], spot: Spot) -> dict[str, Any]:
    """The OpenAPI 3.1 Security Scheme Object (Swagger 2.0, "Security Scheme Object")."""
    described = {"description": value["description"]} if "description" in value else {}
    kind = value.get("type")
    if kind == "basic":
        return {"type": "http", "scheme": "basic", **described}
    if kind == "apiKey":
        return {
            "type": "apiKey",
            **{name: value[name] for name in ("name", "in") if name in value},
            **described,
        }
    flow = _FLOWS.get(value["flow"]) if isinstance(value.get("flow"), str) else None
    if kind == "oauth2" and flow:
        scopes = value.get("scopes")
        made: dict[str, Any] = {name: value[name] for name in _FLOW_MEMBERS if name in value}
        made["scopes"] = scopes if isinstance(scopes, dict) else {}
        return {"type": "oauth2", "flows": {flow: made}, **described}
    message = f"the security scheme has the unknown type {str(kind)[:40]!r}, or an unknown flow"
    fix = "use `basic`, `apiKey`, or `oauth2` with a flow"
    return {"$ref": bundle.refuse(spot, "swagger/security", message, fix)}
