"""Request bodies: media type, encodings and files (OpenAPI 3.2 §4.13, §4.15)."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, Literal, Self

import msgspec
from msgspec import Struct

from gateway.authoring.openapi.lowering.parameters import (
    LINES,
    Argument,
    FlatMembers,
    MediaKind,
    collisions,
    described,
    essence,
    flat_members,
    kind_of,
    shortened,
    without_null,
)
from gateway.authoring.openapi.lowering.records import DocumentView, OperationSource, Unservable
from gateway.authoring.openapi.reading.dialect import BASE64_HINT
from gateway.authoring.openapi.reading.schemas import Schema
from gateway.contract.imported import BodyField, ImportedParameter
from gateway.contract.outbound import header_refusal
from gateway.contract.values.pointers import child
from gateway.encoding.bodies import FORM, STYLED, field_of

# Which members of a multipart body are files, also behind references, lists and unions.

Shape = Literal["file", "list", "text", "value"]
"""A file, a list of files, a text that is no file, or any other value but null."""

_NO_FILE: Final[frozenset[Shape]] = frozenset({"text", "value"})
_FILES: Final[frozenset[Shape]] = frozenset({"file", "list"})
_UNIONS: Final = ("anyOf", "oneOf")
_FIX_FILES: Final = (
    "describe the files as members of the body with an overlay, or exclude the operation"
)


class FileShapes:
    """Finds the shapes of the values that schemas of the normal form admit."""

    def __init__(self, view: DocumentView, pointer: str) -> None:
        """`pointer` is that of the body, for refusals."""
        self._view = view
        self._pointer = pointer
        self._known: dict[str, frozenset[Shape]] = {}

    def of(self, schema: Any) -> frozenset[Shape]:
        """The shapes. Empty: the only value is null. Raises `Unservable` and `PartRefused`."""
        if not isinstance(schema, dict):
            return _NO_FILE
        parts = [self.of(each) for each in schema.get("allOf", ())]
        parts += [
            self._of_any(schema[name]) for name in _UNIONS if isinstance(schema.get(name), list)
        ]
        if "$ref" in schema:
            parts.append(self._of_reference(schema["$ref"]))
        parts.append(self._of_own(schema))
        # A file is text for JSON Schema: what else must hold for the text does not change that.
        files = [each for each in parts if each & _FILES]
        if files:
            return frozenset.intersection(*files) or files[0]
        return frozenset.intersection(*parts) or parts[0] if all(parts) else frozenset()

    def files_of(self, schema: Any) -> frozenset[Shape]:
        """The shapes of a part that may be a file. Empty: it is none.

        A file is text for callers, so a text that is no file cannot be told from one: then all
        values that are no files are left out. Raises `Unservable` and `PartRefused`.
        """
        found = self.of(schema)
        files = found & _FILES
        if files and "text" in found:
            message = "the part is a file, so values that are no files are left out"
            self._view.note(self._pointer, "body/file-or-value", message)
            return files
        return found if files else frozenset()

    def refuse_maps(self, schema: Any) -> None:
        """Raise `Unservable` if members that `schema` does not name may be files."""
        for part in self._combined(schema):
            maps = part.get("patternProperties")
            others = [part.get("additionalProperties"), *(maps or {}).values()]
            if any(self.of(each) & _FILES for each in others):
                raise self._refused("body/files-by-name", "files have names that nothing declares")

    def _combined(self, schema: Any) -> Iterable[Mapping[str, Any]]:
        """`schema`, and the schemas that it combines for the same value."""
        passed: set[str] = set()
        waiting = [schema]
        while waiting:
            part = waiting.pop()
            if not isinstance(part, dict):
                continue
            yield part
            reference = part.get("$ref")
            if reference is not None and reference not in passed:
                passed.add(reference)
                waiting.append(self._view.part({"$ref": reference}, self._pointer).value)
            for keyword in ("allOf", *_UNIONS):
                waiting.extend(part.get(keyword, ()))

    def _of_any(self, branches: Iterable[Any]) -> frozenset[Shape]:
        return frozenset(shape for each in branches for shape in self.of(each))

    def _of_reference(self, reference: str) -> frozenset[Shape]:
        if reference not in self._known:
            # A schema that refers to itself says nothing more the second time.
            self._known[reference] = _NO_FILE
            target = self._view.part({"$ref": reference}, self._pointer).value
            self._known[reference] = self.of(target)
        return self._known[reference]

    def _of_own(self, schema: Mapping[str, Any]) -> frozenset[Shape]:
        if self._view.is_binary({name: each for name, each in schema.items() if name != "$ref"}):
            return frozenset({"file"})
        types = schema.get("type")
        types = types if isinstance(types, list) else [types]
        if types == ["null"] or schema.get("const", schema.get("enum", "")) in (None, [None]):
            return frozenset()
        others: set[Shape] = set()
        if {None, "string"} & {*types}:
            others.add("text")
        if {*types} - {"string", "null", "array"}:
            others.add("value")
        if "array" not in types:
            return frozenset(others)
        inner = self.of(schema.get("items", True))
        if "list" in inner:
            raise self._refused("body/nested-files", "lists of lists of files cannot be sent")
        if "file" not in inner:
            return frozenset({*others, "value"})
        return frozenset({*others, *inner, "list"} - {"file"})

    def _refused(self, rule: str, message: str) -> Unservable:
        return Unservable(self._pointer, rule, message, _FIX_FILES)


# Members of form and multipart bodies (OpenAPI 3.2 §4.15 Encoding Object).

_STYLES: Final = ("form", "spaceDelimited", "pipeDelimited", "deepObject")
_MAX_DEPTH: Final = 20
_FILENAME: Final = "filename"
_MAX_FILENAME: Final = 255
"""Characters. File systems take no longer names."""
_OF_LISTS: Final = ("description", "minItems", "maxItems")
_FIX_ENCODING: Final = "correct the encoding with an overlay, or exclude the operation"


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
        raise Unservable(pointer, "body/style", message, _FIX_ENCODING)
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


# Request bodies: one media type is chosen (OpenAPI 3.2 §4.13 Request Body Object).

BodyKind = Literal["json", "form", "multipart", "text", "binary", "lines"]
_RANKS: Final[Mapping[str, int]] = {
    "application/json": 0,
    "application/merge-patch+json": 1,
    "application/json-patch+json": 3,
}
"""Merge patches (RFC 7396) are easier to write than patches (RFC 6902)."""
_OTHER_JSON: Final = 2
_KINDS: Final = ("json", "any", "form", "multipart", "events", "text", "xml", "binary", "range")
_FIX_MEDIA_TYPE: Final = (
    "give a media type that the gateway sends with an overlay, or exclude the operation"
)
_MANY: Final = 3
_SUBTYPE: Final = "[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}"
"""RFC 6838 §4.2."""
_SUCH_AS: Final = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4"}
_OF_EMPTY: Final = frozenset({"additionalProperties", "description", "properties", "title", "type"})


class LoweredBody(Struct, frozen=True, kw_only=True):
    """A request body, before its members are named."""

    kind: BodyKind
    media_type: str
    is_required: bool
    arguments: tuple[Argument, ...]
    properties: tuple[str, ...] = ()
    """The members of the body by argument. Empty: the first argument is the whole body, and the
    second one, if there is one, its Content-Type."""
    required: tuple[str, ...] = ()
    """The members that the body must have, if there is a body."""
    fields: tuple[BodyField, ...] = ()
    headers: tuple[Argument, ...] = ()
    """Headers and file names of parts, in the order of `fields`."""
    order: tuple[str, ...] = ()
    """See `ImportedBody.order`."""


def body_of(
    view: DocumentView, operation: OperationSource, parameters: Sequence[Argument]
) -> LoweredBody | None:
    """The body of `operation`. None if it has none. Raises `Unservable` and `PartRefused`."""
    if "requestBody" not in operation.value:
        return None
    node = operation.value["requestBody"]
    value, pointer = view.part(node, child(operation.pointer, "requestBody"))
    content = value.get("content")
    if not isinstance(content, dict) or not content:
        return None
    pointer = child(pointer, "content")
    chosen = min(content, key=lambda name: _rank(name, list(content)))
    if len(content) > 1:
        others = ", ".join(name for name in content if name != chosen)
        view.note(pointer, "body/one-media-type", f"bodies are sent as {chosen}, not as {others}")
    media, place = view.part(content[chosen], child(pointer, chosen))
    body = _Body(view, value, media, place)
    if body.says_nothing():
        view.note(pointer, "body/empty", "the body is optional and has no members, so none is sent")
        return None
    kind, media_type = body.sent_as(chosen)
    return body.lowered(kind, media_type, parameters)


def _rank(media_type: str, listed: Sequence[str]) -> tuple[int, int, int]:
    kind = kind_of(media_type)
    group = _KINDS.index(kind) if kind in _KINDS else len(_KINDS)
    return group, _RANKS.get(essence(media_type), _OTHER_JSON), listed.index(media_type)


class _Body:
    """One Media Type Object of a request body."""

    def __init__(
        self, view: DocumentView, holder: Mapping[str, Any], media: Mapping[str, Any], pointer: str
    ) -> None:
        self._view = view
        self._holder = holder
        self._media = media
        self._pointer = pointer
        self._raw = media.get("schema", True)

    def says_nothing(self) -> bool:
        """Whether the body is optional, and an object that cannot have members."""
        return (
            self._holder.get("required") is not True
            and isinstance(self._raw, dict)
            and not self._raw.keys() - _OF_EMPTY
            and self._raw.get("type") == "object"
            and self._raw.get("additionalProperties") is False
            and not self._raw.get("properties")
        )

    def sent_as(self, media_type: str) -> tuple[BodyKind, str]:
        """The kind of the body and its Content-Type. Raises `Unservable`."""
        name = essence(media_type)
        kind: MediaKind | Literal["lines"] = "lines" if name in LINES else kind_of(media_type)
        is_bytes = self._is_bytes()
        is_other = kind == "binary" and name != "application/octet-stream"
        may_be_text = kind in {"form", "lines"} or is_other
        if kind == "xml" or (may_be_text and not is_bytes and self._is_text()):
            return "text", media_type
        match kind:
            case "json" | "form" | "multipart" | "text" | "lines":
                return kind, "text/plain" if name == "text/*" else media_type
            case "any" if not is_bytes:
                return "json", "application/json"
            case "any":
                return "binary", "application/octet-stream"
            case "range" if is_bytes and not name.startswith(("multipart/", "message/")):
                return "binary", name
            case "binary" if is_bytes or name == "application/octet-stream":
                return "binary", media_type
        raise Unservable(
            self._pointer,
            "body/media-type",
            f"a body cannot be sent as {media_type}",
            _FIX_MEDIA_TYPE,
        )

    def lowered(
        self, kind: BodyKind, media_type: str, parameters: Sequence[Argument]
    ) -> LoweredBody:
        """The body of this kind. Raises `Unservable`."""
        is_required = self._holder.get("required") is True
        if kind == "lines":
            return self._whole(kind, media_type, self._lines(), is_required)
        if kind in {"text", "binary"}:
            is_bytes = kind == "binary"
            schema: Schema = base64_schema(self._holder) if is_bytes else self._text(media_type)
            return self._whole(kind, media_type, schema, is_required)
        schema = self._view.lower(self._raw, "input", child(self._pointer, "schema"))
        members = flat_members(self._view.schemas, schema)
        if kind == "json":
            fields = PartFields()
        else:
            taken = {*(members.properties if members else ()), *(each.name for each in parameters)}
            fields = self._fields(kind, schema, members).with_filenames(taken)
            members = members and fields.replaced(members)
        if members is None or _is_crowded(parameters, members):
            schema = fields.in_schema(schema)
            return self._whole(kind, media_type, schema, is_required, fields)
        return LoweredBody(
            kind=kind,
            media_type=media_type,
            is_required=is_required,
            arguments=tuple(
                Argument(
                    name=name,
                    location="body",
                    schema=member,
                    is_required=is_required and name in members.required,
                )
                for name, member in members.properties.items()
            ),
            properties=tuple(members.properties),
            required=members.required,
            fields=fields.fields,
            headers=fields.headers,
            order=tuple(each for each in fields.order if each in members.properties),
        )

    def _whole(
        self,
        kind: BodyKind,
        media_type: str,
        schema: Schema,
        is_required: bool,
        fields: PartFields | None = None,
    ) -> LoweredBody:
        argument = Argument(
            name="body",
            location="body",
            schema=schema if kind == "binary" else described(schema, self._holder),
            is_required=is_required,
        )
        return LoweredBody(
            kind=kind,
            media_type=media_type,
            is_required=is_required,
            arguments=(argument, *self._types(media_type, is_required)),
            fields=fields.fields if fields else (),
            headers=fields.headers if fields else (),
            order=fields.order if fields else (),
        )

    def _types(self, media_type: str, is_required: bool) -> tuple[Argument, ...]:
        """The argument that is the Content-Type, where the document names a range of them."""
        kind, _, rest = media_type.partition("/")
        if rest != "*":
            return ()
        schema = {
            "type": "string",
            "pattern": f"^{re.escape(kind)}/{_SUBTYPE}$",
            "description": f"Media type of the bytes, such as {_SUCH_AS.get(kind, f'{kind}/x')}.",
        }
        argument = Argument(
            name="content_type", location="body", schema=schema, is_required=is_required
        )
        return (argument,)

    def _lines(self) -> Schema:
        """A list of what is on each line."""
        member = "itemSchema" if "itemSchema" in self._media else "schema"
        pointer = child(self._pointer, member)
        lowered = self._view.lower(self._media.get(member, True), "input", pointer)
        target = self._view.schemas.target(lowered)
        if member == "schema" and isinstance(target, dict) and target.get("type") == "array":
            return lowered
        return {"type": "array", "items": lowered}

    def _fields(self, kind: BodyKind, schema: Schema, members: FlatMembers | None) -> PartFields:
        if "prefixEncoding" in self._media or "itemEncoding" in self._media:
            message = "the gateway sends no sequences of unnamed parts"
            raise Unservable(self._pointer, "body/unnamed-parts", message, _FIX_MEDIA_TYPE)
        if members is None and not _may_be_object(self._view, schema):
            message = f"a {FORM if kind == 'form' else 'multipart'} body must be an object"
            raise Unservable(self._pointer, "body/not-an-object", message, _FIX_MEDIA_TYPE)
        return PartFields.of(
            self._view, self._media, self._pointer, is_multipart=kind == "multipart"
        )

    def _is_bytes(self) -> bool:
        return self._raw in (True, {}) or self._view.is_binary(self._raw)

    def _is_text(self) -> bool:
        if self._raw in (True, {}):
            return False
        schema = self._view.lower(self._raw, "input", child(self._pointer, "schema"))
        target = self._view.schemas.target(schema)
        return isinstance(target, dict) and target.get("type") == "string"

    def _text(self, media_type: str) -> Schema:
        """The schema of a body that is text. Only that of a string can be checked."""
        schema = self._view.lower(self._raw, "input", child(self._pointer, "schema"))
        target = self._view.schemas.target(schema)
        if isinstance(target, bool) or not target.keys() - {"description", "title", "examples"}:
            return {"type": "string"}
        if target.get("type") != "string":
            message = f"the body is text of the type {media_type}, whose schema is not checked"
            self._view.note(self._pointer, "body/text", message)
            return {"type": "string", "description": f"Text of the type {media_type}."}
        return schema


def _is_crowded(parameters: Sequence[Argument], members: FlatMembers) -> bool:
    """Whether so many members collide with parameters that the body is one argument instead."""
    number = collisions(parameters, members.properties)
    return number > _MANY or number * 2 > len(members.properties)


def _may_be_object(view: DocumentView, schema: Schema) -> bool:
    target = view.schemas.target(schema)
    if isinstance(target, bool):
        return target
    types = target.get("type", "object")
    return "object" in (types if isinstance(types, list) else [types])
