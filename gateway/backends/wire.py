"""Requests and replies in their HTTP form (RFC 9110, RFC 3986), for live and mock backends."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import repeat
from typing import Any, Final
from urllib.parse import quote, urlencode

from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from gateway.backends.slots import TokenUse, sent_slots
from gateway.backends.templates import TOKEN, filled
from gateway.contract.upstream import (
    PATH_PARAMETER,
    Departure,
    EncodedRequest,
    Upstream,
    UpstreamOperation,
    UpstreamRequest,
    Watch,
)
from gateway.contract.values import jsontext
from gateway.contract.values.pointers import child
from gateway.encoding.bodies import FORM, FormBody, field_of
from gateway.encoding.shapes import Shapes
from gateway.encoding.styles import bracketed, neighbours_of
from gateway.encoding.texts import CONTROL, header_text, unusable
from gateway.encoding.texts import TOKEN as HEADER_NAME
from gateway.errors import MalformedRequest

_JSON: Final = "application/json"
_COMMON: Final = {
    "accept": ("Accept", _JSON),
    "user-agent": ("User-Agent", "contract-gateway"),
}
_SEGMENT_SAFE: Final = "!$&'()*+,;=:@"
"""What a segment may contain unencoded besides letters, digits and `-._~` (RFC 3986 §3.3)."""


class WireRequest(Struct, frozen=True, kw_only=True):
    """A request ready to be sent, relative to its base URL."""

    method: str
    target: str
    """Percent-encoded path and query, from the first `/`."""
    headers: tuple[tuple[str, str], ...]
    body: bytes | None = None
    server: str | None = None
    """The base URL, if it is not the upstream's."""
    token: TokenUse | None = None
    """The access token of a credential slot, which `signed` adds."""
    watch: Watch | None = None
    admits_redirect: bool = False
    """These two are as in `UpstreamRequest`."""
    departure: Departure = field(default_factory=Departure)

    def __repr__(self) -> str:
        """Without target, headers and body, because they contain credentials and arguments."""
        return f"WireRequest({self.method})"


class WireReply(Struct, frozen=True, kw_only=True):
    """A reply before its body is decoded. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_cut: bool = False
    """Whether the connection closes before the whole body is sent."""
    body_delay_seconds: float = 0.0
    """How long after the head the body is sent."""


class WireEncoder:
    """Encodes requests to one upstream, with its headers and its credentials.

    Raises `ConfigurationError` for a credential that is missing or cannot be sent in a header.
    """

    def __init__(self, upstream: Upstream, credentials: Mapping[str, str]) -> None:
        found = (filled(rule, upstream, credentials) for rule in upstream.headers)
        declared = [rule for rule in found if rule is not None]
        fixed = {each.key: (each.name, each.text()) for each in declared if each.is_fixed}
        self._fixed = _COMMON | fixed
        self._declared = fixed
        self._timed = [each for each in declared if not each.is_fixed]
        secret = (filled(rule, upstream, credentials) for rule in upstream.query)
        self._query = {rule.name: rule.text() for rule in secret if rule is not None}
        self._slots = sent_slots(upstream, credentials)
        self._has_slots = bool(upstream.slots)
        self._operations = {each.id: each for each in upstream.operations}
        self._deep = frozenset(each.id for each in upstream.operations if _has_deep_query(each))
        self._forms: dict[str, FormBody] = {}
        """By operation, made by its first request."""
        self._edges: dict[str, tuple[_Edges, ...]] = {}
        """By operation, made by its first request. Those of imported documents need none."""

    @property
    def needs_token(self) -> bool:
        """Whether a header contains the access token."""
        return any(TOKEN in header.parts for header in self._timed)

    def encode(self, request: UpstreamRequest, now: str) -> WireRequest:
        """`request`, sent at the time `now`. The access token is missing; `signed` adds it.

        Raises `MalformedRequest` for the path segments ``''``, `.` and `..`, for control characters
        in the path, and for header values that are not printable ASCII. None of them may be sent,
        in any encoding.
        """
        if request.encoded is not None:
            return self._encoded(request, request.encoded)
        headers = {name.lower(): _header(name, value) for name, value in request.headers}
        headers.update(self._fixed)
        headers |= self._stamps(now, token="")
        content = self._content(request.operation, request.body)
        body = None
        if content is not None:
            media_type, body = content
            headers["content-type"] = ("Content-Type", media_type)
        wire = WireRequest(
            method=request.method,
            target=self._target(request),
            headers=tuple(headers.values()),
            body=body,
            departure=request.departure,
        )
        return self._with_credentials(wire, request.operation) if self._has_slots else wire

    def _with_credentials(self, wire: WireRequest, operation_id: str) -> WireRequest:
        """`wire` with the credentials that its operation needs."""
        operation = self._operations.get(operation_id)
        if operation is None:
            return wire
        sent = self._slots.chosen(operation.slots, operation.scopes)
        return replace(
            wire,
            target=sent.added_to(wire.target),
            headers=tuple(sent.merged(wire.headers)),
            token=sent.token,
        )

    def _content(self, operation_id: str, body: Any | UnsetType) -> tuple[str, bytes] | None:
        """The Content-Type and the bytes of `body`. None: no body is sent."""
        if body is UNSET:
            return None
        operation = self._operations.get(operation_id)
        if operation is not None and body == {} and not operation.is_body_required:
            return None
        if operation is None or not operation.takes_form:
            return _JSON, jsontext.encode(body)
        form = self._forms.get(operation.id)
        if form is None:
            form = self._forms[operation.id] = _form_of(operation)
        entries = [(name, each, child("", name)) for name, each in body.items()]
        return FORM, form.text(entries).encode("ascii")

    def _encoded(self, request: UpstreamRequest, encoded: EncodedRequest) -> WireRequest:
        """A request that is encoded already, with the credentials that its operation needs."""
        # A document may declare the headers that are common. It cannot replace declared ones.
        headers = [*_COMMON.values(), *encoded.headers, *self._declared.values()]
        if encoded.media_type is not None:
            headers.append(("Content-Type", encoded.media_type))
        sent = self._slots.chosen(request.slots, request.scopes)
        return WireRequest(
            method=request.method,
            target=sent.added_to(encoded.target),
            headers=tuple(sent.merged(headers)),
            body=None if encoded.media_type is None else encoded.body,
            server=request.server,
            token=sent.token,
            watch=request.watch,
            admits_redirect=request.admits_redirect,
            departure=request.departure,
        )

    def signed(self, wire: WireRequest, now: str, token: str) -> WireRequest:
        """`wire`, sent at the time `now` with this access token. The body is not encoded again."""
        if wire.token is not None:
            authorization = ("Authorization", f"Bearer {token}")
            return replace(wire, headers=(*wire.headers, authorization))
        headers = {name.lower(): (name, value) for name, value in wire.headers}
        headers |= self._stamps(now, token)
        return replace(wire, headers=tuple(headers.values()))

    def _stamps(self, now: str, token: str) -> dict[str, tuple[str, str]]:
        return {each.key: (each.name, each.text(now, token)) for each in self._timed}

    def _target(self, request: UpstreamRequest) -> str:
        edges = self._edges.get(request.operation)
        if edges is None:
            edges = self._edges[request.operation] = self._new_edges(request.operation)
        if len(edges) != len(request.path):
            edges = (_NO_EDGES,) * len(request.path)
        arguments = request.path_arguments or repeat("")
        path = "/" + "/".join(map(_segment, request.path, edges, arguments))
        pairs = request.query
        if request.operation in self._deep:
            pairs = tuple(_flattened(pairs))
        if self._query:
            # As with headers, an argument cannot replace a credential.
            own = (pair for pair in pairs if pair[0] not in self._query)
            pairs = (*own, *self._query.items())
        if not pairs:
            return path
        texts = (f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in pairs)
        return f"{path}?{'&'.join(texts)}"

    def _new_edges(self, operation_id: str) -> "tuple[_Edges, ...]":
        operation = self._operations.get(operation_id)
        return () if operation is None else _edges_of(operation)


def form_encoded(values: Mapping[str, Any]) -> bytes:
    """`values` in the encoding of HTML forms. The name of a list is repeated for each item."""
    return urlencode(values, doseq=True).encode()


class _Edges(Struct, frozen=True):
    """The fixed text around the values of one path segment."""

    before: str = ""
    after: str = ""
    is_fixed: bool = False
    """Whether the segment contains no values, so that `before` is the whole segment."""
    encoded_before: str = ""
    encoded_after: str = ""


_NO_EDGES: Final = _Edges()


def _edges_of(operation: UpstreamOperation) -> tuple[_Edges, ...]:
    edges = []
    for segment in operation.path.split("/")[1:]:
        texts = PATH_PARAMETER.split(segment)
        is_fixed = len(texts) == 1
        before, after = texts[0], "" if is_fixed else texts[-1]
        edges.append(_Edges(before, after, is_fixed, *map(_literal, (before, after))))
    return tuple(edges)


def _segment(text: str, edges: _Edges, arguments: str) -> str:
    """The encoded segment. Raises `MalformedRequest`, which names the `arguments` in it.

    The segments `.` and `..` consist of unreserved characters, so encoding would not change them. A
    colon in the template, as in `{range}:append`, is not encoded, because it is syntax for the
    upstream. A colon in a value is encoded, so that no argument can choose another operation.
    """
    if edges.is_fixed and text == edges.before and text:
        return edges.encoded_before
    if text in {"", ".", ".."} or CONTROL.search(text):
        raise unusable(arguments)
    if not (text.startswith(edges.before) and text.endswith(edges.after)):
        return quote(text, safe="")
    value = text[len(edges.before) : len(text) - len(edges.after)]
    if not value:
        raise unusable(arguments)
    return f"{edges.encoded_before}{quote(value, safe='')}{edges.encoded_after}"


def _literal(text: str) -> str:
    return quote(text, safe=_SEGMENT_SAFE)


def _has_deep_query(operation: UpstreamOperation) -> bool:
    queries = (each for each in operation.parameters if each.get("in") == "query")
    return any(each.get("style") == "deepObject" for each in queries)


def _flattened(pairs: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, str]]:
    """`pairs` with a pair for each text inside a value that is no text."""
    for name, value in pairs:
        if isinstance(value, str):
            yield name, value
        else:
            parts = bracketed(name, value, child("", name), repeats=True)
            yield from ((own, text) for own, text, _ in parts)


def _form_of(operation: UpstreamOperation) -> FormBody:
    """The compiled form of `operation`."""
    fields = [field_of(name, each) for name, each in operation.encoding.items()]
    schema = operation.request_schema or {}
    shapes = Shapes(schema.get("$defs", {}))
    schemas = shapes.properties(schema)
    return FormBody(fields, neighbours_of(fields, schemas, shapes))


def _header(name: str, value: str) -> tuple[str, str]:
    if not HEADER_NAME.fullmatch(name):
        raise MalformedRequest(f"This cannot be the name of a header: {name!a}.")
    return name, header_text(value, name)
