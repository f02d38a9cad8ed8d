"""Refuses heads that two readers could understand differently, or that are not for this host.

`Host` and `Origin` are checked against lists, which protects from DNS rebinding and CSRF.
"""

import re
from collections.abc import Iterable
from itertools import chain, product
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

_LOOPBACK: Final = frozenset({b"localhost", b"127.0.0.1", b"[::1]"})
_OF_OPERATORS: Final = ("/operator/", "/metrics")
PROBES: Final = frozenset({"/health", "/healthz", "/readyz"})


class HostRules:
    """The allow-lists for Host and Origin.

    A host is listed as `name` (any port) or as `name:port`, an IPv6 address in brackets. An origin
    is listed in full: `https://ui.example.com`. The gateway's own pages may always call it.
    """

    def __init__(self, hosts: Iterable[str], origins: Iterable[str] = ()) -> None:
        self._hosts = frozenset(host.lower().removesuffix(":*").encode() for host in hosts)
        self._origins = frozenset(origin.lower().rstrip("/").encode() for origin in origins)

    def admits_host(self, host: bytes) -> bool:
        """Whether the Host header `host` names this gateway."""
        host = host.lower()
        return host in self._hosts or _name_in(host) in self._hosts

    def admits_origin(self, origin: bytes, host: bytes) -> bool:
        """Whether pages from `origin` may call: it is listed, or has the host and port `host`."""
        origin = origin.lower()
        if origin in self._origins:
            return True
        scheme, _, authority = origin.partition(b"://")
        return scheme in {b"http", b"https"} and authority == host.lower()

    @property
    def origins(self) -> tuple[str, ...]:
        """The listed origins."""
        return tuple(sorted(origin.decode() for origin in self._origins))

    def host_patterns(self) -> list[str]:
        """The hosts in the form of the MCP SDK's security settings."""
        names = sorted(host.decode() for host in self._hosts)
        return [*names, *(f"{name}:*" for name in names)]

    def origin_patterns(self) -> list[str]:
        """The origins in the form of the MCP SDK's security settings."""
        own = product(("http", "https"), self.host_patterns())
        return [*self.origins, *(f"{scheme}://{host}" for scheme, host in own)]


def is_of_operator(path: str, host: bytes, address: str) -> bool:
    """Whether the Host header names this machine, for a path that operators and probes use.

    `address`: that at which the connection arrived. An orchestrator probes it, whatever the names
    of the gateway are. No page of another host can make a browser send such a header.
    """
    if path not in PROBES and not path.startswith(_OF_OPERATORS):
        return False
    host = host.lower()
    name = _name_in(host) or host
    own = f"[{address}]" if ":" in address else address
    return name in _LOOPBACK or (bool(own) and name == own.encode())


def _name_in(host: bytes) -> bytes:
    """The name in the header `host` that has a port. Empty if it has none."""
    name, colon, port = host.rpartition(b":")
    return name if colon and port.isdigit() and len(port) <= 5 else b""


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
