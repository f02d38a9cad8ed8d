"""The arguments of a call, from its HTTP request and the description of the operation.

Written from OpenAPI 3.2 (Parameter Object, Encoding Object, Appendices B to E), RFC 3986, RFC 6570,
RFC 6265, RFC 7578 and WHATWG URL §5.1 alone. It shares no code with `gateway.encoding`, so that an
error in one of them shows as a difference.
"""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from gateway.contract.imported import BodyField, ImportedOperation, ImportedParameter
from tests.decoding.multiparts import ReceivedPart, parts
from tests.decoding.pairs import COOKIE, RAW, URL, Field, delimited, read, scalar, split
from tests.decoding.schemas import SCALARS, Schemas, Undecodable

FORM = "application/x-www-form-urlencoded"


def lines(body: bytes) -> list[Any]:
    """The values of NDJSON: each line ends with a line feed, which no JSON text needs inside."""
    *whole, rest = body.split(b"\n")
    if rest:
        raise Undecodable("the last line has no end")
    return [json.loads(line) for line in whole]


class Decoder:
    """Decodes the requests of one operation."""

    def __init__(self, operation: ImportedOperation, schemas: Schemas) -> None:
        self._operation = operation
        self._schemas = schemas

    def decode(
        self, target: str, headers: Sequence[tuple[str, str]], body: bytes | None
    ) -> dict[str, Any]:
        """The arguments. `headers` include Content-Type if there is a body.

        Raises `Undecodable` for a request that the operation does not describe.
        """
        received = {name.lower(): value for name, value in headers}
        path, _, query = target.partition("?")
        arguments = self._path(path) | self._query(query) | self._headers(received)
        if "content-type" in received:
            if body is None:
                raise Undecodable("there is a Content-Type and no body")
            arguments |= self._body(body, received["content-type"])
        return arguments

    def _schema(self, member: str) -> Any:
        return self._schemas.member(self._operation.input_schema, member)

    def _of(self, location: str) -> list[ImportedParameter]:
        return [each for each in self._operation.parameters if each.location == location]

    def _path(self, path: str) -> dict[str, Any]:
        sent, template = path.split("/"), self._operation.path.split("/")
        if len(sent) != len(template):
            raise Undecodable("the path has another number of segments than its template")
        known = {each.name: each for each in self._of("path")}
        arguments: dict[str, Any] = {}
        for text, pattern in zip(sent, template, strict=True):
            names = re.findall(r"\{([^}]*)\}", pattern)
            if not names:
                if unquote(text) != unquote(pattern):
                    raise Undecodable("the path has another fixed segment than its template")
                continue
            if text in {".", "..", ""}:
                raise Undecodable("a segment would be removed from the path")
            found = re.fullmatch(_segment_pattern(pattern, known), text)
            if found is None:
                raise Undecodable("a segment does not match its template")
            for name, expansion in zip(names, found.groups(), strict=True):
                arguments[known[name].member] = self._expansion(known[name], expansion)
        return arguments

    def _expansion(self, parameter: ImportedParameter, text: str) -> Any:
        schema = self._schema(parameter.member)
        if parameter.media_type is not None:
            return self._content(unquote(text), parameter.media_type, schema)
        if parameter.style == "matrix":
            return self._matrix(parameter, text, schema)
        delimiter, between = ",", "=" if parameter.explode else ","
        if parameter.style == "label":
            if not text.startswith("."):
                raise Undecodable("a label has no dot")
            text = text[1:]
            delimiter = "." if parameter.explode else ","
            kinds = self._schemas.kinds(schema)
            if kinds <= SCALARS | {"null"}:
                return scalar(unquote(text), schema, self._schemas)
        return delimited(text, schema, (delimiter, between), unquote, self._schemas)

    def _matrix(self, parameter: ImportedParameter, text: str, schema: Any) -> Any:
        if not text.startswith(";"):
            raise Undecodable("a matrix parameter has no semicolon")
        pairs = split(text[1:], ";", unquote)
        if not parameter.explode:
            ((name, value),) = pairs
            if name != parameter.name:
                raise Undecodable("a matrix parameter has another name")
            return delimited(value, schema, (",", ","), unquote, self._schemas)
        field = Field(parameter.name, schema, "form", explode=True)
        return read([field], pairs, COOKIE, self._schemas)[parameter.name]

    def _query(self, query: str) -> dict[str, Any]:
        for whole in self._of("querystring"):
            return {whole.member: self._whole_query(whole, query)} if query else {}
        fields = [self._field(each) for each in self._of("query")]
        members = {each.name: each.member for each in self._of("query")}
        values = read(fields, self._without_fixed(query), URL, self._schemas)
        return {members[name]: value for name, value in values.items()}

    def _without_fixed(self, query: str) -> list[tuple[str, str]]:
        """The pairs of the query without those that the document writes into the path."""
        pairs = [*split(query, "&", URL.decoded)]
        for name, value in self._operation.fixed_query:
            sent = [each for each in pairs if each[0] == name and URL.decoded(each[1]) == value]
            if not sent:
                raise Undecodable(f"{name} of the path is not in the query")
            pairs.remove(sent[0])
        return pairs

    def _whole_query(self, parameter: ImportedParameter, query: str) -> Any:
        schema = self._schema(parameter.member)
        if parameter.media_type != FORM:
            return self._content(unquote(query), parameter.media_type or "", schema)
        return self._form(query, parameter.fields, schema)

    def _field(self, parameter: ImportedParameter) -> Field:
        schema = self._schema(parameter.member)
        if parameter.media_type is not None:
            return Field(
                parameter.name, schema, None, media_type=parameter.media_type, is_whole=True
            )
        return Field(parameter.name, schema, parameter.style, parameter.explode)

    def _headers(self, received: Mapping[str, str]) -> dict[str, Any]:
        arguments = {
            each.member: self._header(each, received[each.name.lower()])
            for each in self._of("header")
            if each.name.lower() in received
        }
        cookies = self._of("cookie")
        pairs = split(received.get("cookie", ""), "; ", str)
        for syntax, is_raw in ((RAW, True), (COOKIE, False)):
            own = [each for each in cookies if (each.style == "cookie") == is_raw]
            names = {name for each in own for name in self._cookie_names(each)}
            values = read(
                [self._field(each) for each in own],
                [pair for pair in pairs if pair[0] in names],
                syntax,
                self._schemas,
            )
            arguments |= {each.member: values[each.name] for each in own if each.name in values}
        return arguments

    def _cookie_names(self, parameter: ImportedParameter) -> set[str]:
        names = {parameter.name}
        if parameter.explode and parameter.media_type is None:
            names |= self._schemas.declared_names(self._schema(parameter.member))
        return names

    def _header(self, parameter: ImportedParameter, text: str) -> Any:
        schema = self._schema(parameter.member)
        if parameter.media_type is not None:
            return self._content(text, parameter.media_type, schema)
        if self._schemas.kinds(schema) <= SCALARS | {"null"}:
            return scalar(text, schema, self._schemas)
        between = "=" if parameter.explode else ","
        return delimited(text, schema, (",", between), str, self._schemas)

    def _content(self, text: str, media_type: str, schema: Any) -> Any:
        return json.loads(text) if "json" in media_type else scalar(text, schema, self._schemas)

    def _body(self, body: bytes, content_type: str) -> dict[str, Any]:
        described = self._operation.body
        if described is None:
            raise Undecodable("there is a body, and the operation has none")
        schema = self._schema(described.member) if described.member else None
        match described.kind:
            case "json":
                value: Any = json.loads(body)
            case "text":
                value = scalar(body.decode(), schema, self._schemas)
            case "binary":
                value = base64.b64encode(body).decode()
                named = described.media_type_member
                given = {} if named is None else {named: content_type.partition(";")[0]}
                return {**self._placed(value), **given}
            case "lines":
                value = lines(body)
            case "form":
                value = self._form(body.decode("ascii"), described.fields, schema)
            case "multipart":
                return self._multipart(parts(body, content_type), schema)
        return self._placed(value)

    def _placed(self, value: Any) -> dict[str, Any]:
        """The body's value in the arguments."""
        described = self._operation.body
        assert described is not None
        if described.member is not None:
            return {described.member: value}
        members = {name: member for member, name in described.members.items()}
        return {members[name]: item for name, item in value.items()}

    def _body_schema(self, name: str, schema: Any) -> Any:
        """The schema of one member of the body."""
        if schema is not None:
            return self._schemas.member(schema, name)
        described = self._operation.body
        assert described is not None
        member = next((each for each, own in described.members.items() if own == name), None)
        return True if member is None else self._schema(member)

    def _form(self, text: str, fields: Sequence[BodyField], schema: Any) -> dict[str, Any]:
        pairs = split(text, "&", URL.decoded)
        return read(
            self._body_fields(fields, [name for name, _ in pairs], schema),
            pairs,
            URL,
            self._schemas,
        )

    def _body_fields(
        self, fields: Sequence[BodyField], names: Sequence[str], schema: Any
    ) -> list[Field]:
        """The declared fields, and one for each other name."""
        known = [
            Field(
                each.name,
                self._body_schema(each.name, schema),
                each.style,
                each.explode,
                each.media_type,
            )
            for each in fields
        ]
        styled = {
            name
            for each in known
            if each.explode and each.style not in {None, "deepObject"}
            for name in self._schemas.declared_names(each.schema)
        }
        prefixes = {each.name for each in known}
        others = dict.fromkeys(
            name for name in names if name not in styled and name.partition("[")[0] not in prefixes
        )
        return known + [Field(name, self._body_schema(name, schema), None) for name in others]

    def _multipart(self, received: Sequence[ReceivedPart], schema: Any) -> dict[str, Any]:
        described = self._operation.body
        assert described is not None
        fields = {each.name: each for each in described.fields}
        styled = [each for each in described.fields if each.style is not None]
        texts = [part for part in received if self._is_styled(part.name, styled, schema)]
        values: dict[str, Any] = read(
            self._body_fields(styled, [], schema),
            [(part.name, part.content.decode()) for part in texts],
            RAW,
            self._schemas,
        )
        arguments: dict[str, Any] = {}
        for name in dict.fromkeys(part.name for part in received if part not in texts):
            own = [part for part in received if part.name == name]
            field = fields.get(name) or BodyField(name=name)
            values[name] = self._part_value(own, field, self._body_schema(name, schema))
            arguments |= _filenames(field, own)
        for part in received:
            for header in fields[part.name].headers if part.name in fields else ():
                if header.name.lower() in part.headers:
                    text = part.headers[header.name.lower()]
                    arguments[header.member] = self._header(header, text)
        return arguments | self._placed(values)

    def _is_styled(self, name: str, styled: Sequence[BodyField], schema: Any) -> bool:
        return any(
            name.partition("[")[0] == each.name
            or (
                each.explode
                and each.style != "deepObject"
                and name in self._schemas.declared_names(self._body_schema(each.name, schema))
            )
            for each in styled
        )

    def _part_value(self, own: Sequence[ReceivedPart], field: BodyField, schema: Any) -> Any:
        kinds = self._schemas.kinds(schema)
        element = self._schemas.element(schema)
        is_list = "array" in kinds and (len(own) > 1 or not kinds - {"array", "null"})
        if is_list:
            return [self._item(part, field, element) for part in own]
        (part,) = own
        single = self._item(part, field, schema)
        if "array" in kinds:
            return self._schemas.first([single, [self._item(part, field, element)]], schema)
        return single

    def _item(self, part: ReceivedPart, field: BodyField, schema: Any) -> Any:
        if field.is_binary and (part.filename is not None or not field.has_values):
            return base64.b64encode(part.content).decode()
        if "json" in part.headers.get("content-type", "text/plain"):
            return json.loads(part.content)
        return scalar(part.content.decode(), schema, self._schemas)


def _segment_pattern(pattern: str, known: Mapping[str, ImportedParameter]) -> str:
    """The regular expression of a segment with parameters."""
    pieces = re.split(r"\{([^}]*)\}", pattern)
    starts = {"label": r"\.", "matrix": ";"}
    return "".join(
        f"({starts.get(known[piece].style, '')}.*?)" if index % 2 else re.escape(piece)
        for index, piece in enumerate(pieces)
    )


def _filenames(field: BodyField, own: Sequence[ReceivedPart]) -> dict[str, Any]:
    """The argument with the names of the files. Files without one have that of their member."""
    names = [each.filename for each in own if each.filename is not None or not field.has_values]
    while names and names[-1] == field.name:
        names.pop()
    if field.filename_member is None or not names:
        return {}
    return {field.filename_member: names if field.is_list else names[0]}
