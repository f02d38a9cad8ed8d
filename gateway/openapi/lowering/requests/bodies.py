"""Request bodies: one media type is chosen (OpenAPI 3.2 §4.13 Request Body Object)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.contract.imported import BodyField
from gateway.contract.values.pointers import child
from gateway.openapi.lowering.records import OperationSource, Unservable
from gateway.openapi.lowering.requests.arguments import Argument, collisions, described
from gateway.openapi.lowering.requests.encodings import PartFields, base64_schema
from gateway.openapi.lowering.requests.flattening import FlatMembers, flat_members
from gateway.openapi.lowering.requests.media import FORM, LINES, MediaKind, essence, kind_of
from gateway.openapi.lowering.view import DocumentView
from gateway.openapi.reading.schemas import Schema

BodyKind = Literal["json", "form", "multipart", "text", "binary", "lines"]
_RANKS: Final[Mapping[str, int]] = {
    "application/json": 0,
    "application/merge-patch+json": 1,
    "application/json-patch+json": 3,
}
"""Merge patches (RFC 7396) are easier to write than patches (RFC 6902)."""
_OTHER_JSON: Final = 2
_KINDS: Final = ("json", "any", "form", "multipart", "events", "text", "xml", "binary", "range")
_FIX: Final = "give a media type that the gateway sends with an overlay, or exclude the operation"
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
            self._pointer, "body/media-type", f"a body cannot be sent as {media_type}", _FIX
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
            raise Unservable(self._pointer, "body/unnamed-parts", message, _FIX)
        if members is None and not _may_be_object(self._view, schema):
            message = f"a {FORM if kind == 'form' else 'multipart'} body must be an object"
            raise Unservable(self._pointer, "body/not-an-object", message, _FIX)
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
