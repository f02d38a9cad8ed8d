"""Reads a request as an upstream's contract describes it: which operation, with which arguments."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

from msgspec import Struct

from gateway.backends.wire import WireRequest
from gateway.contract import jsontext
from gateway.contract.mock import Refusal
from gateway.contract.schema import Gate
from gateway.contract.upstream import Upstream, UpstreamOperation

_INTEGER: Final = re.compile(r"-?[0-9]{1,18}")
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
_BOOLEANS: Final = {"true": True, "false": False}


class Refused(Exception):
    """The request is not one that the upstream admits."""

    def __init__(self, refusal: Refusal, *, allow: Iterable[str] = ()) -> None:
        super().__init__(refusal.title)
        self.refusal = refusal
        self.allow = tuple(allow)
        """The methods of the path, when the method is what was wrong."""


class Arguments(Struct, frozen=True, kw_only=True):
    """What a request says, each value of the type that its contract gives it."""

    path: dict[str, Any]
    query: dict[str, Any]
    headers: dict[str, str]
    body: Any


class _Parameter(Struct, frozen=True):
    """An OpenAPI Parameter Object with its compiled schema."""

    name: str
    place: str
    is_required: bool
    types: tuple[str, ...]
    separator: str | None
    """Between the items of an array; None for an array that repeats its name, and for scalars."""
    gate: Gate

    def read(self, texts: list[str]) -> Any:
        """The value that the texts stand for. Raises `Refused`."""
        if "array" in self.types:
            value: Any = texts if self.separator is None else texts[0].split(self.separator)
        else:
            value = _typed(texts[0], self.types) if len(texts) == 1 else None
        if not self.gate.admits(value):
            raise Refused(Refusal(status=400, title="A parameter is not valid.", path=self.name))
        return value


class RequestReader:
    """Reads the requests of one operation."""

    def __init__(self, operation: UpstreamOperation) -> None:
        self._parameters = tuple(map(_parameter, operation.parameters))
        schema = operation.request_schema
        self._body = None if schema is None else Gate(schema)

    def read(self, request: WireRequest, path: Mapping[str, str]) -> Arguments:
        """The arguments of `request`. Raises `Refused` with 400 or 422."""
        headers = {name.lower(): value for name, value in request.headers}
        given = {
            "path": {name: [text] for name, text in path.items()},
            "query": _grouped(request.target.partition("?")[2]),
            "header": {name: [value] for name, value in headers.items()},
        }
        values: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "header": {}}
        for parameter in self._parameters:
            texts = given[parameter.place].pop(_spelled(parameter), None)
            if texts is not None:
                values[parameter.place][parameter.name] = parameter.read(texts)
            elif parameter.is_required:
                title = "A parameter is missing."
                raise Refused(Refusal(status=400, title=title, path=parameter.name))
        if given["query"]:
            title = "A parameter is not known."
            raise Refused(Refusal(status=400, title=title, path=min(given["query"])))
        return Arguments(
            path=values["path"],
            query=values["query"],
            headers=headers,
            body=self._read_body(request, headers),
        )

    def _read_body(self, request: WireRequest, headers: Mapping[str, str]) -> Any:
        if self._body is None:
            if request.body:
                raise Refused(Refusal(status=400, title="A body is not expected."))
            return None
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise Refused(Refusal(status=400, title="The body must be application/json."))
        try:
            body = jsontext.decode(request.body or b"")
        except jsontext.NotJson as error:
            raise Refused(Refusal(status=400, title=f"The body is not JSON: {error}.")) from error
        if not self._body.admits(body):
            violation = self._body.violations(body)[0]
            title = f"The body is not valid: {violation.detail}."
            raise Refused(Refusal(status=422, title=title, path=violation.pointer))
        return body


class Router:
    """Finds the operation that a method and a path name."""

    def __init__(self, upstream: Upstream) -> None:
        self._routes = [
            (operation, tuple(operation.path.split("/")[1:])) for operation in upstream.operations
        ]

    def find(self, method: str, target: str) -> tuple[UpstreamOperation, dict[str, str]]:
        """The operation and its path parameters as text. Raises `Refused` with 404 or 405."""
        segments = [unquote(part) for part in target.partition("?")[0].split("/")[1:]]
        found = {
            operation.method: (operation, parameters)
            for operation, template in self._routes
            if (parameters := _match(template, segments)) is not None
        }
        if not found:
            raise Refused(Refusal(status=404, title="There is nothing at this path."))
        if method not in found:
            refusal = Refusal(status=405, title="The method is not allowed here.")
            raise Refused(refusal, allow=sorted(found))
        return found[method]


def _match(template: tuple[str, ...], segments: list[str]) -> dict[str, str] | None:
    if len(template) != len(segments):
        return None
    parameters: dict[str, str] = {}
    for part, segment in zip(template, segments, strict=True):
        if part.startswith("{") and segment:
            parameters[part[1:-1]] = segment
        elif part != segment:
            return None
    return parameters


def _parameter(facts: Mapping[str, Any]) -> _Parameter:
    """`style: form` and `simple`, the defaults of OpenAPI for where each may stand."""
    schema = facts.get("schema", True)
    declared = schema.get("type", ()) if isinstance(schema, dict) else ()
    is_joined = facts["in"] != "query" or not facts.get("explode", True)
    return _Parameter(
        facts["name"],
        facts["in"],
        facts.get("required", False),
        (declared,) if isinstance(declared, str) else tuple(declared),
        "," if is_joined else None,
        Gate(schema),
    )


def _spelled(parameter: _Parameter) -> str:
    return parameter.name.lower() if parameter.place == "header" else parameter.name


def _grouped(query: str) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        grouped.setdefault(name, []).append(value)
    return grouped


def _typed(text: str, types: tuple[str, ...]) -> Any:
    """`text` as the first of `types` that it can be; itself when it can be none."""
    if "integer" in types and _INTEGER.fullmatch(text):
        return int(text)
    if "number" in types and _NUMBER.fullmatch(text):
        return float(text)
    if "boolean" in types and text in _BOOLEANS:
        return _BOOLEANS[text]
    return text
