"""The body of a request, of each kind."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET, UnsetType

from gateway.contract.imported import ImportedBody
from gateway.contract.values import jsontext
from gateway.contract.values.pointers import child
from gateway.encoding.escapes import MEDIA_TYPE, refusal
from gateway.encoding.forms import FORM, Entry, FormBody
from gateway.encoding.multipart import BINARY, MultipartBody, concrete, joined, with_charset
from gateway.encoding.neighbours import neighbours_of
from gateway.encoding.shapes import Schema, Shapes
from gateway.encoding.texts import bytes_of, text_of
from gateway.errors import InvalidArguments

_DEFAULTS: Final = {
    "json": "application/json",
    "form": FORM,
    "multipart": "multipart/form-data",
    "text": "text/plain",
    "binary": BINARY,
    "lines": "application/x-ndjson",
}
"""Sent for a range such as `*/*`."""


class Body:
    """The compiled request body of an operation."""

    def __init__(self, body: ImportedBody, schemas: Mapping[str, Schema], shapes: Shapes) -> None:
        """`schemas` has the schema of each member of the arguments."""
        self._body = body
        self._members = _ordered(body)
        self._media_type = concrete(body.media_type, _DEFAULTS[body.kind])
        self._pointers = {
            member: child("", member) for member in (*body.members, body.member or "")
        }
        properties = _properties(body, schemas, shapes)
        self._form = FormBody(body.fields, neighbours_of(body.fields, properties, shapes))
        self._multipart = MultipartBody(body.fields)

    def encode(self, arguments: Mapping[str, Any]) -> tuple[str, bytes] | None:
        """The Content-Type and the bytes. None: no body is sent.

        Raises `InvalidArguments` and `MalformedRequest`.
        """
        value = self._value(arguments)
        if value is UNSET:
            self._multipart.parts((), arguments)
            return None
        match self._body.kind:
            case "json" | "lines":
                return self._media_type, self._json(value)
            case "form":
                return self._media_type, self._form.text(self._entries(value)).encode()
            case "multipart":
                parts = self._multipart.parts(self._entries(value), arguments)
                content, boundary = joined(parts)
                return f"{self._media_type}; boundary={boundary}", content
            case "text":
                content = text_of(value, self._pointer).encode()
                return with_charset(self._media_type, content), content
            case "binary":
                return self._type_of(arguments), bytes_of(value, self._pointer)

    @property
    def _pointer(self) -> str:
        return self._pointers[self._body.member or ""]

    def _json(self, value: Any) -> bytes:
        if self._body.kind == "json":
            return jsontext.encode(value)
        if type(value) is not list:
            raise refusal(self._pointer, "must be a list, of which each item is a line")
        return b"".join(b"%b\n" % jsontext.encode(each) for each in value)

    def _type_of(self, arguments: Mapping[str, Any]) -> str:
        """The Content-Type: the caller names it where the document has a range."""
        member = self._body.media_type_member
        if member is None:
            return self._media_type
        found = arguments.get(member)
        if type(found) is not str or not MEDIA_TYPE.fullmatch(found):
            raise InvalidArguments.at(child("", member), "required", "is the type of the body")
        return found

    def _value(self, arguments: Mapping[str, Any]) -> Any | UnsetType:
        """The value of the body. UNSET: none is given, and none is required."""
        body = self._body
        if body.member is not None:
            if body.member not in arguments and body.is_required:
                raise InvalidArguments.at(self._pointer, "required", "is required")
            return arguments.get(body.member, UNSET)
        given = {
            name: arguments[member] for member, name in self._members.items() if member in arguments
        }
        return given if given or body.is_required else UNSET

    def _entries(self, value: Any) -> list[Entry]:
        """The members of the body, each with its pointer in the arguments."""
        if type(value) is not dict:
            raise refusal(self._pointer, "must be an object to be sent as a form")
        if self._body.member is not None:
            declared = [name for name in self._body.order if name in value]
            names = dict.fromkeys([*declared, *value])
            return [(name, value[name], child(self._pointer, name)) for name in names]
        members = {name: self._pointers[member] for member, name in self._members.items()}
        return [(name, item, members[name]) for name, item in value.items()]


def _ordered(body: ImportedBody) -> Mapping[str, str]:
    """`body.members` in the order in which they are sent."""
    ranks = {name: rank for rank, name in enumerate(body.order)}
    found = sorted(body.members.items(), key=lambda each: ranks.get(each[1], len(ranks)))
    return dict(found)


def _properties(
    body: ImportedBody, schemas: Mapping[str, Schema], shapes: Shapes
) -> Mapping[str, Schema]:
    """The schema of each member of the body."""
    if body.member is not None:
        return shapes.properties(schemas.get(body.member, True))
    return {name: schemas.get(member, True) for member, name in body.members.items()}
