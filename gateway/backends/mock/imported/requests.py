"""Checks requests to the mock of an imported document, where that is simple.

The gateway has validated its own requests already. Other callers of a served mock make mistakes:
a missing parameter, a scalar of the wrong type, a JSON body that the schema refuses.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NoReturn
from urllib.parse import parse_qsl, unquote

from gateway.backends.mock.imported.document_request import DocumentRequest
from gateway.backends.mock.imported.schemas import Schemas
from gateway.backends.mock.requests import RequestRefused, typed
from gateway.backends.mock.samples.errors import NoSample
from gateway.backends.wire import WireRequest
from gateway.contract.imported import ImportedBody, ImportedOperation, ImportedParameter
from gateway.contract.mock import MockRefusal
from gateway.contract.values import jsontext
from gateway.contract.values.pointers import pointer_of
from gateway.encoding.forms import FORM

_SCALARS: Final = frozenset({"string", "integer", "number", "boolean", "null"})
_PLAIN: Final = frozenset({"simple", "form"})


class DocumentReader:
    """Reads the requests of one operation."""

    def __init__(
        self, operation: ImportedOperation, schemas: Schemas, secrets: Collection[str]
    ) -> None:
        """`secrets` are the query parameters that contain credentials."""
        self._secrets = secrets
        self._operation = operation
        self._schemas = schemas
        self._inputs = schemas.shapes.properties(operation.input_schema)
        body = operation.body
        self._body = None if body is None else _body_schema(operation, body, self._inputs)

    def read(self, request: WireRequest, path: Mapping[str, str]) -> DocumentRequest:
        """What the request asks for. Raises `RequestRefused` with 400 or 422."""
        target, _, query_text = request.target.partition("?")
        headers = {name.lower(): value for name, value in request.headers}
        pairs = parse_qsl(query_text, keep_blank_values=True)
        public = sorted(pair for pair in pairs if pair[0] not in self._secrets)
        query = _first(pairs)
        parameters = {name: _unstyled(name, text, self._operation) for name, text in path.items()}
        for parameter in self._operation.parameters:
            given = _given(parameter.location, parameters, query, headers)
            self._check(parameter, given)
        return DocumentRequest(
            path=target.rstrip("/"),
            parameters=parameters,
            query=query,
            accept=headers.get("accept", ""),
            body=self._read_body(request, headers),
            fingerprint=f"{self._operation.id} {target} {public} {request.body!r}",
        )

    def _check(self, parameter: ImportedParameter, given: Mapping[str, str]) -> None:
        schema = self._inputs.get(parameter.member, True)
        types = self._schemas.shapes.types(schema)
        is_header = parameter.location == "header"
        text = given.get(parameter.name.lower() if is_header else parameter.name)
        place = f"{parameter.location} parameter {parameter.name}"
        pointer = pointer_of([parameter.location, parameter.name])
        if text is None:
            if parameter.is_required and not _is_spread(parameter, types):
                _refuse(400, f"The {place} is missing.", pointer)
        elif _is_plain(parameter, types) and not self._admits(schema, typed(text, types)):
            _refuse(400, f"The {place} is not valid.", pointer)

    def _admits(self, schema: Any, value: Any) -> bool:
        try:
            return self._schemas.samples(schema).admits(value)
        except NoSample:
            return True

    def _read_body(self, request: WireRequest, headers: Mapping[str, str]) -> Any:
        body = self._operation.body
        if body is None or not request.body:
            if body is not None and body.is_required and not request.body:
                _refuse(400, "The body is missing.", "")
            return None
        essence = headers.get("content-type", "").partition(";")[0].strip().lower()
        if body.kind == "lines":
            self._check_body([_json_of(line) for line in request.body.splitlines()])
            return None
        if essence == FORM and body.kind == "form":
            return self._read_form(request.body)
        is_json = essence == "application/json" or essence.endswith("+json")
        if not is_json or body.kind != "json":
            return None
        value = _json_of(request.body)
        self._check_body(value)
        return value

    def _check_body(self, value: Any) -> None:
        if not self._admits(self._body, value):
            violation = self._schemas.samples(self._body).validator.violations(value)[0]
            _refuse(422, f"The body is not valid: {violation.detail}.", violation.pointer)

    def _read_form(self, body: bytes) -> dict[str, Any]:
        fields = _first(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        known = self._schemas.shapes.properties(self._body)
        types = {name: self._schemas.shapes.types(known.get(name, True)) for name in fields}
        return {name: typed(text, types[name]) for name, text in fields.items()}


def _json_of(text: bytes) -> Any:
    try:
        return jsontext.decode(text)
    except jsontext.NotJson as error:
        _refuse(400, f"The body is not JSON: {error}.", "")


def _refuse(status: int, title: str, path: str) -> NoReturn:
    raise RequestRefused(MockRefusal(status=status, title=title, path=path))


def _body_schema(
    operation: ImportedOperation, body: ImportedBody, inputs: Mapping[str, Any]
) -> Any:
    """The schema of the whole body. Unknown members are allowed, as documents do by default."""
    if body.member is not None:
        return inputs.get(body.member, True)
    needed = operation.input_schema.get("required", ())
    return {
        "type": "object",
        "required": [name for member, name in body.members.items() if member in needed],
        "properties": {name: inputs.get(member, True) for member, name in body.members.items()},
    }


def _given(
    location: str,
    path: Mapping[str, str],
    query: Mapping[str, str],
    headers: Mapping[str, str],
) -> Mapping[str, str]:
    match location:
        case "path":
            return path
        case "header":
            return headers
        case "cookie":
            return dict(_cookies(headers.get("cookie", "")))
    return query


def _cookies(text: str) -> Iterator[tuple[str, str]]:
    for pair in text.split(";"):
        name, _, value = pair.strip().partition("=")
        yield name, unquote(value)


def _is_spread(parameter: ImportedParameter, types: frozenset[str]) -> bool:
    """Whether the value may be sent under other names than the parameter's own."""
    is_scalar = bool(types) and "object" not in types and parameter.location != "querystring"
    return not is_scalar or parameter.style == "deepObject"


def _is_plain(parameter: ImportedParameter, types: frozenset[str]) -> bool:
    """Whether the text of the value is the value of a scalar."""
    is_styled = parameter.media_type is not None or parameter.style not in _PLAIN
    return bool(types) and types <= _SCALARS and not is_styled


def _unstyled(name: str, text: str, operation: ImportedOperation) -> str:
    """The value of a path parameter, without the prefix of its style."""
    styles = {each.name: each.style for each in operation.parameters if each.location == "path"}
    match styles.get(name):
        case "label":
            return text.removeprefix(".")
        case "matrix":
            return text.removeprefix(f";{name}=")
    return text


def _first(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """The first value of each name."""
    return dict(reversed(pairs))
