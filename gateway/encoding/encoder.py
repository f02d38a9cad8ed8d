"""The HTTP request of a call, from its arguments."""

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote, unquote

from msgspec import UNSET, Struct, UnsetType

from gateway.contract.imported import ImportedBody, ImportedOperation, ImportedParameter
from gateway.contract.upstream import PATH_PARAMETER, EncodedRequest
from gateway.contract.values import jsontext
from gateway.contract.values.files import OCTETS
from gateway.contract.values.pointers import child
from gateway.encoding.bodies import (
    FORM,
    Entry,
    FormBody,
    MultipartBody,
    concrete,
    joined,
    with_charset,
)
from gateway.encoding.replies.content import accept_of
from gateway.encoding.shapes import Schema, Shapes
from gateway.encoding.styles import (
    ALONE,
    HeaderFields,
    Joint,
    NamedValue,
    Neighbours,
    joint_of,
    neighbours_of,
)
from gateway.encoding.texts import (
    MEDIA_TYPE,
    PATH,
    QUERY,
    RESERVED_QUERY,
    bytes_of,
    content_text,
    essence_of,
    path_text,
    percent,
    refusal,
    refuse_empty,
    text_of,
)
from gateway.errors import ContractError, InvalidArguments, MalformedRequest

_LITERAL_SAFE: Final = "!$&'()*+,;=:@%"
"""What the fixed text of a template may contain (RFC 3986 §3.3). Templates are percent-encoded."""

_PREFIXES: Final = {"label": ".", "matrix": ";"}


class PathValue(Struct, frozen=True):
    """One parameter in the path."""

    parameter: ImportedParameter
    joint: Joint
    pointer: str

    @property
    def prefix(self) -> str:
        """The character that each expansion begins with."""
        is_content = self.parameter.media_type is not None
        return "" if is_content else _PREFIXES.get(self.parameter.style, "")

    def text(self, arguments: Mapping[str, Any]) -> str:
        """The expansion of the parameter (RFC 6570 §3.2.2, §3.2.5, §3.2.7).

        Raises `InvalidArguments` and `MalformedRequest`.
        """
        member = self.parameter.member
        if member not in arguments:
            raise InvalidArguments.at(self.pointer, "required", "is required")
        value = arguments[member]
        if self.parameter.media_type is not None:
            content = content_text(value, self.parameter.media_type, self.pointer)
            return path_text(content, self.pointer)
        if value is None or value in ([], {}):
            raise refusal(self.pointer, "it is a part of the address: give it a value")
        if self.parameter.style == "matrix":
            return self._matrix(value)
        return self.prefix + self.joint.joined(value, self.pointer)

    def _matrix(self, value: Any) -> str:
        name = path_text(self.parameter.name, self.pointer)
        if self.parameter.explode and type(value) is dict:
            members = self.joint.members(value, self.pointer)
            return "".join(_matrix_pair(key, text) for key, text in members)
        if self.parameter.explode and type(value) is list:
            return "".join(
                _matrix_pair(name, text) for text in self.joint.items(value, self.pointer)
            )
        return _matrix_pair(name, self.joint.joined(value, self.pointer))


class PathSegment(Struct, frozen=True):
    """What is between two slashes. Texts and values alternate, beginning and ending with a text."""

    texts: tuple[str, ...]
    values: tuple[PathValue, ...]

    def text(self, arguments: Mapping[str, Any]) -> str:
        """The encoded segment. Raises `InvalidArguments` and `MalformedRequest`.

        The segments `.` and `..` have a meaning of their own (RFC 3986 §5.2.4), which percent-
        encoding would not change.
        """
        if not self.values:
            return self.texts[0]
        found = [value.text(arguments) for value in self.values]
        if "" in found:
            raise MalformedRequest(_unusable(self.values[found.index("")]))
        if len(found) > 1:
            self._refuse_ambiguity(found)
        later = zip(found, self.texts[1:], strict=True)
        segment = self.texts[0] + "".join([f"{text}{after}" for text, after in later])
        if unquote(segment) in {".", ".."}:
            raise MalformedRequest(_unusable(self.values[0]))
        return segment

    def _refuse_ambiguity(self, found: list[str]) -> None:
        """Raise `InvalidArguments` if the segment could also be divided into other values."""
        for index, separator in enumerate(self.texts[1:-1]):
            after = self.values[index + 1]
            mark = separator + after.prefix
            both = f"{found[index]}{separator}{found[index + 1]}"
            place = len(found[index])
            if not mark or both.find(mark) != place or both.rfind(mark) != place:
                detail = "it contains the text that separates it from another argument"
                raise refusal(after.pointer, detail)


class PathTemplate:
    """A compiled path template (OpenAPI 3.2, Path Templating).

    Raises `ContractError` if the template and the path parameters do not match.
    """

    def __init__(self, path: str, parameters: tuple[ImportedParameter, ...]) -> None:
        known = {each.name: each for each in parameters if each.location == "path"}
        self._segments = tuple(_segment(text, known, path) for text in path.split("/")[1:])

    def text(self, arguments: Mapping[str, Any]) -> str:
        """The encoded path. Raises `InvalidArguments` and `MalformedRequest`."""
        return "/" + "/".join([segment.text(arguments) for segment in self._segments])


def _segment(text: str, known: Mapping[str, ImportedParameter], path: str) -> PathSegment:
    names = PATH_PARAMETER.findall(text)
    texts = tuple(
        quote(part, safe=_LITERAL_SAFE) for part in PATH_PARAMETER.sub("\0", text).split("\0")
    )
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ContractError(f"{path}: {{{unknown[0]}}} is not a path parameter of the operation.")
    return PathSegment(texts, tuple(_value(known[name]) for name in names))


def _value(parameter: ImportedParameter) -> PathValue:
    delimiter, between = ",", ","
    if parameter.explode:
        between = "="
        delimiter = {"label": ".", "matrix": ";"}.get(parameter.style, ",")
    joint = Joint(PATH, delimiter, between)
    return PathValue(parameter, joint, child("", parameter.member))


def _matrix_pair(name: str, text: str) -> str:
    return f";{name}={text}" if text else f";{name}"


def _unusable(value: PathValue) -> str:
    return (
        "An argument cannot be used in the address of the upstream, because it is empty or a "
        f"dot segment: {value.pointer}."
    )


_DEFAULTS: Final = {
    "json": "application/json",
    "form": FORM,
    "multipart": "multipart/form-data",
    "text": "text/plain",
    "binary": OCTETS,
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


class QueryValue(Struct, frozen=True):
    """One `query` parameter."""

    parameter: ImportedParameter
    named: NamedValue
    pointer: str

    def pairs(self, value: Any) -> list[tuple[str, str]]:
        """Its names and texts. Raises `InvalidArguments`."""
        if self.parameter.media_type is None:
            return self.named.pairs(value, self.pointer)
        text = content_text(value, self.parameter.media_type, self.pointer)
        return [(percent(self.parameter.name, self.pointer), percent(text, self.pointer))]


class Query:
    """The compiled query of an operation."""

    def __init__(
        self,
        parameters: tuple[ImportedParameter, ...],
        schemas: Mapping[str, Schema],
        shapes: Shapes,
        fixed: Iterable[tuple[str, str]] = (),
    ) -> None:
        """`schemas` has the schema of each member of the arguments. `fixed` is always sent."""
        self._fixed = [f"{percent(name, '')}={percent(text, '')}" for name, text in fixed]
        own = tuple(each for each in parameters if each.location == "query")
        by_name = {each.name: schemas.get(each.member, True) for each in own}
        beside = neighbours_of(own, by_name, shapes)
        self._values = tuple(_query_value(each, beside.get(each.name, ALONE)) for each in own)
        self._whole = next((each for each in parameters if each.location == "querystring"), None)
        self._form = FormBody(self._whole.fields if self._whole is not None else ())

    def text(self, arguments: Mapping[str, Any]) -> str:
        """The query with its question mark, or nothing. Raises `InvalidArguments`."""
        if self._whole is not None and self._whole.member in arguments:
            return self._whole_text(self._whole, arguments[self._whole.member])
        pairs = self._fixed + [
            f"{name}={text}"
            for value in self._values
            if value.parameter.member in arguments
            for name, text in value.pairs(arguments[value.parameter.member])
        ]
        return f"?{'&'.join(pairs)}" if pairs else ""

    def _whole_text(self, parameter: ImportedParameter, value: Any) -> str:
        pointer = child("", parameter.member)
        media_type = parameter.media_type or FORM
        if essence_of(media_type) != FORM:
            return f"?{percent(content_text(value, media_type, pointer), pointer)}"
        refuse_empty(value, pointer)
        entries = [(name, item, child(pointer, name)) for name, item in value.items()]
        return f"?{self._form.text(entries)}"


def _query_value(parameter: ImportedParameter, beside: Neighbours) -> QueryValue:
    escapes = RESERVED_QUERY if parameter.allow_reserved else QUERY
    named = NamedValue(
        name=parameter.name,
        style=parameter.style,
        explode=parameter.explode,
        joint=joint_of(parameter.style, escapes),
        neighbours=beside,
        repeats_lists=True,
    )
    return QueryValue(parameter, named, child("", parameter.member))


class Encoder:
    """Encodes the calls of one imported operation (OpenAPI 3.1 and 3.2, Parameter Object).

    Raises `ContractError` if the path template and the parameters of the operation do not match.
    """

    def __init__(
        self, operation: ImportedOperation, definitions: Mapping[str, Any] | None = None
    ) -> None:
        """`definitions` are those of the connector, to which the input schema refers."""
        shapes = Shapes(definitions or {})
        schemas = shapes.properties(operation.input_schema)
        own = operation.parameters
        self._required = [each.member for each in own if each.is_required]
        self._path = PathTemplate(operation.path, own)
        self._query = Query(own, schemas, shapes, operation.fixed_query)
        self._fields = HeaderFields(own, schemas, shapes)
        accept = accept_of(operation.replies)
        self._accept = (("Accept", accept),) if accept else ()
        self._body = Body(operation.body, schemas, shapes) if operation.body is not None else None

    def encode(self, arguments: Mapping[str, Any]) -> EncodedRequest:
        """The request for `arguments`, which match the operation's input schema.

        A server that decodes it by the document gets the same arguments. Whatever the declared
        serialization cannot express is refused: `InvalidArguments` names the argument by its
        pointer. Raises `MalformedRequest` for text that may not be sent in any encoding: empty and
        dot segments and control characters in the path, and headers that are not printable ASCII.
        """
        for member in self._required:
            if member not in arguments:
                raise InvalidArguments.at(child("", member), "required", "is required")
        content = self._body.encode(arguments) if self._body is not None else None
        media_type, body = content if content is not None else (None, b"")
        return EncodedRequest(
            target=self._path.text(arguments) + self._query.text(arguments),
            headers=(*self._accept, *self._fields.fields(arguments)),
            media_type=media_type,
            body=body,
        )
