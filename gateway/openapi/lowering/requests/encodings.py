"""Members of form and multipart bodies (OpenAPI 3.2 §4.15 Encoding Object)."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Self

import msgspec
from msgspec import Struct

from gateway.contract.imported import BodyField, ImportedParameter
from gateway.contract.outbound import header_refusal
from gateway.contract.values.pointers import child
from gateway.encoding.forms import field_of
from gateway.openapi.lowering.records import Unservable
from gateway.openapi.lowering.requests.arguments import Argument, described, shortened
from gateway.openapi.lowering.requests.flattening import FlatMembers
from gateway.openapi.lowering.requests.media import kind_of
from gateway.openapi.lowering.requests.nulls import without_null
from gateway.openapi.lowering.view import DocumentView
from gateway.openapi.reading.schemas import Schema

_BASE64_HINT: Final = "Bytes, encoded as base64 (RFC 4648 §4)."
_STYLES: Final = ("form", "spaceDelimited", "pipeDelimited", "deepObject")
_MAX_DEPTH: Final = 20
_OF_LISTS: Final = ("description", "minItems", "maxItems")
_FIX: Final = "correct the encoding with an overlay, or exclude the operation"


def base64_schema(holder: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of bytes, with the description of `holder` if it has one."""
    own = holder.get("description")
    text = f"{shortened(own)} {_BASE64_HINT}" if isinstance(own, str) and own else _BASE64_HINT
    return {"type": "string", "contentEncoding": "base64", "description": text}


class PartFields(Struct, frozen=True, kw_only=True):
    """The members of a body that are not sent in the default way."""

    fields: tuple[BodyField, ...] = ()
    headers: tuple[Argument, ...] = ()
    """The arguments for the headers of parts, in the order of `fields`."""
    order: tuple[str, ...] = ()
    """The members in the order of the document."""

    @classmethod
    def of(
        cls, view: DocumentView, media: Mapping[str, Any], pointer: str, *, is_multipart: bool
    ) -> Self:
        """The fields of a Media Type Object. Raises `Unservable` and `PartRefused`."""
        fields: list[BodyField] = []
        headers: list[Argument] = []
        encodings = media.get("encoding")
        listed = encodings if isinstance(encodings, dict) else {}
        place = child(pointer, "schema")
        raw = dict(_properties(view, media.get("schema"), place, _MAX_DEPTH, set()))
        for name in dict.fromkeys([*raw, *listed]):
            place = child(child(pointer, "encoding"), name)
            encoding = view.part(listed[name], place).value if name in listed else {}
            field = _encoded(name, encoding, place)
            if is_multipart:
                field = _with_bytes(view, field, raw.get(name, True))
                found = list(_part_headers(view, name, encoding, place))
                headers += [argument for argument, _ in found]
                parts = tuple(parameter for _, parameter in found)
                field = msgspec.structs.replace(field, headers=parts)
            if field != BodyField(name=name):
                fields.append(field)
        return cls(fields=tuple(fields), headers=tuple(headers), order=tuple(raw))

    def replaced(self, members: FlatMembers) -> FlatMembers:
        """`members`, with base64 text for those that are bytes."""
        properties = {name: self._own(name, schema) for name, schema in members.properties.items()}
        return FlatMembers(properties=properties, required=members.required)

    def in_schema(self, schema: Schema) -> Schema:
        """`schema` of the whole body, with base64 text for the members that are bytes."""
        binary = {each.name: self._own(each.name, True) for each in self.fields if each.is_binary}
        return {"allOf": [schema, {"properties": binary}]} if binary else schema

    def _own(self, name: str, schema: Schema) -> Schema:
        field = next((each for each in self.fields if each.name == name), None)
        if field is None or not field.is_binary:
            media_type = field.media_type if field else None
            is_json = media_type is not None and kind_of(media_type) == "json"
            return schema if is_json else without_null(schema)
        known = schema if isinstance(schema, dict) else {}
        if not field.is_list:
            return base64_schema(known)
        kept = {str(each): known[each] for each in _OF_LISTS if each in known}
        return {"type": "array", "items": base64_schema({})} | kept


def _encoded(name: str, encoding: Mapping[str, Any], pointer: str) -> BodyField:
    style = encoding.get("style")
    if style is not None and style not in _STYLES:
        message = f"a member of a form cannot have the style {style!r}"
        raise Unservable(pointer, "body/style", message, _FIX)
    return field_of(name, encoding)


def _with_bytes(view: DocumentView, field: BodyField, raw: Any) -> BodyField:
    """`field` with whether its value, or each of its items, is bytes."""
    schema = view.part(raw, "").value if isinstance(raw, dict) else {}
    is_list = "array" in _types(schema)
    item = schema.get("items", True) if is_list else raw
    is_bytes = _is_bytes(view, item, field.media_type)
    return msgspec.structs.replace(field, is_binary=is_bytes, is_list=is_list)


def _is_bytes(view: DocumentView, raw: Any, media_type: str | None) -> bool:
    if view.is_binary(raw):
        return True
    # OpenAPI 3.1 §4.8.15: without a schema, a part is bytes of its media type.
    main = (media_type or "application/octet-stream").partition("/")[0]
    is_text = main in {"text", "application"} and media_type != "application/octet-stream"
    return raw == {} and not (is_text and media_type)


def _types(schema: Mapping[str, Any]) -> list[Any]:
    found = schema.get("type")
    return found if isinstance(found, list) else [found]


def _properties(
    view: DocumentView, schema: Any, pointer: str, depth: int, passed: set[str]
) -> Iterator[tuple[str, Any]]:
    """The members of an object schema of the normal form, also behind `$ref` and allOf.

    `passed`: the references so far. A second time adds nothing.
    """
    if not isinstance(schema, dict) or depth == 0:
        return
    if "$ref" in schema and schema["$ref"] not in passed:
        passed.add(schema["$ref"])
        found = view.part({"$ref": schema["$ref"]}, pointer)
        yield from _properties(view, found.value, found.pointer, depth - 1, passed)
    for each in schema.get("allOf", ()):
        yield from _properties(view, each, pointer, depth - 1, passed)
    members = schema.get("properties")
    yield from (members if isinstance(members, dict) else {}).items()


def _part_headers(
    view: DocumentView, name: str, encoding: Mapping[str, Any], pointer: str
) -> Iterator[tuple[Argument, ImportedParameter]]:
    """The headers of the part `name`. Their members are not named yet."""
    headers = encoding.get("headers")
    for header, node in (headers if isinstance(headers, dict) else {}).items():
        if header.lower() == "content-type" or header_refusal(header):
            continue
        value, place = view.part(node, child(child(pointer, "headers"), header))
        is_required = value.get("required") is True
        schema = view.lower(value.get("schema", True), "input", child(place, "schema"))
        argument = Argument(
            name=f"{name}_{header}",
            location="header",
            schema=described(schema, value),
            is_required=is_required,
        )
        parameter = ImportedParameter(
            member="",
            name=header,
            location="header",
            explode=value.get("explode") is True,
            is_required=is_required,
        )
        yield argument, parameter
