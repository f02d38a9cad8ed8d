"""Makes OpenAPI 3.1 parameters and request bodies of Swagger 2.0 parameters.

Swagger 2.0, "Parameter Object", "Items Object" and "Header Object".
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from gateway.openapi.reading.bundle import Bundle, Spot, Written

WalkSchema = Callable[[Any, Spot], Any]

FORM: Final = "application/x-www-form-urlencoded"
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


def header(bundle: Bundle, walk_schema: WalkSchema, value: Any, spot: Spot) -> dict[str, Any]:
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
