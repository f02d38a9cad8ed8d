"""What no request of an operation can express, found when a document is imported."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from gateway.contract.imported import ImportedBody, ImportedOperation, ImportedParameter
from gateway.contract.upstream import PATH_PARAMETER
from gateway.contract.values.pointers import child
from gateway.encoding.bodies import concrete
from gateway.encoding.shapes import PRIMITIVES, Schema, Shapes
from gateway.encoding.texts import MEDIA_TYPE, TOKEN, essence_of, is_json

_STYLES: Final[Mapping[str, frozenset[str]]] = {
    "path": frozenset({"simple", "label", "matrix"}),
    "query": frozenset({"form", "spaceDelimited", "pipeDelimited", "deepObject"}),
    "header": frozenset({"simple"}),
    "cookie": frozenset({"form", "cookie"}),
}
"""OpenAPI 3.2, Style Values."""
_SEQUENCES: Final = frozenset({"application/jsonl", "application/x-ndjson", "application/json-seq"})


class Unsendable(Struct, frozen=True, kw_only=True):
    """Something that the document admits and no request can express."""

    member: str | None
    """The member of the arguments. None: the operation itself."""
    pointer: str
    """The JSON Pointer to the value in the arguments. `*` stands for the items of a list."""
    rule: str
    message: str
    fix: str
    is_total: bool = True
    """Whether no value of the member can be sent. False: only values without this part can."""


def problems(
    operation: ImportedOperation, definitions: Mapping[str, Any] | None = None
) -> list[Unsendable]:
    """All of `operation`, in the order of its parameters. Empty: it can be served exactly.

    `definitions` are those of the connector, to which the input schema refers. A member with a
    problem that `is_total` cannot be served; if it is required, or there is no member, neither can
    the operation.
    """
    shapes = Shapes(definitions or {})
    schemas = shapes.properties(operation.input_schema)
    found = [*_path_problems(operation), *_name_problems(operation)]
    for each in operation.parameters:
        found += _parameter_problems(each, schemas.get(each.member, True), shapes)
    if operation.body is not None:
        found += _body_problems(operation.body, schemas, shapes)
    return found


def _path_problems(operation: ImportedOperation) -> Iterator[Unsendable]:
    path = operation.path
    in_template = PATH_PARAMETER.findall(path)
    declared = {each.name for each in operation.parameters if each.location == "path"}
    # Upstreams decode escapes before they remove dot segments, and some take \ as /.
    fixed = unquote(PATH_PARAMETER.sub("x", path)).replace("\\", "/")
    is_plain = path.startswith("/") and not {".", ".."} & set(fixed.split("/"))
    if not is_plain or set("?#") & set(PATH_PARAMETER.sub("", path)):
        yield _of_operation("path", f"{path} is not a path", "write it without query and dots")
    for name in sorted(set(in_template) ^ declared):
        where = "path, but not declared" if name in in_template else "declared, but not in the path"
        yield _of_operation("path-parameter", f"{name} is {where}", "declare what the path has")
    if "}{" in path and not _is_separated(operation):
        yield _of_operation(
            "path-separator", f"nothing separates two parameters of {path}", "separate them"
        )


def _is_separated(operation: ImportedOperation) -> bool:
    """Whether each parameter directly behind another begins with a character of its style."""
    styles = {each.name: each.style for each in operation.parameters if each.location == "path"}
    later = [text.partition("}")[0] for text in operation.path.split("}{")[1:]]
    return all(styles.get(name) in {"label", "matrix"} for name in later)


def _name_problems(operation: ImportedOperation) -> Iterator[Unsendable]:
    names = Counter(
        (each.location, each.name.lower() if each.location == "header" else each.name)
        for each in operation.parameters
    )
    for (location, name), count in names.items():
        if count > 1:
            yield _of_operation("twice", f"{name} is declared twice in {location}", "remove one")
    locations = Counter(each.location for each in operation.parameters)
    if locations["querystring"] > 1 or (locations["querystring"] and locations["query"]):
        message = "a querystring parameter is the whole query"
        yield _of_operation("querystring", message, "remove the other query parameters")


def _parameter_problems(
    parameter: ImportedParameter, schema: Schema, shapes: Shapes
) -> Iterator[Unsendable]:
    if parameter.location in {"header", "cookie"} and not TOKEN.fullmatch(parameter.name):
        message = f"{parameter.name!r} cannot be the name of a {parameter.location}"
        yield _unsendable(parameter.member, "name", message, "rename it in an overlay")
    if parameter.media_type is not None or parameter.location == "querystring":
        yield from _content_problems(parameter, schema, shapes)
        return
    if parameter.style not in _STYLES[parameter.location]:
        message = f"the style {parameter.style} is not defined in {parameter.location}"
        yield _unsendable(parameter.member, "style", message, "declare another style")
        return
    if parameter.style != "deepObject":
        yield from _flat_problems(parameter.member, parameter.style, schema, shapes)


def _content_problems(
    parameter: ImportedParameter, schema: Schema, shapes: Shapes
) -> Iterator[Unsendable]:
    media_type = parameter.media_type or ""
    is_form = essence_of(media_type) == "application/x-www-form-urlencoded"
    if is_json(media_type) or (is_form and parameter.location == "querystring"):
        return
    if is_form or not shapes.types(schema) & PRIMITIVES:
        message = f"a value of this schema cannot be sent as {media_type}"
        yield _unsendable(parameter.member, "media-type", message, "declare application/json")


def _flat_problems(member: str, style: str, schema: Schema, shapes: Shapes) -> Iterator[Unsendable]:
    """Lists and objects inside each other, for which only `deepObject` has a form."""
    types = shapes.types(schema)
    pointer = child("", member)
    fix = "declare deepObject, or content of application/json, in an overlay"
    inside = f"a list or an object inside another cannot be sent in the style {style}"
    if "array" in types and not shapes.types(shapes.items(schema)) & PRIMITIVES:
        is_total = types <= {"array", "null"}
        yield _unsendable(member, "nested", inside, fix, child(pointer, "*"), is_total)
    if "object" in types:
        required = shapes.required(schema) if types <= {"object", "null"} else frozenset()
        for name, each in shapes.properties(schema).items():
            if not shapes.types(each) & PRIMITIVES:
                place = child(pointer, name)
                yield _unsendable(member, "nested", inside, fix, place, name in required)
    if types <= {"null"}:
        yield _unsendable(member, "null", "null cannot be sent here", "remove the parameter")


def _body_problems(
    body: ImportedBody, schemas: Mapping[str, Schema], shapes: Shapes
) -> Iterator[Unsendable]:
    essence = essence_of(body.media_type)
    yield from _malformed(body)
    schema = schemas.get(body.member or "", True)
    if body.kind == "json" and essence in _SEQUENCES:
        message = f"a sequence of values cannot be sent as {essence}"
        yield _unsendable(body.member, "media-type", message, "declare application/json")
    if body.kind == "multipart" and essence not in {"multipart/form-data", "multipart/*", "*/*"}:
        message = f"the parts of {essence} have no names"
        yield _unsendable(body.member, "media-type", message, "declare multipart/form-data")
    if body.kind in {"form", "multipart"} and "object" not in shapes.types(schema):
        yield _unsendable(body.member, "form", "a form must be an object", "declare an object")
    if body.kind in {"text", "binary"} and "string" not in shapes.types(schema):
        message = f"{body.media_type} must be text"
        yield _unsendable(body.member, "media-type", message, "declare a string")
    yield from _field_problems(body, schemas, shapes)


def _malformed(body: ImportedBody) -> Iterator[Unsendable]:
    """Media types and names that are written into the request, and are not what they claim."""
    for declared in (body.media_type, *(field.media_type for field in body.fields)):
        # A range is not sent. The default that replaces it is well-formed.
        media_type = concrete(declared, "*/*")
        if not MEDIA_TYPE.fullmatch(media_type):
            message = f"{media_type!a} is not a media type (RFC 9110 §8.3.1)"
            yield _of_operation("media-type", message, "correct it in an overlay")
    for header in (header for field in body.fields for header in field.headers):
        if not TOKEN.fullmatch(header.name):
            message = f"{header.name!a} cannot be the name of a header of a part"
            yield _of_operation("name", message, "rename it in an overlay")


def _field_problems(
    body: ImportedBody, schemas: Mapping[str, Schema], shapes: Shapes
) -> Iterator[Unsendable]:
    """The members of a form whose style cannot express them."""
    members = {name: member for member, name in body.members.items()}
    whole = schemas.get(body.member or "", True)
    properties, required = shapes.properties(whole), shapes.required(whole)
    for field in body.fields:
        if field.style in {None, "deepObject"}:
            continue
        if body.member is None:
            member = members.get(field.name, field.name)
            yield from _flat_problems(member, field.style or "", schemas.get(member, True), shapes)
            continue
        own = properties.get(field.name, True)
        for each in _flat_problems(field.name, field.style or "", own, shapes):
            yield replace(
                each,
                member=body.member,
                pointer=child("", body.member) + each.pointer,
                is_total=each.is_total and field.name in required,
            )


def _of_operation(rule: str, message: str, fix: str) -> Unsendable:
    return _unsendable(None, rule, message, fix)


def _unsendable(
    member: str | None,
    rule: str,
    message: str,
    fix: str,
    pointer: str | None = None,
    is_total: bool = True,
) -> Unsendable:
    own = child("", member) if member is not None else ""
    return Unsendable(
        member=member,
        pointer=own if pointer is None else pointer,
        rule=rule,
        message=message,
        fix=fix,
        is_total=is_total,
    )
