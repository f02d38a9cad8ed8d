"""The authority on what goes to mocks of upstreams and comes back: the OpenAPI document of each.

A request is read by its styles, as OpenAPI 3.1, RFC 3986 and RFC 6570 say, and each value is judged
by Python's `jsonschema`. Neither the encoder nor the mocks share code with it, so that what one of
them has wrong is no answer of a mock that a tool may have declared, but a failure.
"""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice, product
from pathlib import Path
from shlex import quote as in_shell
from typing import Any, Final
from urllib.parse import quote, unquote, unquote_plus

import msgspec
from msgspec import UNSET, Struct
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from gateway.authoring.contracts.finding import Severity
from gateway.authoring.openapi.reading.schemas import Part
from gateway.backends.mock.application import MockApplication
from gateway.backends.mock.backend import MockBackend
from gateway.backends.wire import WireReply, WireRequest
from gateway.contract.imported import ImportedOperation
from gateway.contract.upstream import UpstreamRequest, status_names
from gateway.contract.values.pointers import NoSuchPlace, child, follow
from gateway.testing.authority import Authority
from gateway.testing.contract_documents import (
    ContractDocument,
    DeclaredOperation,
    essence_of_name,
    is_json,
)
from gateway.testing.texts import Styled, is_same, pairs_of, readings, typed

FORM: Final = "application/x-www-form-urlencoded"
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


class UpstreamDocument(ContractDocument):
    """Judges by one document, in the form of OpenAPI 3.1."""

    def __init__(self, schemas: Path, upstream: str) -> None:
        """Raises `ContractError` if the document cannot be read."""
        self._schemas = schemas
        super().__init__(schemas, upstream)
        self._document = document = self.normal.value
        self._uri = f"https://contracts.invalid/{upstream}"
        resource = DRAFT202012.create_resource(document)
        self._registry: Registry[Any] = Registry().with_resource(self._uri, resource)
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

    def _members(self, pointer: str, name: str) -> Iterator[Part]:
        """The resolved items of a list at `pointer`/`name`."""
        here = child(pointer, name)
        held = follow(self._document, pointer).get(name) or ()
        return (self.part(child(here, number)) for number in range(len(held)))

    def _read(self) -> Iterator[_Operation]:
        for each in self.operations():
            # An operation with a part that cannot be served is not served.
            with suppress(NoSuchPlace):
                yield self._operation(each)

    def _operation(self, declared: DeclaredOperation) -> _Operation:
        part = self.part(declared.pointer)
        written = [*self._members(declared.item, "parameters")]
        written += self._members(part.pointer, "parameters")
        parameters = {(p.styled.location, p.styled.name): p for p in map(self._parameter, written)}
        return _operation(declared, part, [*parameters.values()])

    def _parameter(self, written: Part) -> _Parameter:
        value, pointer = written
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
            schema, pointer = self.part(pointer)
        except NoSuchPlace:
            return frozenset(), True
        if steps > _MOST_STEPS:
            return frozenset(), False
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
        body = self.part(child(operation.pointer, "requestBody"))
        if not sent and named is None:
            if body.value.get("required") or wanted not in (UNSET, {}, None):
                raise _Broken(body.pointer, "the body is missing")
            return
        media = self.media_type(body, named or "")
        if media is None:
            what = f"the body has the media type {named!r}, which is not declared"
            raise _Broken(body.pointer, what)
        self._check_content(media, sent, named or "", wanted)

    def _check_content(self, media: Part, sent: bytes, named: str, wanted: Any) -> None:
        pointer, values = media.pointer, self._bodies(media, sent, named)
        if not values:
            if isinstance(wanted, str) and sent not in {wanted.encode(), _unpacked(wanted)}:
                raise _Broken(pointer, "the body has other bytes than the argument")
            return
        if "schema" in media.value:
            self._judge(child(pointer, "schema"), "request", values, "the body")
        if wanted is not UNSET and not any(is_same(value, wanted) for value in values):
            shown = json.dumps(values[0], ensure_ascii=False)[:_SHOWN]
            asked = json.dumps(wanted, ensure_ascii=False)[:_SHOWN]
            raise _Broken(pointer, f"the body says {shown}, not {asked}")

    def _bodies(self, media: Part, sent: bytes, named: str) -> list[Any]:
        """The readings of a body. None of other bytes than JSON and forms."""
        try:
            if is_json(named):
                return [json.loads(sent)]
            if essence_of_name(named) == FORM:
                return [*self._forms(media, pairs_of(sent.decode("ascii"), "&", unquote_plus))]
        except ValueError as error:
            what = f"the body is no {essence_of_name(named)}: {error}"
            raise _Broken(media.pointer, what) from None
        return []

    def _forms(self, media: Part, pairs: list[tuple[str, str]]) -> Iterator[dict[str, Any]]:
        """The readings of a form, whose members may have Encoding Objects."""
        found: dict[str, list[Any]] = {}
        encoding = media.value.get("encoding", {})
        properties = child(child(media.pointer, "schema"), "properties")
        for name, each in encoding.items():
            if not {"style", "explode"}.isdisjoint(each):
                styled = self._member(properties, name, each)
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
        names = (*status_names(reply.status), "default")
        response = self.response(operation.pointer, names)
        if response is None:
            if reply.status < _CALLERS:
                what = f"the mock answered {reply.status}, which is not declared"
                raise _Broken(child(operation.pointer, "responses"), what)
            return
        named = reply.headers.get("content-type", "")
        media = self.media_type(response, named)
        # Problem details are how mocks refuse where a document declares nothing that fits.
        if media is None or "json" not in essence_of_name(named):
            return
        if not reply.body or "schema" not in media.value:
            return
        pointer = media.pointer
        try:
            body = json.loads(reply.body)
        except ValueError:
            raise _Broken(pointer, f"the mock's {reply.status} is no JSON") from None
        authority = self._authority(child(pointer, "schema"), "reply")
        if authority.says(body) == "invalid":
            place = authority.place(body)
            what = f"the mock's {reply.status} is not valid by {place}: {json.dumps(body)}"
            raise _Broken(pointer, what[: 2 * _SHOWN])

    def changed(self, what: str, request: WireRequest) -> ContractBreach:
        """A request that does not say what it was made of."""
        return self._breach(_Broken("/paths", what), request)

    def _breach(self, broken: _Broken, request: WireRequest) -> ContractBreach:
        texts = broken.what, ""
        at = self.finding([broken.pointer], "", texts, Severity.ERROR)
        line = f":{at.line}" if self.is_imported else ""
        return ContractBreach(
            upstream=self.name,
            path=f"{self._schemas}/{at.path}{line}",
            pointer=at.pointer,
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
    declared: DeclaredOperation, part: Part, parameters: Sequence[_Parameter]
) -> _Operation:
    path, _, query = declared.path.partition("#")[0].partition("?")
    pieces = _PARAMETER.split(path)
    pattern = "".join("([^/]+?)" if n % 2 else literal(text) for n, text in enumerate(pieces))
    rank = tuple(
        (bool(_PARAMETER.search(each)), -len(_PARAMETER.sub("", each))) for each in path.split("/")
    )
    # What spreads freely takes whatever the others leave.
    ordered = sorted(parameters, key=lambda each: each.styled.spreads and each.styled.is_free)
    return _Operation(
        pointer=part.pointer,
        value=part.value,
        path=re.compile(f"{re.escape(declared.method.lower())} {pattern}"),
        names=pieces[1::2],
        rank=rank,
        fixed=[(unquote_plus(n), unquote_plus(v)) for n, v in pairs_of(query, "&", str)],
        parameters=ordered,
    )


def literal(text: str) -> str:
    """A pattern for fixed text, in which each character may be escaped that is not always plain.

    Two equal ways to read a character would double the time for each.
    """
    ways = ({re.escape(each), re.escape(quote(each, safe="/"))} for each in unquote(text))
    return "".join(f"(?:{'|'.join(sorted(each))})" for each in ways)


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


def _unpacked(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""


# The mocks of a project, whose requests and answers are judged.


@lru_cache(maxsize=64)
def contract_of(schemas: Path, upstream: str) -> UpstreamDocument:
    """The contract of an upstream of a project. Raises `ContractError`."""
    return UpstreamDocument(schemas, upstream)


_untaken: Final[list[ContractBreach]] = []


def taken() -> list[ContractBreach]:
    """What all judges of this process have found since this was asked last."""
    found = [*_untaken]
    _untaken.clear()
    return found


class UpstreamJudge:
    """Judges what mocks are sent and answer, by the documents of the project in `schemas`.

    By default, `taken` has what it finds.
    """

    def __init__(
        self, schemas: Path, report: Callable[[ContractBreach], None] = _untaken.append
    ) -> None:
        self._schemas = schemas
        self._report = report

    def watch(self, backend: MockBackend, upstream: str) -> None:
        """Judge all that a backend sends from now on, also for access tokens."""
        self.over(upstream, backend.application)
        encode = backend._encoder.encode

        def judged(request: UpstreamRequest, now: str) -> WireRequest:
            wire = encode(request, now)
            if what := breach_of_encoding(request, wire):
                contract = contract_of(self._schemas, upstream)
                self._report(contract.changed(what, wire))
            return wire

        backend._encoder.encode = judged  # type: ignore[method-assign]  # of this one

    def over(self, upstream: str, application: MockApplication) -> MockApplication:
        """`application`, whose requests and answers are judged from now on."""
        handle = application.handle

        async def judged(request: WireRequest) -> WireReply:
            contract = contract_of(self._schemas, upstream)
            if breach := contract.breach_of_request(request):
                self._report(breach)
            reply = await handle(request)
            if breach := contract.breach_of_reply(request, reply):
                self._report(breach)
            return reply

        application.handle = judged  # type: ignore[method-assign]  # of this one
        return application

    def must_say(
        self, operation: ImportedOperation, arguments: Mapping[str, Any], request: WireRequest
    ) -> None:
        """Judge whether a request of an imported operation says its arguments, and only them."""
        contract = contract_of(self._schemas, operation.id.partition(".")[0])
        breach = contract.breach_of_request(request, arguments_of(operation, arguments))
        if breach is not None:
            self._report(breach)


def arguments_of(operation: ImportedOperation, arguments: Mapping[str, Any]) -> WantedArguments:
    """What the request of an imported operation has to say."""
    found: dict[tuple[str, str], Any] = {
        (each.location, each.name): arguments.get(each.member)
        for each in operation.parameters
        if each.location != "querystring"
    }
    described = operation.body
    if described is None or described.kind in {"multipart", "lines"}:
        return WantedArguments(found)
    if described.member is not None:
        return WantedArguments(found, arguments.get(described.member, UNSET))
    body = {name: arguments[m] for m, name in described.members.items() if m in arguments}
    return WantedArguments(found, body)


def breach_of_encoding(request: UpstreamRequest, wire: WireRequest) -> str | None:
    """Which part of a request the encoder has changed, or None.

    It has the texts of a tool with contract files; only what the encoder adds may be there too.
    """
    if request.encoded is not None:
        return None
    path, _, query = wire.target.partition("?")
    sent = [(name, unquote_plus(text)) for name, text in pairs_of(query, "&", unquote_plus)]
    lost = [each for each in request.query if isinstance(each[1], str) and each not in sent]
    headers = {name.lower(): value for name, value in wire.headers}
    unsent = [name for name, _ in request.headers if name.lower() not in headers]
    segments = [] if path == "/" else [unquote(each) for each in path.split("/")[1:]]
    if segments != [*request.path]:
        return f"the path says {path!r}, not {'/'.join(request.path)!r}"
    if lost or unsent:
        return f"it does not say {lost[0] if lost else unsent[0]!r}"
    if "json" in headers.get("content-type", "") and request.body is not UNSET:
        said = json.loads(wire.body or b"null")
        if said != msgspec.to_builtins(request.body):
            return f"the body says {said!r}, not {request.body!r}"[:300]
    return None
