"""Members of form and multipart bodies (OpenAPI 3.2 §4.15 Encoding Object)."""

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any, Final, Self

import msgspec
from msgspec import Struct

from gateway.contract.imported import BodyField, ImportedParameter
from gateway.contract.outbound import header_refusal
from gateway.contract.values.pointers import child
from gateway.encoding.bodies import STYLED, field_of
from gateway.openapi.lowering.records import Unservable
from gateway.openapi.lowering.requests.arguments import Argument, described, shortened
from gateway.openapi.lowering.requests.files import FileShapes, Shape
from gateway.openapi.lowering.requests.flattening import FlatMembers
from gateway.openapi.lowering.requests.media import kind_of
from gateway.openapi.lowering.requests.nulls import without_null
from gateway.openapi.lowering.view import DocumentView
from gateway.openapi.reading.dialect.octets import BASE64_HINT
from gateway.openapi.reading.schemas import Schema

_STYLES: Final = ("form", "spaceDelimited", "pipeDelimited", "deepObject")
_MAX_DEPTH: Final = 20
_FILENAME: Final = "filename"
_MAX_FILENAME: Final = 255
"""Characters. File systems take no longer names."""
_OF_LISTS: Final = ("description", "minItems", "maxItems")
_FIX: Final = "correct the encoding with an overlay, or exclude the operation"


def base64_schema(holder: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of bytes, with the description of `holder` if it has one."""
    own = holder.get("description")
    own = own.removesuffix(BASE64_HINT) if isinstance(own, str) else ""
    text = f"{shortened(own)} {BASE64_HINT}".strip()
    return {"type": "string", "contentEncoding": "base64", "description": text}


class PartFields(Struct, frozen=True, kw_only=True):
    """The members of a body that are not sent in the default way."""

    fields: tuple[BodyField, ...] = ()
    headers: tuple[Argument, ...] = ()
    """The arguments for the headers and file names of parts, in the order of `fields`."""
    order: tuple[str, ...] = ()
    """The members in the order of the document."""
    files: Mapping[str, frozenset[Shape]] = {}
    """The members that are files, lists of files, or either. With `value`: or another value."""

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
        files: dict[str, frozenset[Shape]] = {}
        raw = _members(view, media.get("schema"), place)
        shapes = FileShapes(view, place)
        if is_multipart:
            shapes.refuse_maps(media.get("schema"))
        for name in dict.fromkeys([*raw, *listed]):
            place = child(child(pointer, "encoding"), name)
            encoding = view.part(listed[name], place).value if name in listed else {}
            if is_multipart:
                found = _files_in(shapes, raw.get(name, True), encoding)
                files |= {name: found} if found else {}
                own = list(_part_headers(view, name, encoding, place))
                headers += [argument for argument, _ in own]
                field = msgspec.structs.replace(
                    _encoded(name, _of_part(view, encoding, place, bool(found)), place),
                    is_binary=bool(found),
                    has_values="value" in found,
                    is_list=found - {"value"} == {"list"},
                    headers=tuple(parameter for _, parameter in own),
                )
            else:
                field = _encoded(name, encoding, place)
            if field != BodyField(name=name):
                fields.append(field)
        return cls(fields=tuple(fields), headers=tuple(headers), order=tuple(raw), files=files)

    def with_filenames(self, taken: Collection[str]) -> "PartFields":
        """These, with an argument for the name of each file. `taken`: names of other arguments."""
        headers: list[Argument] = []
        fields: list[BodyField] = []
        waiting = iter(self.headers)
        for field in self.fields:
            headers += islice(waiting, len(field.headers))
            if field.is_binary:
                headers.append(self._filename(field.name, taken))
            named = "" if field.is_binary else None
            fields.append(msgspec.structs.replace(field, filename_member=named))
        return msgspec.structs.replace(self, fields=tuple(fields), headers=tuple(headers))

    def _filename(self, name: str, taken: Collection[str]) -> Argument:
        is_only = len(self.files) == 1 and _FILENAME not in taken
        text = {"type": "string", "minLength": 1, "maxLength": _MAX_FILENAME}
        about = f"With its ending, such as report.pdf. Without it, {name}."
        schema: Schema = text | {"description": f"The name of the file {name}. {about}"}
        if "list" in self.files[name]:
            about = f"in their order. Files without one are called {name}."
            schema = {"type": "array", "items": text, "description": f"The file names, {about}"}
        return Argument(
            name=_FILENAME if is_only else f"{name}_{_FILENAME}",
            location="part",
            schema=schema,
            is_required=False,
        )

    def replaced(self, members: FlatMembers) -> FlatMembers:
        """`members`, with base64 text for those that are bytes."""
        properties = {name: self._own(name, schema) for name, schema in members.properties.items()}
        return FlatMembers(properties=properties, required=members.required)

    def in_schema(self, schema: Schema) -> Schema:
        """`schema` of the whole body, with base64 text for the members that are bytes."""
        names = [name for name, shapes in self.files.items() if "value" not in shapes]
        binary = {name: self._own(name, True) for name in names}
        return {"allOf": [schema, {"properties": binary}]} if binary else schema

    def _own(self, name: str, schema: Schema) -> Schema:
        shapes = self.files.get(name)
        if shapes is None:
            field = next((each for each in self.fields if each.name == name), None)
            media_type = field.media_type if field else None
            is_json = media_type is not None and kind_of(media_type) == "json"
            return schema if is_json else without_null(schema)
        schema = without_null(schema)
        if "value" in shapes:
            return schema  # its own alternatives say which of them are bytes
        known = schema if isinstance(schema, dict) else {}
        if shapes == {"file"}:
            return base64_schema(known)
        kept = {str(each): known[each] for each in _OF_LISTS if each in known}
        files = {"type": "array", "items": base64_schema({})} | kept
        return files if shapes == {"list"} else {"anyOf": [base64_schema(known), files]}


def _encoded(name: str, encoding: Mapping[str, Any], pointer: str) -> BodyField:
    style = encoding.get("style")
    if style is not None and style not in _STYLES:
        message = f"a member of a form cannot have the style {style!r}"
        raise Unservable(pointer, "body/style", message, _FIX)
    return field_of(name, encoding)


def _of_part(
    view: DocumentView, encoding: Mapping[str, Any], pointer: str, is_file: bool
) -> Mapping[str, Any]:
    """`encoding` without a style where that has no effect.

    Styles are for texts, so a file has none. OpenAPI 3.0.3 knows styles of forms alone.
    """
    plain = {name: value for name, value in encoding.items() if name not in STYLED}
    if is_file and len(plain) < len(encoding):
        view.note(pointer, "body/file-style", "a file has no style: its bytes are sent as a part")
        return plain
    return plain if view.document.source.version == "3.0" else encoding


def _files_in(shapes: FileShapes, raw: Any, encoding: Mapping[str, Any]) -> frozenset[Shape]:
    """Of the shapes of a part, those that are files."""
    if encoding.keys() & STYLED:
        return shapes.files_of(raw)
    media_type = field_of("", encoding).media_type
    items = raw.get("items", True) if isinstance(raw, dict) else True
    if _says_nothing(raw, media_type):
        return frozenset({"file"})
    if _says_nothing(items, media_type):
        return frozenset({"list"})
    return shapes.files_of(raw)


def _says_nothing(raw: Any, media_type: str | None) -> bool:
    """Whether a part without a schema is bytes of its media type (OpenAPI 3.1 §4.8.15)."""
    main = (media_type or "application/octet-stream").partition("/")[0]
    is_text = main in {"text", "application"} and media_type != "application/octet-stream"
    return raw == {} and not (is_text and media_type)


def _members(view: DocumentView, schema: Any, pointer: str) -> dict[str, Any]:
    """The members of an object schema of the normal form, by name."""
    found: dict[str, Any] = {}
    for name, member in _properties(view, schema, pointer, _MAX_DEPTH, set()):
        known = found.get(name, member)
        found[name] = member if known == member else {"anyOf": [known, member]}
    return found


def _properties(
    view: DocumentView, schema: Any, pointer: str, depth: int, passed: set[str]
) -> Iterator[tuple[str, Any]]:
    """The members of an object schema of the normal form, also behind `$ref`, allOf and unions.

    `passed`: the references so far. A second time adds nothing.
    """
    if not isinstance(schema, dict) or depth == 0:
        return
    if "$ref" in schema and schema["$ref"] not in passed:
        passed.add(schema["$ref"])
        found = view.part({"$ref": schema["$ref"]}, pointer)
        yield from _properties(view, found.value, found.pointer, depth - 1, passed)
    for keyword in ("allOf", "anyOf", "oneOf"):
        for each in schema.get(keyword, ()):
            yield from _properties(view, each, pointer, depth - 1, passed)
    members = schema.get("properties")
    yield from (members if isinstance(members, dict) else {}).items()


def _part_headers(
    view: DocumentView, name: str, encoding: Mapping[str, Any], pointer: str
) -> Iterator[tuple[Argument, ImportedParameter]]:
    """The headers of the part `name`. Their members are not named yet.

    A required one is so beside the part, which may be optional.
    """
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
            is_required=False,
        )
        parameter = ImportedParameter(
            member="",
            name=header,
            location="header",
            explode=value.get("explode") is True,
            is_required=is_required,
        )
        yield argument, parameter
