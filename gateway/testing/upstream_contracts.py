"""The authority on what goes to upstreams and what comes back: the OpenAPI document of each.

A request is read by its styles, as OpenAPI 3.1, RFC 3986 and RFC 6570 say, and each value is judged
by Python's `jsonschema`. Neither the encoder nor the mocks share code with it, so that what one of
them has wrong is no answer of a mock that a tool may have declared, but a failure.
"""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice, product
from shlex import quote as in_shell
from typing import Any, Final
from urllib.parse import quote, unquote, unquote_plus

from msgspec import UNSET, Struct
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from gateway.backends.wire import WireReply, WireRequest
from gateway.contract.upstream import status_names
from gateway.contract.values.pointers import NoSuchPlace, child, follow
from gateway.testing.authority import Authority
from gateway.testing.texts import Styled, is_same, pairs_of, readings, typed

FORM: Final = "application/x-www-form-urlencoded"
ROOT: Final = "https://contracts.invalid/"
"""What references between the files of a project are relative to. Nothing is asked there."""
_METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_PARAMETER: Final = re.compile(r"\{([^}]*)\}")
_PATH: Final = re.compile(r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*")
_QUERY: Final = re.compile(r"(?:[!$-;=?-~]|%[0-9A-Fa-f]{2})*")
_STRAY: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_OF_HTTP: Final = frozenset(
    {"accept", "accept-encoding", "authorization", "connection", "content-length", "content-type"}
    | {"cookie", "host", "user-agent", "traceparent", "tracestate", "baggage", "x-mock-fault"}
)
"""Header fields that no document has to declare."""
_MOST_STEPS: Final = 20
_MOST_READINGS: Final = 64
_CALLERS: Final = 400
_SHOWN: Final = 300


class ContractBreach(Struct, frozen=True, kw_only=True):
    """A request, or the answer to it, that the upstream's document does not allow."""

    upstream: str
    path: str
    """The file of the document."""
    pointer: str
    """The part of it that is not kept."""
    what: str
    curl: str
    """The request as a line of a shell."""

    def __str__(self) -> str:
        return f"{self.path}#{self.pointer}: {self.what}; the request: {self.curl}"


class _Broken(Exception):
    def __init__(self, pointer: str, what: str) -> None:
        super().__init__(what)
        self.pointer, self.what = pointer, what


class WantedArguments(Struct, frozen=True):
    """What a request has to say, by the location and the name of each parameter."""

    parameters: Mapping[tuple[str, str], Any]
    body: Any = UNSET
    is_whole_body: bool = True
    """Whether `body` is all that the body may say."""


class _Parameter(Struct, frozen=True):
    pointer: str
    is_required: bool
    styled: Styled


class _Operation(Struct, frozen=True):
    pointer: str
    value: Mapping[str, Any]
    path: re.Pattern[str]
    names: Sequence[str]
    """Those of the path's values."""
    rank: tuple[tuple[bool, int], ...]
    fixed: Sequence[tuple[str, str]]
    """Pairs of the query that the document writes into the path."""
    parameters: Sequence[_Parameter]


class UpstreamDocument:
    """Judges by one document, in the form of OpenAPI 3.1.

    `placed` says the file and the pointer in it that an author knows. `retrieve` reads other files.
    """

    def __init__(
        self,
        name: str,
        document: Mapping[str, Any],
        placed: Callable[[str], tuple[str, str]],
        retrieve: Callable[[str], Any],
    ) -> None:
        self._name, self._document, self._placed = name, document, placed
        self._uri = f"{ROOT}upstreams/{name}/openapi.yaml"
        reading: Registry[Any] = Registry(  # type: ignore[call-arg]  # mypy knows no attrs here
            retrieve=lambda uri: DRAFT202012.create_resource(retrieve(uri))
        )
        resource = DRAFT202012.create_resource(document)
        self._registry = reading.with_resource(self._uri, resource)
        facts = document.get("x-upstream", {})
        self._is_ours = bool(facts)
        schemes = document.get("components", {}).get("securitySchemes", {}).values()
        keys = [(each.get("in"), each.get("name")) for each in schemes if each.get("name")]
        keys += [("query", each["name"]) for each in facts.get("query", ())]
        keys += [("header", each["name"]) for each in facts.get("headers", ())]
        self._secret = {place: {n.lower() for at, n in keys if at == place} for place, _ in keys}
        self._has_tables = "tables" in facts
        self._hidden = {word: frozenset(_marked(document, word)) for word in _DIRECTIONS.values()}
        self._authorities: dict[tuple[str, str], Authority] = {}
        self._operations = [*self._read()]

    # What the document says.

    def _resolved(self, pointer: str) -> tuple[str, Any]:
        value = follow(self._document, pointer)
        for _ in range(_MOST_STEPS):
            reference = value.get("$ref") if isinstance(value, dict) else None
            if not isinstance(reference, str) or not reference.startswith("#"):
                break
            pointer = unquote(reference[1:])
            value = follow(self._document, pointer)
        return pointer, value

    def _members(self, pointer: str, name: str) -> Iterator[tuple[str, Any]]:
        """The resolved items of a list, or the members of an object, at `pointer`/`name`."""
        here = child(pointer, name)
        held = follow(self._document, pointer).get(name) or ()
        for key in held if isinstance(held, dict) else range(len(held)):
            yield self._resolved(child(here, key))

    def _read(self) -> Iterator[_Operation]:
        for template in self._document.get("paths", {}):
            with suppress(NoSuchPlace):
                at, item = self._resolved(child("/paths", template))
                found = {each: child(at, each) for each in _METHODS if each in item}
                others = child(at, "additionalOperations")
                found |= {e: child(others, e) for e in item.get("additionalOperations", ())}
                for method, pointer in found.items():
                    # An operation with a part that cannot be served is not served.
                    with suppress(NoSuchPlace):
                        yield self._operation(method, template, at, pointer)

    def _operation(self, method: str, template: str, at: str, pointer: str) -> _Operation:
        pointer, value = self._resolved(pointer)
        declared = [*self._members(at, "parameters"), *self._members(pointer, "parameters")]
        parameters = {(p.styled.location, p.styled.name): p for p in map(self._parameter, declared)}
        return _operation(method, template, pointer, value, [*parameters.values()])

    def _parameter(self, written: tuple[str, Any]) -> _Parameter:
        pointer, value = written
        location, name = str(value.get("in")), str(value.get("name"))
        style = value.get("style", "form" if location in {"query", "cookie"} else "simple")
        schema = child(pointer, "schema")
        names, is_free = self._names(schema) if "schema" in value else (frozenset[str](), True)
        styled = Styled(
            name=name,
            location=location,
            style="content" if "content" in value else style,
            explode=value.get("explode", style in {"form", "cookie"}),
            is_reserved=value.get("allowReserved", False),
            names=names,
            is_free=is_free,
            is_lenient=self._is_ours,
        )
        return _Parameter(pointer, value.get("required", False), styled)

    def _names(self, pointer: str, steps: int = 0) -> tuple[frozenset[str], bool]:
        """The names of members that a schema declares, and whether others may be there."""
        try:
            pointer, schema = self._resolved(pointer)
        except NoSuchPlace:
            return frozenset(), True
        if not isinstance(schema, dict) or steps > _MOST_STEPS:
            return frozenset(), schema is True
        if "object" not in schema.get("type", "object"):
            return frozenset(), False
        names = frozenset(schema.get("properties", ()))
        is_free = schema.get("additionalProperties", True) is not False
        for keyword in ("allOf", "anyOf", "oneOf"):
            for number in range(len(schema.get(keyword, ()))):
                own, free = self._names(child(child(pointer, keyword), number), steps + 1)
                names, is_free = names | own, is_free and free
        return names, is_free

    def _authority(self, pointer: str, direction: str) -> Authority:
        key = pointer, direction
        if key not in self._authorities:
            schema = {"$ref": f"{self._uri}#{quote(pointer, safe='/~')}"}
            optional = self._hidden[_DIRECTIONS[direction]]
            self._authorities[key] = Authority(schema, self._registry, optional)
        return self._authorities[key]

    def _judge(self, pointer: str, direction: str, values: Sequence[Any], what: str) -> None:
        """Raise `_Broken` if the schema at `pointer` admits no reading of a value."""
        authority = self._authority(pointer, direction)
        if not any(typed(authority, each) for each in values):
            shown = json.dumps(values[0], ensure_ascii=False)[:_SHOWN] if values else "nothing"
            place = authority.place(values[0]) if values else ""
            keyword = f" by {place.rpartition('/')[2]}" if place else ""
            raise _Broken(pointer, f"{what} is not valid{keyword}: {shown}")

    # Requests.

    def breach_of_request(
        self, request: WireRequest, said: WantedArguments | None = None
    ) -> ContractBreach | None:
        """Why a request is none that the document describes, or does not say what it has to."""
        try:
            _check_target(request.target)
            found = self._found(request)
        except _Broken as broken:
            return self._breach(broken, request)
        best = [each for each in found if each.rank == found[0].rank]
        return self._first(best, request, lambda each: self._check(each, request, said))

    def _found(self, request: WireRequest) -> list[_Operation]:
        """The operations of this method and path, the most specific first."""
        line = f"{request.method.lower()} {request.target.partition('?')[0]}"
        found = [each for each in self._operations if each.path.fullmatch(line)]
        if not found:
            raise _Broken("/paths", f"it has no operation {line}")
        return sorted(found, key=lambda each: each.rank)

    def _first(
        self,
        operations: Sequence[_Operation],
        request: WireRequest,
        check: Callable[[_Operation], None],
    ) -> ContractBreach | None:
        """What is broken of the first operation, if something is of each: a document may have
        several with one method and path."""
        first: _Broken | None = None
        for each in operations:
            try:
                check(each)
            except _Broken as broken:
                first = first or broken
            else:
                return None
        return None if first is None else self._breach(first, request)

    def _check(
        self, operation: _Operation, request: WireRequest, said: WantedArguments | None
    ) -> None:
        path, _, query = request.target.partition("?")
        found = operation.path.fullmatch(f"{request.method.lower()} {path}")
        assert found is not None
        headers = {name.lower(): value for name, value in request.headers}
        given = {
            "path": [*zip(operation.names, found.groups(), strict=True)],
            "query": self._public(
                _without_fixed(operation, pairs_of(query, "&", unquote_plus)), "query"
            ),
            "header": [*headers.items()],
            "cookie": self._public(pairs_of(headers.get("cookie", ""), "; ", str), "cookie"),
        }
        for parameter in operation.parameters:
            location = parameter.styled.location
            if location == "querystring":
                given["query"] = []
            elif location in given and not _is_of_http(parameter.styled):
                given[location] = self._check_parameter(parameter, given[location], said)
        self._check_rest(operation, given)
        self._check_body(operation, request, headers, said)

    def _check_parameter(
        self, parameter: _Parameter, given: list[tuple[str, str]], said: WantedArguments | None
    ) -> list[tuple[str, str]]:
        """What is left of `given` when the parameter's own texts are taken."""
        styled = parameter.styled
        place = f"the {styled.location} parameter {styled.name}"
        try:
            values, rest = readings(styled, given)
        except ValueError as error:
            raise _Broken(parameter.pointer, f"{place} {error}") from None
        if values:
            schema = child(parameter.pointer, "schema")
            if styled.style == "content":
                content = child(parameter.pointer, "content")
                media_type = next(iter(follow(self._document, content)))
                schema = child(child(content, media_type), "schema")
            self._judge(schema, "request", values, place)
        elif parameter.is_required and not self._may_be_empty(parameter):
            raise _Broken(parameter.pointer, f"{place} is missing")
        if said is not None:
            wanted = said.parameters.get((styled.location, styled.name))
            is_there = any(is_same(each, wanted) for each in values)
            if not is_there and (values or wanted not in (None, [], {})):
                shown = f"says {values[0]!r}"[:_SHOWN] if values else "is missing"
                raise _Broken(parameter.pointer, f"{place} {shown}, not {wanted!r}"[: 2 * _SHOWN])
        return rest

    def _may_be_empty(self, parameter: _Parameter) -> bool:
        """Whether the value may be a list or an object of which nothing is sent."""
        if not parameter.styled.spreads and parameter.styled.style != "deepObject":
            return False
        authority = self._authority(child(parameter.pointer, "schema"), "request")
        empty: tuple[Any, Any] = ([], {})
        return any(authority.says(each) != "invalid" for each in empty)

    def _public(self, pairs: list[tuple[str, str]], place: str) -> list[tuple[str, str]]:
        """The pairs that hold no credential."""
        return [each for each in pairs if each[0].lower() not in self._secret.get(place, ())]

    def _check_rest(self, operation: _Operation, given: Mapping[str, Any]) -> None:
        at = operation.pointer
        if given["query"] and not self._has_tables:
            raise _Broken(at, f"it declares no query parameter {given['query'][0][0]!r}")
        for name, _ in given["header"]:
            if name not in _OF_HTTP and name not in self._secret.get("header", ()):
                raise _Broken(at, f"it declares no header {name!r}")

    def _check_body(
        self,
        operation: _Operation,
        request: WireRequest,
        headers: Mapping[str, str],
        said: WantedArguments | None,
    ) -> None:
        wanted = UNSET if said is None else said.body
        sent, named = request.body or b"", headers.get("content-type")
        if "requestBody" not in operation.value:
            if sent:
                raise _Broken(operation.pointer, "it has a body, and none is declared")
            return
        at, declared = self._resolved(child(operation.pointer, "requestBody"))
        if not sent and named is None:
            if declared.get("required") or wanted not in (UNSET, {}, None):
                raise _Broken(at, "the body is missing")
            return
        pointer = self._content(at, declared.get("content", {}), named or "")
        if pointer is None:
            raise _Broken(at, f"the body has the media type {named!r}, which is not declared")
        self._check_content(pointer, sent, _essence(named or ""), wanted)

    def _check_content(self, pointer: str, sent: bytes, essence: str, wanted: Any) -> None:
        values = self._bodies(pointer, sent, essence)
        if not values:
            if isinstance(wanted, str) and sent not in {wanted.encode(), _unpacked(wanted)}:
                raise _Broken(pointer, "the body has other bytes than the argument")
            return
        if "schema" in follow(self._document, pointer):
            self._judge(child(pointer, "schema"), "request", values, "the body")
        if wanted is not UNSET and not any(is_same(value, wanted) for value in values):
            shown = json.dumps(values[0], ensure_ascii=False)[:_SHOWN]
            asked = json.dumps(wanted, ensure_ascii=False)[:_SHOWN]
            raise _Broken(pointer, f"the body says {shown}, not {asked}")

    def _bodies(self, pointer: str, sent: bytes, essence: str) -> list[Any]:
        """The readings of a body. None of other bytes than JSON and forms."""
        try:
            if essence == "application/json" or essence.endswith("+json"):
                return [json.loads(sent)]
            if essence == FORM:
                return [*self._forms(pointer, pairs_of(sent.decode("ascii"), "&", unquote_plus))]
        except ValueError as error:
            raise _Broken(pointer, f"the body is no {essence}: {error}") from None
        return []

    def _forms(self, pointer: str, pairs: list[tuple[str, str]]) -> Iterator[dict[str, Any]]:
        """The readings of a form, whose members may have Encoding Objects."""
        found: dict[str, list[Any]] = {}
        encoding = follow(self._document, pointer).get("encoding", {})
        for name, each in encoding.items():
            if not {"style", "explode"}.isdisjoint(each):
                styled = self._member(child(child(pointer, "schema"), "properties"), name, each)
                values, pairs = readings(styled, pairs)
                found |= {name: values} if values else {}
        for name in dict.fromkeys(name for name, _ in pairs):
            texts = [unquote_plus(text) for each, text in pairs if each == name]
            if "json" in encoding.get(name, {}).get("contentType", ""):
                texts = [json.loads(text) for text in texts]
            found[name] = [texts] if len(texts) > 1 else texts
        for choice in islice(product(*found.values()), _MOST_READINGS):
            yield dict(zip(found, choice, strict=True))

    def _member(self, properties: str, name: str, encoding: Mapping[str, Any]) -> Styled:
        style = encoding.get("style", "form")
        names, _ = self._names(child(properties, name))
        return Styled(
            name=name,
            location="query",
            style=style,
            explode=encoding.get("explode", style == "form"),
            is_reserved=encoding.get("allowReserved", False),
            names=names,
            is_free=False,
            is_lenient=self._is_ours,
        )

    def _content(self, at: str, content: Mapping[str, Any], named: str) -> str | None:
        """The pointer to the Media Type Object of `named`, the most specific one."""
        essence = _essence(named)
        ranges = {_essence(each): each for each in content}
        for wanted in (essence, f"{essence.partition('/')[0]}/*", "*/*"):
            if wanted in ranges:
                return child(child(at, "content"), ranges[wanted])
        return None

    # Answers.

    def breach_of_reply(self, request: WireRequest, reply: WireReply) -> ContractBreach | None:
        """Why an answer to a request is none that the document describes.

        A mock may refuse by a status that no document declares.
        """
        try:
            found = self._found(request)
        except _Broken:
            return None
        return self._first(found, request, lambda each: self._check_reply(each, reply))

    def _check_reply(self, operation: _Operation, reply: WireReply) -> None:
        at = child(operation.pointer, "responses")
        declared = operation.value.get("responses", {})
        names = (*status_names(reply.status), "default")
        status = next((str(each) for each in names if each in declared), None)
        if status is None:
            if reply.status < _CALLERS:
                raise _Broken(at, f"the mock answered {reply.status}, which is not declared")
            return
        at, value = self._resolved(child(at, status))
        named = reply.headers.get("content-type", "")
        pointer = self._content(at, value.get("content", {}), named)
        # Problem details are how mocks refuse where a document declares nothing that fits.
        if pointer is None or "json" not in _essence(named):
            return
        if not reply.body or "schema" not in follow(self._document, pointer):
            return
        try:
            body = json.loads(reply.body)
        except ValueError:
            raise _Broken(pointer, f"the mock's {reply.status} is no JSON") from None
        if self._authority(child(pointer, "schema"), "reply").says(body) == "invalid":
            place = self._authority(child(pointer, "schema"), "reply").place(body)
            what = f"the mock's {reply.status} is not valid by {place}: {json.dumps(body)}"
            raise _Broken(pointer, what[: 2 * _SHOWN])

    def changed(self, what: str, request: WireRequest) -> ContractBreach:
        """A request that does not say what it was made of."""
        return self._breach(_Broken("/paths", what), request)

    def _breach(self, broken: _Broken, request: WireRequest) -> ContractBreach:
        path, pointer = self._placed(broken.pointer)
        return ContractBreach(
            upstream=self._name,
            path=path,
            pointer=pointer,
            what=broken.what,
            curl=self._curl(request),
        )

    def _curl(self, request: WireRequest) -> str:
        """Without the fields that hold credentials."""
        secret = {"authorization", "cookie", *self._secret.get("header", ())}
        fields = [(n, v) for n, v in request.headers if n.lower() not in secret]
        base = request.server or self._document.get("x-upstream", {}).get("baseUrl")
        base = base or next((each.get("url") for each in self._document.get("servers", ())), "")
        path, _, query = request.target.partition("?")
        pairs = self._public(pairs_of(query, "&", unquote_plus), "query")
        shown = "&".join(f"{quote(name)}={value}" for name, value in pairs)
        parts = [
            "curl -sS -X",
            request.method,
            in_shell(f"{base.rstrip('/')}{path}{shown and f'?{shown}'}"),
        ]
        parts += [f"-H {in_shell(f'{name}: {value}')}" for name, value in fields]
        if request.body is not None:
            text = request.body.decode("utf-8", "backslashreplace")
            parts.append(f"--data-binary {in_shell(text[: 10 * _SHOWN])}")
        return " ".join(parts)


_DIRECTIONS: Final = {"request": "readOnly", "reply": "writeOnly"}
"""What marks members that are not there in this direction, though their schema requires them."""


def _marked(value: Any, word: str) -> Iterator[str]:
    """The names of members that are marked somewhere in a document."""
    if isinstance(value, dict):
        members = value.get("properties")
        if isinstance(members, dict):
            for name, each in members.items():
                if isinstance(each, dict) and each.get(word) is True:
                    yield name
        for each in value.values():
            yield from _marked(each, word)
    elif isinstance(value, list):
        for each in value:
            yield from _marked(each, word)


def _operation(
    method: str,
    template: str,
    pointer: str,
    value: Mapping[str, Any],
    parameters: Sequence[_Parameter],
) -> _Operation:
    path, _, query = template.partition("#")[0].partition("?")
    pieces = _PARAMETER.split(path)
    pattern = "".join("([^/]+?)" if n % 2 else _literal(text) for n, text in enumerate(pieces))
    rank = tuple(
        (bool(_PARAMETER.search(each)), -len(_PARAMETER.sub("", each))) for each in path.split("/")
    )
    # What spreads freely takes whatever the others leave.
    ordered = sorted(parameters, key=lambda each: each.styled.spreads and each.styled.is_free)
    return _Operation(
        pointer=pointer,
        value=value,
        path=re.compile(f"{re.escape(method.lower())} {pattern}"),
        names=pieces[1::2],
        rank=rank,
        fixed=[(unquote_plus(n), unquote_plus(v)) for n, v in pairs_of(query, "&", str)],
        parameters=ordered,
    )


def _literal(text: str) -> str:
    """A pattern for fixed text, in which each character may be escaped."""
    return "".join(
        "/" if each == "/" else f"(?:{re.escape(each)}|{re.escape(quote(each, safe=''))})"
        for each in unquote(text)
    )


def _check_target(target: str) -> None:
    path, _, query = target.partition("?")
    if (
        path[:1] != "/"
        or _STRAY.search(target)
        or not _PATH.fullmatch(path)
        or not _QUERY.fullmatch(query)
    ):
        raise _Broken("/paths", f"its target is not escaped as RFC 3986 says: {target[:_SHOWN]}")
    if any(unquote(each) in {".", ".."} for each in path.split("/")):
        raise _Broken("/paths", f"a segment of its path names another one: {path[:_SHOWN]}")


def _without_fixed(operation: _Operation, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    left = list(pairs)
    for name, value in operation.fixed:
        sent = next((p for p in left if p[0] == name and unquote_plus(p[1]) == value), None)
        if sent is None:
            raise _Broken(operation.pointer, f"the query has no {name}={value}")
        left.remove(sent)
    return left


def _is_of_http(styled: Styled) -> bool:
    """OpenAPI ignores declarations of these headers."""
    named = {"accept", "content-type", "authorization"}
    return styled.location == "header" and styled.name.lower() in named


def _essence(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


def _unpacked(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""
