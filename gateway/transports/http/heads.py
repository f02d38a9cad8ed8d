"""Refuses heads that two readers could understand differently, or that are not for this host."""

import re
from itertools import chain
from typing import Final
from urllib.parse import unquote_to_bytes

from gateway.errors import (
    ForbiddenOrigin,
    MalformedRequest,
    MisdirectedRequest,
    UnknownPath,
    UnsupportedMediaType,
)
from gateway.transports.errors import BadFraming
from gateway.transports.http.asgi import Facts, Headers, Scope, new_request_id
from gateway.transports.http.hosts import HostRules, is_of_operator

LENGTH: Final = b"content-length"
REQUEST_ID: Final = b"x-request-id"
_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_ESCAPED_SEPARATOR: Final = re.compile(rb"%(2f|5c|2e)", re.IGNORECASE)
_FRAMING: Final = frozenset({LENGTH, b"transfer-encoding"})
_SINGLE: Final = _FRAMING | {b"host", b"origin", b"content-encoding", REQUEST_ID}
_CASELESS: Final = frozenset({b"host", b"origin"})
BODILESS: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
"""Methods whose requests have no body."""
_VERSIONS: Final = frozenset({"1.1", "1.0"})
_DOTS: Final = frozenset({".", ".."})


def plain(headers: Headers) -> Headers:
    """The headers without the spaces that some servers leave around values; hosts in lower case."""
    return [
        (name, value.strip(b" \t").lower() if name in _CASELESS else value.strip(b" \t"))
        for name, value in headers
    ]


def request_id_in(headers: Headers) -> str:
    """The caller's request id if it is valid, for tracing across systems; else a new one."""
    given = [value for name, value in headers if name == REQUEST_ID]
    if len(given) == 1 and _REQUEST_ID.fullmatch(given[0]):
        return given[0].decode("ascii")
    return new_request_id()


def size_of(headers: Headers) -> int:
    """The bytes of all names and values."""
    return sum(map(len, chain.from_iterable(headers)))


def framed(scope: Scope) -> dict[bytes, bytes]:
    """The headers that may occur only once. Raises `BadFraming` or `MalformedRequest`.

    This check is the first: after any other refusal, the connection stays open and is read on, so
    the end of the body must be certain.
    """
    single, doubled = _singles(scope["headers"])
    _check_framing(scope["method"], single)
    if doubled is not None:
        raise MalformedRequest(f"The header {doubled} occurs twice.")
    return single


def check_version(scope: Scope) -> None:
    """Raise `BadFraming` unless the request says that it is one of HTTP/1.

    A server passes on others, and requests without a version, which end with their first line.
    """
    if scope["http_version"] not in _VERSIONS:
        raise BadFraming("The request line must name HTTP/1.1 or HTTP/1.0.")


def check_length(value: bytes) -> None:
    """Raise `BadFraming` unless `value` is the length of a body."""
    if not value.isdigit():
        raise BadFraming("Content-Length must be a whole number.")


def check_path(scope: Scope) -> None:
    """Refuse paths that two readers could understand differently."""
    _check_escapes(scope.get("raw_path") or b"")
    _check_segments(scope["path"])


def _singles(headers: Headers) -> tuple[dict[bytes, bytes], str | None]:
    """The headers that may occur only once, and the name of one that occurs twice, or None.

    Raises `BadFraming` when a header that defines the end of the body occurs twice.
    """
    found: dict[bytes, bytes] = {}
    doubled = None
    for name, value in headers:
        if name in _SINGLE:
            if name in found and name != REQUEST_ID:
                doubled = name.decode("ascii")
                if name in _FRAMING:
                    raise BadFraming(f"The header {doubled} occurs twice.")
            found[name] = value
    return found, doubled


def _check_framing(method: str, single: dict[bytes, bytes]) -> None:
    """Refuse a body if two readers could find its end at different places (RFC 9112 §6)."""
    length = single.get(LENGTH)
    coding = single.get(b"transfer-encoding")
    if coding is not None and coding.lower() != b"chunked":
        raise BadFraming("Transfer-Encoding must be chunked, and nothing else.")
    if length is not None and coding is not None:
        raise BadFraming("Content-Length and Transfer-Encoding exclude each other.")
    if length is not None:
        check_length(length)
    has_body = coding is not None or bool((length or b"").strip(b"0"))
    if has_body and method in BODILESS:
        raise BadFraming(f"{method} takes no body.")


def check_names(scope: Scope, single: dict[bytes, bytes], hosts: HostRules) -> bool:
    """Raise a `CallerError` for a request to another host, or from a page that may not call.

    Returns whether the host is one of `hosts`. Operators and probes may name this machine too.
    """
    host = single.get(b"host")
    if host is None:
        raise MalformedRequest("There must be one Host header.")
    is_listed = hosts.admits_host(host)
    address = (scope.get("server") or ("",))[0]
    if not is_listed and not is_of_operator(scope["path"], host, address):
        raise MisdirectedRequest
    origin = single.get(b"origin")
    if origin is not None and not hosts.admits_origin(origin, host):
        raise ForbiddenOrigin
    return is_listed


def check_coding(single: dict[bytes, bytes]) -> None:
    """Raise `UnsupportedMediaType` for an encoded body."""
    if single.get(b"content-encoding", b"identity").lower() != b"identity":
        raise UnsupportedMediaType


def _check_segments(path: str) -> None:
    """Refuse empty segments and segments of dots: a router could take the path for another one."""
    if "//" in path or ("/." in path and not _DOTS.isdisjoint(path.split("/"))):
        raise UnknownPath


def _check_escapes(raw_path: bytes) -> None:
    """Refuse percent-escapes that two readers could decode differently."""
    if b"%" not in raw_path:
        return
    path = unquote_to_bytes(raw_path)
    try:
        path.decode("utf-8")
    except UnicodeDecodeError:
        raise MalformedRequest("The path is not valid UTF-8.") from None
    if b"\0" in path or _ESCAPED_SEPARATOR.search(raw_path):
        raise MalformedRequest("The path holds an escaped separator, dot or NUL.")


_VARYING: Final = frozenset({REQUEST_ID, b"traceparent", b"tracestate", b"transfer-encoding"})
"""Fields that differ from request to request, or that decide where it ends."""
_MAX_BYTES: Final = 4096
"""Larger heads are not kept: there may be many connections."""


class KeptHead:
    """The fields of a request that passed all checks of them, except its Content-Length."""

    __slots__ = ("_after", "_before", "_length_at", "_method", "facts", "owner", "size")

    def __init__(self, scope: Scope, length_at: int | None, size: int, owner: object) -> None:
        headers: Headers = scope["headers"]
        self._method: str = scope["method"]
        self._length_at = length_at
        self._before = headers if length_at is None else headers[:length_at]
        self._after = [] if length_at is None else headers[length_at + 1 :]
        self.size = size if length_at is None else size - len(headers[length_at][1])
        """The bytes of all names and values, without the value of Content-Length."""
        self.owner = owner
        """Stands for the one who has checked it, by which rules."""
        self.facts: Facts = {}

    @property
    def has_length(self) -> bool:
        """Whether it has a Content-Length."""
        return self._length_at is not None

    def is_of(self, scope: Scope) -> bool:
        """Whether a request has the same method and, except for the Content-Length, fields."""
        headers: Headers = scope["headers"]
        if scope["method"] != self._method:
            return False
        at = self._length_at
        if at is None:
            return bool(headers == self._before)
        has_length = len(headers) > at and headers[at][0] == LENGTH
        return has_length and headers[:at] == self._before and headers[at + 1 :] == self._after

    def length_of(self, scope: Scope) -> bytes:
        """The Content-Length of a request that has this head. Empty if there is none."""
        headers: Headers = scope["headers"]
        return b"" if self._length_at is None else headers[self._length_at][1]


def keep(scope: Scope, owner: object) -> KeptHead | None:
    """What is kept of a request that passed all checks. None: the next one is checked in full."""
    headers: Headers = scope["headers"]
    length_at = None
    for number, (name, _) in enumerate(headers):
        if name in _VARYING:
            return None
        if name == LENGTH:
            length_at = number
    if length_at is not None and scope["method"] in BODILESS:
        return None
    size = size_of(headers)
    return KeptHead(scope, length_at, size, owner) if size <= _MAX_BYTES else None
