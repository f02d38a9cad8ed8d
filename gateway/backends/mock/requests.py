"""Reads the arguments of a request to a mock, as the upstream's contract declares them."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

from msgspec import Struct

from gateway.backends.wire import WireRequest
from gateway.contract.mock import MockRefusal
from gateway.contract.upstream import UpstreamOperation
from gateway.contract.values import jsontext
from gateway.contract.values.schema import Validator
from gateway.encoding.forms import FORM
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


class MockArguments(Struct, frozen=True, kw_only=True):
    """The arguments of a request, each with the type that the contract declares."""

    path: dict[str, Any]
    query: dict[str, Any]
    headers: dict[str, str]
    body: Any
    filters: dict[str, list[str]] = {}
    """Query parameters that the contract does not name, where it allows them."""


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
            raise RequestRefused(
                MockRefusal(status=400, title="A parameter is not valid.", path=self.name)
            )
        return value


class RequestReader:
    """Reads the requests of one operation. Ignores the query parameters `ignored`: credentials.

    `is_open`: other query parameters are filters by columns of a table.
    """

    def __init__(
        self, operation: UpstreamOperation, ignored: Collection[str] = (), *, is_open: bool = False
    ) -> None:
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

    def read(self, request: WireRequest, path: Mapping[str, str]) -> MockArguments:
        """The arguments of `request`. Raises `RequestRefused` with 400 or 422."""
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
                title = "A parameter is missing."
                raise RequestRefused(MockRefusal(status=400, title=title, path=parameter.name))
        if given["query"] and not self._is_open:
            title = "A parameter is not known."
            raise RequestRefused(MockRefusal(status=400, title=title, path=min(given["query"])))
        return MockArguments(
            path=values["path"],
            query=values["query"],
            headers=headers,
            body=self._read_body(request, headers),
            filters=given["query"],
        )

    def _query(self, target: str) -> dict[str, list[str]]:
        grouped = _grouped(target.partition("?")[2])
        return {name: texts for name, texts in grouped.items() if name not in self._ignored}

    def _read_body(self, request: WireRequest, headers: Mapping[str, str]) -> Any:
        if self._body is None:
            if request.body:
                raise RequestRefused(MockRefusal(status=400, title="A body is not expected."))
            return None
        if not request.body and "content-type" not in headers and not self._is_body_required:
            return None
        media_type = FORM if self._takes_form else "application/json"
        if headers.get("content-type", "").partition(";")[0].strip().lower() != media_type:
            raise RequestRefused(MockRefusal(status=400, title=f"The body must be {media_type}."))
        body = self._form(request.body or b"") if self._takes_form else _json(request.body or b"")
        # Members in brackets are not put together again, so such a form is not checked.
        if not self._is_styled and not self._body.admits(body):
            violation = self._body.violations(body)[0]
            title = f"The body is not valid: {violation.detail}."
            raise RequestRefused(MockRefusal(status=422, title=title, path=violation.pointer))
        return body

    def _form(self, text: bytes) -> dict[str, Any]:
        """The fields of the form, each with the type that the contract declares."""
        try:
            grouped = _grouped(text.decode("ascii"))
        except UnicodeDecodeError as error:
            refusal = MockRefusal(status=400, title="The body is not a form.")
            raise RequestRefused(refusal) from error
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
        raise RequestRefused(
            MockRefusal(status=400, title=f"The body is not JSON: {error}.")
        ) from error


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
        title = "A parameter is missing."
        raise RequestRefused(MockRefusal(status=400, title=title, path=parameter.name))


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
