"""Bodies of the media types `application/x-www-form-urlencoded` and `multipart/*`."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, Final

from msgspec import Struct

from gateway.contract.imported import BodyField, Style
from gateway.contract.values.files import OCTETS
from gateway.contract.values.pointers import child
from gateway.encoding.styles import ALONE, HeaderValue, NamedValue, Neighbours, Pairs, joint_of
from gateway.encoding.texts import (
    PART,
    QUERY,
    RESERVED_QUERY,
    bytes_of,
    content_text,
    essence_of,
    form_text,
    is_json,
    refusal,
    refuse_empty,
)
from gateway.errors import InvalidArguments

# Bodies and queries of the media type `application/x-www-form-urlencoded`.

Entry = tuple[str, Any, str]
"""The name, the value and the JSON Pointer of one member of a body."""
FORM: Final = "application/x-www-form-urlencoded"
STYLED: Final = frozenset({"style", "explode", "allowReserved"})
"""The members of an Encoding Object that say how a member is sent in a style."""


class FormBody:
    """A compiled form (OpenAPI 3.2, Encoding the `x-www-form-urlencoded` Media Type).

    Members with a style are percent-encoded by RFC 6570, as in a query; lists inside `deepObject`
    have indices. All others are content: each item of a list has the name of the list, objects are
    JSON, and the encoding is that of WHATWG URL §5.2.
    """

    def __init__(
        self, fields: Sequence[BodyField], beside: Mapping[str, Neighbours] | None = None
    ) -> None:
        # A pair of a form has no Content-Type, so that all its values have the first.
        self._media_types = {
            each.name: chosen_type(each.media_type, "") for each in fields if each.style is None
        }
        self._styled = {
            each.name: styled_value(each, (beside or {}).get(each.name, ALONE))
            for each in fields
            if each.style is not None
        }

    def text(self, entries: Iterable[Entry]) -> str:
        """The form. Raises `InvalidArguments`."""
        return "&".join([f"{name}={text}" for each in entries for name, text in self._pairs(*each)])

    def _pairs(self, name: str, value: Any, pointer: str) -> Pairs:
        styled = self._styled.get(name)
        if styled is not None:
            return styled.pairs(value, pointer)
        media_type = self._media_types.get(name)
        own = form_text(name, pointer)
        return [
            (own, form_text(content_text(item, media_type, place), place))
            for item, place in items_of(value, pointer)
        ]


def field_of(name: str, encoding: Mapping[str, Any]) -> BodyField:
    """The member `name` as its Encoding Object describes it (OpenAPI 3.2 §4.15)."""
    is_styled = bool(encoding.keys() & STYLED)
    style: Style | None = (encoding.get("style") or "form") if is_styled else None
    return BodyField(
        name=name,
        # §4.15.1.2: contentType has no effect beside style, explode or allowReserved.
        media_type=None if is_styled else _concrete(encoding.get("contentType")),
        style=style,
        explode=encoding.get("explode", style in {None, "form"}) is True,
        allow_reserved=encoding.get("allowReserved") is True,
    )


def _concrete(listed: Any) -> str | None:
    """The first media type of a contentType that is no range, and JSON if that is listed too."""
    if not isinstance(listed, str):
        return None
    names = [each.strip() for each in listed.split(",")]
    names = [each for each in names if each and "*" not in each]
    first = next(iter(names), None)
    json = next((each for each in names if is_json(each)), first)
    return first if first == json or (first and is_json(first)) else f"{first}, {json}"


def chosen_type(listed: str | None, value: Any) -> str | None:
    """Of the media types of a member, the one for `value`: JSON for lists and objects, if listed.

    Otherwise the first.
    """
    first, _, second = (listed or "").partition(", ")
    is_container = type(value) is dict or type(value) is list
    return (second if second and is_container else first) or None


def styled_value(field: BodyField, beside: Neighbours) -> NamedValue:
    """A member of a form that is sent in a style."""
    escapes = RESERVED_QUERY if field.allow_reserved else QUERY
    style = field.style or "form"
    return NamedValue(
        name=field.name,
        style=style,
        explode=field.explode,
        joint=joint_of(style, escapes),
        neighbours=beside,
    )


def items_of(value: Any, pointer: str) -> list[tuple[Any, str]]:
    """The values that are sent under one name, with their pointers: the items of a list."""
    if type(value) is not list:
        return [(value, pointer)]
    refuse_empty(value, pointer)
    return [(item, child(pointer, index)) for index, item in enumerate(value)]


# Bodies of the media type `multipart/form-data` (RFC 7578) and other named multiparts.

_UNQUOTABLE: Final = re.compile(r'[\x00-\x1f\x7f"\\]')
"""Receivers disagree about how these are escaped in a name."""


class FormPart(Struct, frozen=True, kw_only=True):
    """One part of the body."""

    name: str
    content: bytes
    media_type: str | None = None
    """None: plain text, which is the default (RFC 7578 §4.4)."""
    filename: str | None = None
    headers: tuple[tuple[str, str], ...] = ()

    def encoded(self) -> bytes:
        """Its header and content. Names are not percent-encoded (RFC 7578 §5.1)."""
        disposition = f'Content-Disposition: form-data; name="{self.name}"'
        if self.filename is not None:
            disposition += f'; filename="{self.filename}"'
        lines = [disposition]
        if self.media_type is not None:
            lines.append(f"Content-Type: {self.media_type}")
        lines += [f"{name}: {value}" for name, value in self.headers]
        return "\r\n".join([*lines, "", ""]).encode() + self.content


class MultipartBody:
    """A compiled multipart body (OpenAPI 3.2, Encoding `multipart` Media Types)."""

    def __init__(self, fields: Sequence[BodyField]) -> None:
        self._fields = {each.name: each for each in fields}
        self._headers = {each.name: tuple(map(HeaderValue.of, each.headers)) for each in fields}
        self._of_parts = {
            member: each.name
            for each in fields
            for member in (each.filename_member, *(header.member for header in each.headers))
            if member is not None
        }
        """The part of each argument that is a header or a file name."""

    def parts(self, entries: Sequence[Entry], arguments: Mapping[str, Any]) -> list[FormPart]:
        """The parts for `entries`. `arguments` has the headers and file names of parts.

        Raises `InvalidArguments` and `MalformedRequest`.
        """
        names = {name for name, _, _ in entries}
        for member, name in self._of_parts.items():
            if member in arguments and name not in names:
                detail = f"belongs to {name}, which is not given: leave it out, or give both"
                raise InvalidArguments.at(child("", member), "dependentRequired", detail)
        return [part for each in entries for part in self._parts(*each, arguments)]

    def _parts(
        self, name: str, value: Any, pointer: str, arguments: Mapping[str, Any]
    ) -> list[FormPart]:
        _refuse_unquotable(name, pointer)
        field = self._fields.get(name) or BodyField(name=name)
        headers = tuple(self._own_headers(name, arguments))
        if field.style is not None:
            return _styled_parts(field, value, pointer, headers)
        if field.is_binary:
            return list(_file_parts(field, value, pointer, arguments, headers))
        return [_text_part(field, item, place, headers) for item, place in items_of(value, pointer)]

    def _own_headers(self, name: str, arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        for each in self._headers.get(name, ()):
            member = each.parameter.member
            if member in arguments:
                yield each.parameter.name, each.text(arguments[member])
            elif each.parameter.is_required:
                detail = f"is required beside {name}"
                raise InvalidArguments.at(child("", member), "required", detail)


def joined(parts: Sequence[FormPart]) -> tuple[bytes, str]:
    """The body of `parts`, and its boundary.

    The boundary is a digest of the parts, so that equal arguments make equal requests.
    """
    texts = [part.encoded() for part in parts]
    digest = hashlib.sha256()
    for text in texts:
        digest.update(len(text).to_bytes(8, "big") + text)
    boundary = unused(digest.hexdigest()[:32], texts)
    body = b"".join(b"--%b\r\n%b\r\n" % (boundary.encode(), text) for text in texts)
    return body + b"--%b--\r\n" % boundary.encode(), boundary


def unused(boundary: str, texts: Sequence[bytes]) -> str:
    """`boundary`, or another one if it occurs in one of `texts` (RFC 2046 §5.1.1)."""
    while any(boundary.encode() in text for text in texts):
        boundary = hashlib.sha256(boundary.encode()).hexdigest()[:32]
    return boundary


def concrete(media_types: str | None, default: str) -> str:
    """The first of `media_types` (`image/png, image/*`) that is not a range, or `default`."""
    for each in (media_types or "").split(","):
        if each.strip() and "*" not in each:
            return each.strip()
    return default


def with_charset(media_type: str, content: bytes) -> str:
    """`media_type`, which says that the text is UTF-8 if it is not ASCII."""
    is_text = essence_of(media_type).startswith("text/")
    if content.isascii() or not is_text or "charset" in media_type.lower():
        return media_type
    return f"{media_type}; charset=utf-8"


def _file_parts(
    field: BodyField,
    value: Any,
    pointer: str,
    arguments: Mapping[str, Any],
    headers: tuple[tuple[str, str], ...],
) -> Iterator[FormPart]:
    """A part for each file, and for each value that is none."""
    items = items_of(value, pointer)
    files = sum(type(item) is str or not field.has_values for item, _ in items)
    names = iter(_filenames(field, pointer, arguments, files))
    for item, place in items:
        if field.has_values and type(item) is not str:
            yield _text_part(field, item, place, headers)
            continue
        yield FormPart(
            name=field.name,
            content=bytes_of(item, place),
            media_type=concrete(field.media_type, OCTETS),
            filename=next(names),
            headers=headers,
        )


def _text_part(
    field: BodyField, value: Any, pointer: str, headers: tuple[tuple[str, str], ...]
) -> FormPart:
    is_container = type(value) is dict or type(value) is list
    default = "application/json" if is_container else "text/plain"
    listed = chosen_type(field.media_type, value)
    if field.is_binary and not (is_container and is_json(listed or "")):
        listed = None  # the type is that of the file
    media_type = concrete(listed, default)
    is_plain = listed is None and not is_container
    if is_container and not is_json(media_type):
        raise refusal(pointer, f"a list or an object cannot be sent as {media_type}")
    content = content_text(value, None if is_plain else media_type, pointer).encode()
    return FormPart(
        name=field.name,
        content=content,
        media_type=None if is_plain else with_charset(media_type, content),
        headers=headers,
    )


def _styled_parts(
    field: BodyField, value: Any, pointer: str, headers: tuple[tuple[str, str], ...]
) -> list[FormPart]:
    style = field.style or "form"
    named = NamedValue(
        name=field.name, style=style, explode=field.explode, joint=joint_of(style, PART)
    )
    pairs = named.pairs(value, pointer)
    for name, _ in pairs:
        _refuse_unquotable(name, pointer)
    return [FormPart(name=name, content=text.encode(), headers=headers) for name, text in pairs]


def _filenames(
    field: BodyField, pointer: str, arguments: Mapping[str, Any], count: int
) -> list[str]:
    """The names of `count` files: many servers take only parts with one as files."""
    member = field.filename_member or ""
    given = arguments.get(member, [])
    names = given if type(given) is list else [given]
    place = child("", member) if names else pointer
    if len(names) > count:
        raise refusal(place, f"has {len(names)} names for {count} files: give one for each")
    found = [*names, *repeat(field.name, count - len(names))]
    for name in found:
        _refuse_unquotable(name, place)
    return found


def _refuse_unquotable(name: str, pointer: str) -> None:
    if not name or _UNQUOTABLE.search(name):
        detail = "a name with quotes, backslashes or control characters cannot be sent here"
        raise refusal(pointer, detail)
