"""Replies as they arrive: the media types asked for, their text and bytes, and tolerance."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.contract.imported import ImportedReply
from gateway.contract.upstream import Reply
from gateway.contract.values import jsontext
from gateway.contract.values.files import OCTETS, FileContent
from gateway.contract.values.pointers import NoSuchPlace, child, follow, steps
from gateway.contract.values.schema import Validator
from gateway.encoding.shapes import Schema, Shapes
from gateway.encoding.texts import MEDIA_TYPE, is_json
from gateway.errors import InvalidReply

# The media types that a request asks for (RFC 9110 §12.5.1).

_JSON: Final = "application/json"


def accept_of(replies: Iterable[ImportedReply]) -> str:
    """The `Accept` header for the declared replies of success. Empty: they have no content.

    JSON is preferred to other media types, because its values can be checked.
    """
    first: list[str] = []
    others: list[str] = []
    for reply in replies:
        media_type = reply.media_type or ""
        if not reply.is_success or not MEDIA_TYPE.fullmatch(media_type):
            continue
        if reply.kind == "json" and "*" in media_type:
            first.append(_JSON)
        (first if is_json(media_type) else others).append(media_type)
    weight = ";q=0.9" if first else ""
    return ", ".join(dict.fromkeys([*first, *(f"{each}{weight}" for each in others)]))


# The content of replies: media types, text and bytes.

BODILESS: Final = frozenset({"204", "205"})
"""Statuses whose replies have no body (RFC 9110 §15.3.5, §15.3.6)."""
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
"""Statuses whose `Location` is the address of the answer (RFC 9110 §15.4)."""
RESULT: Final = "result"
"""The member of the result that holds a reply which is no JSON object."""
_CODECS: Final[Mapping[str, str]] = {
    "": "utf-8-sig",
    "utf-8": "utf-8-sig",
    "utf8": "utf-8-sig",
    "us-ascii": "ascii",
    "ascii": "ascii",
    "iso-8859-1": "latin-1",
    "latin1": "latin-1",
    "windows-1252": "cp1252",
    "cp1252": "cp1252",
    "utf-16": "utf-16",
    "utf-16be": "utf-16-be",
    "utf-16le": "utf-16-le",
}
"""The codec of each charset (IANA, Character Sets). Text without a charset is UTF-8."""
_ADDRESS: Final = re.compile(r"https?://[\x21-\x7e]+")
_CHARSET: Final = re.compile(r';[ \t]*charset=(?:"([^"]*)"|([^";\s]*))')
_MAX_ESSENCE: Final = 127
_MAX_ADDRESS: Final = 8000
"""As many bytes as every client should take (RFC 9110 §4.1)."""
_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
"""The byte order marks of UTF-16."""


def essence_of(reply: Reply) -> str:
    """The media type of the reply without parameters, in lower case."""
    return reply.headers.get("content-type", "").partition(";")[0].strip().lower()


def is_json_essence(essence: str) -> bool:
    """Whether this media type is JSON (RFC 6839 §3.1)."""
    return essence == "application/json" or essence.endswith("+json")


def is_in_range(essence: str, declared: str | None) -> bool:
    """Whether the media type is in the declared range (RFC 9110 §12.5.1)."""
    if declared is None:
        return True
    wanted = declared.partition(";")[0].strip().lower()
    if wanted in {"*/*", essence} or (is_json_essence(wanted) and is_json_essence(essence)):
        return True
    kind, _, rest = wanted.partition("/")
    return rest == "*" and essence.startswith(f"{kind}/")


def precision_of(declared: str | None) -> int:
    """How narrow the declared range is. The narrowest one that matches is used."""
    return 0 if declared in {None, "*/*"} else 1 if str(declared).endswith("/*") else 2


def json_of(body: bytes) -> Any:
    """The JSON value. Raises `InvalidReply`."""
    try:
        return jsontext.decode(body, jsontext.REPLY)
    except jsontext.NotJson as error:
        raise InvalidReply(f"The upstream's answer is not valid JSON: {error}.") from error


def object_of(value: Any) -> dict[str, Any]:
    """The result for a JSON value: an object is the result itself."""
    return value if isinstance(value, dict) else {RESULT: value}


def untyped(reply: Reply) -> dict[str, Any] | FileContent:
    """The result for a body that the document does not describe. It never fails.

    The call was made, and may have been a write: its answer is not lost for what it looks like.
    """
    essence = essence_of(reply)
    try:
        if not reply.body:
            return {}
        if is_json_essence(essence):
            return object_of(json_of(reply.body))
        return {"text": text_of(reply)} if essence.startswith("text/") else file_of(reply)
    except InvalidReply:
        return file_of(reply)


def address_of(reply: Reply) -> str:
    """The address of a redirect. Raises `InvalidReply` if it is no absolute HTTP URL."""
    found = reply.headers.get("location", "")
    if len(found) > _MAX_ADDRESS or not _ADDRESS.fullmatch(found):
        raise InvalidReply("The upstream answered with a redirect without an HTTP address.")
    return found


def text_of(reply: Reply) -> str:
    """The text, decoded with the charset of the media type. Raises `InvalidReply`."""
    try:
        return reply.body.decode(_codec_of(reply))
    except UnicodeDecodeError as error:
        raise InvalidReply("The upstream's answer is not valid text.") from error


def _codec_of(reply: Reply) -> str:
    """The codec of the text. Raises `InvalidReply` for a charset that is not known."""
    found = _CHARSET.search(reply.headers.get("content-type", "").lower())
    charset = (found[1] or found[2] or "").strip() if found else ""
    codec = _CODECS.get(charset)
    if codec is None:
        raise InvalidReply(
            "The upstream's answer is text in a charset that the gateway does not decode. "
            f"It decodes {', '.join(sorted(filter(None, _CODECS)))}."
        )
    # Without a mark, the order of the bytes is that of the network (RFC 2781 §4.3).
    return "utf-16-be" if codec == "utf-16" and reply.body[:2] not in _MARKS else codec


def file_of(reply: Reply) -> FileContent:
    """The bytes. Those whose media type is malformed or very long are `OCTETS`."""
    essence = essence_of(reply)
    is_sound = len(essence) <= _MAX_ESSENCE and MEDIA_TYPE.fullmatch(essence)
    return FileContent(media_type=essence if is_sound else OCTETS, data=reply.body)


# Reads replies of vendors as tolerantly as their contracts permit.
#
# Null in an optional member is as no member, and a row that breaks its schema costs that row alone,
# where the contract says which list has rows.

_NULL: Final = "null"


class _Rows(Struct, frozen=True):
    place: str
    validator: Validator

    def told(self, index: int, row: Any) -> str:
        """Where the row is, and what is wrong with it."""
        first = self.validator.violations(row)[0]
        return f"{child(self.place, index)}{first.pointer}: {first.detail}"


class ReplySchema(Validator):
    """The schema of one reply."""

    __slots__ = ("_nulls", "_place", "_rows", "_whole")

    def __init__(self, schema: dict[str, Any], rows: str | None) -> None:
        """`rows`: the pointer to the list of rows in the reply. None: it has none."""
        super().__init__(schema)
        self._whole = schema
        self._place = rows
        # Both are made for the first reply that is not valid.
        self._nulls: AbsentNulls | None = None
        self._rows: _Rows | None = None

    def lenient(self, value: Any) -> tuple[Any, tuple[str, ...]]:
        """`value` as it may be valid, and what was left out of it, each with its place and cause.

        If every row is broken, all stay: then the vendor has changed, and it is an error.
        """
        if self._nulls is None:
            self._nulls = AbsentNulls(self._whole.get("$defs", {}))
            self._rows = None if self._place is None else _rows_of(self._whole, self._place)
        value = self._nulls.without(value, self._whole)
        return value, () if self._rows is None else _sorted_out(value, self._rows)


def _sorted_out(value: Any, rows: _Rows) -> tuple[str, ...]:
    """Remove the broken rows of `value`, unless all are."""
    try:
        found = follow(value, rows.place)
    except NoSuchPlace:
        return ()
    if not isinstance(found, list):
        return ()
    broken = [index for index, each in enumerate(found) if not rows.validator.admits(each)]
    if not broken or len(broken) == len(found):
        return ()
    left_out = tuple(rows.told(index, found[index]) for index in broken)
    for index in reversed(broken):
        del found[index]
    return left_out


def _rows_of(schema: Mapping[str, Any], place: str) -> _Rows | None:
    """The rows of the list at `place`, or None if `schema` declares none."""
    inner: Any = schema
    for step in steps(place):
        properties = inner.get("properties") if isinstance(inner, Mapping) else None
        inner = properties.get(step) if isinstance(properties, Mapping) else None
    items = inner.get("items") if isinstance(inner, Mapping) else None
    if not isinstance(items, Mapping):
        return None
    row = {"$defs": schema["$defs"], **items} if "$defs" in schema else {**items}
    return _Rows(place, Validator(row))


class AbsentNulls:
    """Leaves members that are null out of values of one document's schemas."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._shapes = Shapes(definitions)

    def without(self, value: Any, schema: Schema) -> Any:
        """`value` without each optional member that is null and that `schema` describes without
        null. In a union, a member stays if one branch that describes it admits null."""
        if isinstance(value, dict):
            return self._object(value, schema)
        if isinstance(value, list):
            return [
                self.without(each, _any_of(self._items(schema, index)))
                for index, each in enumerate(value)
            ]
        return value

    def _object(self, value: dict[str, Any], schema: Schema) -> dict[str, Any]:
        required = self._shapes.required(schema)
        parts = [*self._shapes.parts(schema)]
        found: dict[str, Any] = {}
        for name, member in value.items():
            described = [*_members(parts, name)]
            if member is not None:
                found[name] = self.without(member, _any_of(described))
            elif name in required or not described or any(map(self._admits_null, described)):
                found[name] = None
        return found

    def _admits_null(self, schema: Schema) -> bool:
        return _NULL in self._shapes.types(schema)

    def _items(self, schema: Schema, index: int) -> Iterator[Schema]:
        for part in self._shapes.parts(schema):
            first = part.get("prefixItems", ())
            if index < len(first):
                yield first[index]
            elif "items" in part:
                yield part["items"]


def _members(parts: list[Mapping[str, Any]], name: str) -> Iterator[Schema]:
    """The schemas by which `parts` describe a member: by its name, else as one of all others."""
    for part in parts:
        if name in (named := part.get("properties", {})):
            yield named[name]
        elif "additionalProperties" in part and "patternProperties" not in part:
            yield part["additionalProperties"]


def _any_of(schemas: Iterator[Schema] | list[Schema]) -> Schema:
    found = [*schemas]
    if not found:
        return True
    return found[0] if len(found) == 1 else {"anyOf": found}
