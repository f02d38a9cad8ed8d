"""Finds the operation of a request to a mock, and reads its arguments.

By a contract, everything is checked. By an imported document, what is simple: the gateway has
validated its own requests already. Other callers of a served mock make mistakes: a missing
parameter, a scalar of the wrong type, a JSON body that the schema refuses.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Generic, NoReturn, TypeVar
from urllib.parse import parse_qsl, unquote

from msgspec import Struct
from msgspec.structs import replace

from gateway.backends.wire import WireRequest
from gateway.contract.imported import ImportedBody, ImportedOperation, ImportedParameter
from gateway.contract.mock import MockRefusal, MockRequest
from gateway.contract.schemas.flattening import NoSample
from gateway.contract.schemas.samples import Schemas
from gateway.contract.upstream import PATH_PARAMETER, UpstreamOperation
from gateway.contract.values import jsontext
from gateway.contract.values.pointers import pointer_of
from gateway.contract.values.schema import Validator
from gateway.encoding.bodies import FORM
from gateway.encoding.shapes import Shapes

_INTEGER: Final = re.compile(r"-?[0-9]{1,19}")
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
_BOOLEANS: Final = {"true": True, "false": False}


class RequestRefused(Exception):
    """The contract does not allow the request."""

    def __init__(self, refusal: MockRefusal, *, allow: Iterable[str] = ()) -> None:
        super().__init__(refusal.title)
        self.refusal = refusal
        self.allow = tuple(allow)
        """The methods of the path, if the method was wrong."""


class _Parameter(Struct, frozen=True):
    """An OpenAPI Parameter Object with its compiled schema."""

    name: str
    location: str
    """`path`, `query` or `header`."""
    is_required: bool
    types: tuple[str, ...]
    separator: str | None
    """The text between array items. None for scalars, and for arrays that repeat the name."""
    validator: Validator
    is_deep: bool = False
    """Whether its members have names in brackets, which are not put together again."""

    def read(self, texts: list[str]) -> Any:
        """The value that `texts` encode. Raises `RequestRefused`."""
        if "array" in self.types:
            value: Any = texts if self.separator is None else texts[0].split(self.separator)
        else:
            value = typed(texts[0], self.types) if len(texts) == 1 else None
        if not self.validator.admits(value):
            _refuse(400, "A parameter is not valid.", self.name)
        return value


class RequestReader:
    """Reads the requests of one operation. Ignores the query parameters `ignored`: credentials.

    `is_open`: other query parameters are filters by columns of a table.
    """

    def __init__(
        self, operation: UpstreamOperation, ignored: Collection[str] = (), *, is_open: bool = False
    ) -> None:
        self._id = operation.id
        self._is_open = is_open
        self._parameters = tuple(map(_parameter, operation.parameters))
        self._ignored = ignored
        self._takes_form = operation.takes_form
        self._is_body_required = operation.is_body_required
        self._is_styled = bool(operation.encoding)
        schema = operation.request_schema
        self._body = None if schema is None else Validator(schema)
        shapes = Shapes((schema or {}).get("$defs", {}))
        members = shapes.properties(schema or {})
        self._types = {name: shapes.types(each) for name, each in members.items()}
        self._items = {name: shapes.types(shapes.items(each)) for name, each in members.items()}

    def read(self, request: WireRequest, path: Mapping[str, str], here: MockRequest) -> MockRequest:
        """`here` with the arguments of `request`. Raises `RequestRefused` with 400 or 422."""
        headers = {name.lower(): value for name, value in request.headers}
        given = {
            "path": {name: [text] for name, text in path.items()},
            "query": self._query(request.target),
            "header": {name: [value] for name, value in headers.items()},
        }
        values: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "header": {}}
        for parameter in self._parameters:
            if parameter.is_deep:
                _drop_deep(parameter, given["query"])
                continue
            texts = given[parameter.location].pop(_key_of(parameter), None)
            if texts is not None:
                values[parameter.location][parameter.name] = parameter.read(texts)
            elif parameter.is_required:
                _refuse(400, "A parameter is missing.", parameter.name)
        if given["query"] and not self._is_open:
            _refuse(400, "A parameter is not known.", min(given["query"]))
        body = self._read_body(request, headers)
        content = [self._id, values["path"], values["query"], body]
        content += [given["query"]] if given["query"] else []
        return replace(
            here,
            operation=self._id,
            target=request.target.partition("?")[0].rstrip("/"),
            path=values["path"],
            query=values["query"],
            headers=headers,
            body=body,
            filters=given["query"],
            fingerprint=json.dumps(content, sort_keys=True),
        )

    def _query(self, target: str) -> dict[str, list[str]]:
        grouped = _grouped(target.partition("?")[2])
        return {name: texts for name, texts in grouped.items() if name not in self._ignored}

    def _read_body(self, request: WireRequest, headers: Mapping[str, str]) -> Any:
        if self._body is None:
            if request.body:
                _refuse(400, "A body is not expected.")
            return None
        if not request.body and "content-type" not in headers and not self._is_body_required:
            return None
        media_type = FORM if self._takes_form else "application/json"
        if headers.get("content-type", "").partition(";")[0].strip().lower() != media_type:
            _refuse(400, f"The body must be {media_type}.")
        text = request.body or b""
        body = self._form(text) if self._takes_form else _json(text)
        # Members in brackets are not put together again, so such a form is not checked.
        if not self._is_styled and not self._body.admits(body):
            violation = self._body.violations(body)[0]
            _refuse(422, f"The body is not valid: {violation.detail}.", violation.pointer)
        return body

    def _form(self, text: bytes) -> dict[str, Any]:
        """The fields of the form, each with the type that the contract declares."""
        try:
            grouped = _grouped(text.decode("ascii"))
        except UnicodeDecodeError:
            _refuse(400, "The body is not a form.")
        return {name: self._field(name, texts) for name, texts in grouped.items()}

    def _field(self, name: str, texts: list[str]) -> Any:
        types = self._types.get(name, frozenset({"string"}))
        if "array" in types or len(texts) > 1:
            return [typed(text, self._items.get(name, types)) for text in texts]
        if "object" in types and texts[0].startswith("{"):
            return _json(texts[0].encode())
        return typed(texts[0], types)


def _json(text: bytes) -> Any:
    try:
        return jsontext.decode(text)
    except jsontext.NotJson as error:
        _refuse(400, f"The body is not JSON: {error}.")


def _refuse(status: int, title: str, path: str = "") -> NoReturn:
    raise RequestRefused(MockRefusal(status=status, title=title, path=path))


def _parameter(declaration: Mapping[str, Any]) -> _Parameter:
    """The parameter, with the default style of its location: `form` in queries, else `simple`."""
    schema = declaration.get("schema", True)
    declared = schema.get("type", ()) if isinstance(schema, dict) else ()
    is_joined = declaration["in"] != "query" or not declaration.get("explode", True)
    return _Parameter(
        declaration["name"],
        declaration["in"],
        declaration.get("required", False),
        (declared,) if isinstance(declared, str) else tuple(declared),
        "," if is_joined else None,
        Validator(schema),
        declaration.get("style") == "deepObject",
    )


def _drop_deep(parameter: _Parameter, query: dict[str, list[str]]) -> None:
    """Remove the pairs of `parameter`. Raises `RequestRefused` if there are none and one is
    required."""
    own = [name for name in query if name.partition("[")[0] == parameter.name]
    for name in own:
        del query[name]
    if parameter.is_required and not own:
        _refuse(400, "A parameter is missing.", parameter.name)


def _key_of(parameter: _Parameter) -> str:
    return parameter.name.lower() if parameter.location == "header" else parameter.name


def _grouped(query: str) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        grouped.setdefault(name, []).append(value)
    return grouped


def typed(text: str, types: Collection[str]) -> Any:
    """`text` as an integer, a number or a boolean, if `types` allow it; else `text` itself."""
    if "integer" in types and _INTEGER.fullmatch(text):
        return int(text)
    if "number" in types and _NUMBER.fullmatch(text):
        return float(text)
    if "boolean" in types and text in _BOOLEANS:
        return _BOOLEANS[text]
    return text


_T = TypeVar("_T", UpstreamOperation, ImportedOperation)


class Router(Generic[_T]):
    """Finds operations of one upstream by method and path."""

    def __init__(self, operations: Iterable[_T]) -> None:
        self._routes: dict[int, list[_Route[_T]]] = {}
        # Concrete segments come first (OpenAPI 3.1.1 §4.8.8.2), then those with more fixed text:
        # `/rows/new` before `/rows/{id}:copy` before `/rows/{id}`.
        for route in sorted(map(_route, operations), key=lambda route: route.rank):
            self._routes.setdefault(len(route.segments), []).append(route)

    def find(self, method: str, target: str) -> tuple[_T, dict[str, str]]:
        """The operation and its path parameters as text. Raises `RequestRefused` (404 or 405)."""
        segments = target.partition("?")[0].split("/")[1:]
        found: dict[str, tuple[_T, dict[str, str]]] = {}
        for route in self._routes.get(len(segments), ()):
            parameters = _match(route, segments)
            if parameters is not None:
                found.setdefault(route.operation.method, (route.operation, parameters))
        if not found:
            _refuse(404, "Nothing exists at this path.")
        if method not in found:
            refusal = MockRefusal(status=405, title="The method is not allowed here.")
            raise RequestRefused(refusal, allow=sorted(found))
        return found[method]


class _Route(Struct, Generic[_T], frozen=True):
    operation: _T
    segments: tuple[tuple[Sequence[str], re.Pattern[str]], ...]
    """For each segment, the names of its values, and what matches its text with a group for each.
    """
    rank: tuple[tuple[bool, int], ...]
    """For each segment, whether it has values, and minus the number of its other characters."""


def _route(operation: _T) -> _Route[_T]:
    templates = operation.path.split("/")[1:]
    rank = tuple(
        (PATH_PARAMETER.search(each) is not None, -len(PATH_PARAMETER.sub("", each)))
        for each in templates
    )
    return _Route(operation, tuple(map(_segment, templates)), rank)


def _segment(template: str) -> tuple[Sequence[str], re.Pattern[str]]:
    texts = PATH_PARAMETER.split(template)
    pattern = "".join("(.+)" if i % 2 else re.escape(text) for i, text in enumerate(texts))
    return texts[1::2], re.compile(pattern, re.DOTALL)


def _match(route: _Route[_T], segments: list[str]) -> dict[str, str] | None:
    parameters: dict[str, str] = {}
    for (names, pattern), segment in zip(route.segments, segments, strict=True):
        # A client may encode a segment without values. Beside values, fixed text is not encoded.
        found = pattern.fullmatch(segment if names else unquote(segment))
        if found is None:
            return None
        parameters.update(zip(names, map(unquote, found.groups()), strict=True))
    return parameters


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
        self._inputs = schemas.properties(operation.input_schema)
        body = operation.body
        self._body = None if body is None else _body_schema(operation, body, self._inputs)

    def read(self, request: WireRequest, path: Mapping[str, str], here: MockRequest) -> MockRequest:
        """`here` with the arguments of `request`. Raises `RequestRefused` with 400 or 422."""
        target, _, query_text = request.target.partition("?")
        headers = {name.lower(): value for name, value in request.headers}
        pairs = parse_qsl(query_text, keep_blank_values=True)
        public = sorted(pair for pair in pairs if pair[0] not in self._secrets)
        query = _first(pairs)
        parameters = {name: _unstyled(name, text, self._operation) for name, text in path.items()}
        for parameter in self._operation.parameters:
            given = _given(parameter.location, parameters, query, headers)
            self._check(parameter, given)
        return replace(
            here,
            operation=self._operation.id,
            target=target.rstrip("/"),
            path=parameters,
            query=query,
            headers=headers,
            body=self._read_body(request, headers),
            fingerprint=f"{self._operation.id} {target} {public} {request.body!r}",
        )

    def _check(self, parameter: ImportedParameter, given: Mapping[str, str]) -> None:
        schema = self._inputs.get(parameter.member, True)
        types = self._schemas.types(schema)
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
                _refuse(400, "The body is missing.")
            return None
        essence = headers.get("content-type", "").partition(";")[0].strip().lower()
        if body.kind == "lines":
            self._check_body([_json(line) for line in request.body.splitlines()])
            return None
        if essence == FORM and body.kind == "form":
            return self._read_form(request.body)
        is_json = essence == "application/json" or essence.endswith("+json")
        if not is_json or body.kind != "json":
            return None
        value = _json(request.body)
        self._check_body(value)
        return value

    def _check_body(self, value: Any) -> None:
        if not self._admits(self._body, value):
            violation = self._schemas.samples(self._body).validator.violations(value)[0]
            _refuse(422, f"The body is not valid: {violation.detail}.", violation.pointer)

    def _read_form(self, body: bytes) -> dict[str, Any]:
        fields = _first(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        known = self._schemas.properties(self._body)
        types = {name: self._schemas.types(known.get(name, True)) for name in fields}
        return {name: typed(text, types[name]) for name, text in fields.items()}


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
