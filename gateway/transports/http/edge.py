"""The outermost layer: checks every HTTP request before any other part of the gateway reads it.

RFC 9110 and 9112 leave many checks to the server, and ASGI servers leave many of them to the
application. With the checks here, the gateway refuses the same requests under each ASGI server.
"""

import asyncio
import re
from itertools import chain
from typing import Final
from urllib.parse import unquote_to_bytes

from msgspec import Struct

from gateway.errors import (
    ForbiddenOrigin,
    HeadersTooLarge,
    MalformedRequest,
    MisdirectedRequest,
    Stopping,
    UnknownPath,
    UnsupportedMediaType,
)
from gateway.limits.throttle import Throttle
from gateway.observability.logs import request_id as logged_request_id
from gateway.trace_context import current_trace
from gateway.transports.http.asgi import (
    App,
    ClientGone,
    Headers,
    Message,
    Receive,
    Scope,
    Send,
    name_request,
    new_request_id,
    request_id_of,
    with_safety_headers,
)
from gateway.transports.http.hosts import HostRules
from gateway.transports.http.peers import Peers, Sender
from gateway.transports.http.problems import send_problem
from gateway.transports.http.request_body import RequestBody
from gateway.transports.http.request_throttle import RequestThrottle
from gateway.transports.http.traces import trace_of
from gateway.transports.request_errors import BadFraming

_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_ESCAPED_SEPARATOR: Final = re.compile(rb"%(2f|5c|2e)", re.IGNORECASE)
_SINGLE: Final = (
    b"host",
    b"origin",
    b"content-length",
    b"transfer-encoding",
    b"content-encoding",
    b"x-request-id",
)
_FRAMING: Final = (b"content-length", b"transfer-encoding")
_CASELESS: Final = (b"host", b"origin")
_CALLED: Final = ("/v1/", "/mcp", "/tools/")
_OWN_HEAD: Final = (*_CALLED, "/events")
"""Paths whose transports answer HEAD themselves. A stream that is answered as a GET never ends."""
_CARD: Final = "/server-card"
"""The end of the paths of pages under `/mcp`."""
_BODILESS: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_DOTS: Final = frozenset({".", ".."})


class EdgeRules(Struct, frozen=True, kw_only=True):
    """The limits of a request: its size, its time, its sender and its hosts."""

    hosts: HostRules
    peers: Peers = Peers()
    """Finds the sender of each request."""
    throttle: Throttle | None = None
    """Counts requests without a valid key; None counts none."""
    max_body_bytes: int = 1024 * 1024
    body_deadline_seconds: float = 10.0
    """The time for the whole body, from the moment when the gateway starts to read it."""
    max_headers: int = 100
    max_header_bytes: int = 32 * 1024
    """The limit for all names, all values and the request target together."""


class Edge:
    """Refuses bad requests, gives each request an id, limits bodies, adds the safety headers."""

    def __init__(self, app: App, rules: EdgeRules) -> None:
        self._app = app
        self._rules = rules
        self._throttle = RequestThrottle(rules.throttle)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection. Refuses WebSockets, and passes the lifespan on to the app."""
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["headers"] = _plain(scope["headers"])
        request_id = _request_id(scope["headers"])
        name_request(scope, request_id)
        sender = self._rules.peers.note(scope)
        # One task serves one request, so this context variable ends with the request.
        logged_request_id.set(request_id)
        current_trace.set(trace_of(scope["headers"]))
        answer = _Answer(scope, sender, send, self._throttle)
        rules = self._rules
        body = RequestBody(
            scope, sender, receive, rules.max_body_bytes, rules.body_deadline_seconds
        )
        try:
            self._inspect(scope)
            await self._throttle.admit(scope, sender)
            await self._app(_asked_as_get(scope), body.receive, answer.send)
        except ClientGone:
            return
        except asyncio.CancelledError:
            # Only the server cancels a whole request: when its grace period ends.
            if not answer.is_started:
                await send_problem(answer.send, _cut_off(answer.path, body), request_id)
        except Exception as error:
            if answer.is_started:
                raise
            await send_problem(answer.send, error, request_id)

    def _inspect(self, scope: Scope) -> None:
        """Raise a `CallerError` when the request must be refused."""
        single, doubled = _singles(scope["headers"])
        # This check is first: after any other refusal, the connection stays open and is read on,
        # so the end of the body must be certain.
        _check_framing(scope["method"], single)
        if doubled is not None:
            raise MalformedRequest(f"The header {doubled} occurs twice.")
        self._check_size(scope)
        _check_path(scope.get("raw_path") or b"")
        _check_segments(scope["path"])
        self._check_names(single)
        if single.get(b"content-encoding", b"identity").lower() != b"identity":
            raise UnsupportedMediaType

    def _check_size(self, scope: Scope) -> None:
        headers: Headers = scope["headers"]
        target = len(scope.get("raw_path") or b"") + len(scope.get("query_string", b""))
        size = target + sum(map(len, chain.from_iterable(headers)))
        if len(headers) > self._rules.max_headers or size > self._rules.max_header_bytes:
            raise HeadersTooLarge

    def _check_names(self, single: dict[bytes, bytes]) -> None:
        host = single.get(b"host")
        if host is None:
            raise MalformedRequest("There must be one Host header.")
        if not self._rules.hosts.admits_host(host):
            raise MisdirectedRequest
        origin = single.get(b"origin")
        if origin is not None and not self._rules.hosts.admits_origin(origin, host):
            raise ForbiddenOrigin


class _Answer:
    """Adds the headers of every answer, removes the body for HEAD, and notes the start."""

    def __init__(self, scope: Scope, sender: Sender, send: Send, throttle: RequestThrottle) -> None:
        self.path: str = scope["path"]
        """The path of the request. A router may later change the one in the scope."""
        self._sender = sender
        self._send = send
        self._throttle = throttle
        self._request_id = request_id_of(scope)
        self._has_body = scope["method"] != "HEAD"
        self.is_started = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if message["status"] >= 400:
                await self._throttle.note_refusal(self.path, self._sender, message["status"])
            self.is_started = True
            headers = with_safety_headers(message.get("headers", ()), self._request_id)
            message = {**message, "headers": headers}
        elif not self._has_body:
            message = {**message, "body": b""}
        await self._send(message)


def _cut_off(path: str, body: RequestBody) -> Stopping:
    """The error for a request that the server does not wait for any longer."""
    stopping = Stopping()
    if path.startswith(_CALLED) and body.is_complete:
        stopping = Stopping("The gateway is stopping. A write may have happened: check first.")
        stopping.is_retryable = False
    return stopping


def _asked_as_get(scope: Scope) -> Scope:
    """The request, with GET in place of the HEAD of a page. Only the body of the answer differs."""
    path: str = scope["path"]
    is_own = path.startswith(_OWN_HEAD) and not path.endswith(_CARD)
    if scope["method"] != "HEAD" or is_own:
        return scope
    # The server must still see HEAD, or it would wait for the body.
    return {**scope, "method": "GET"}


def _plain(headers: Headers) -> Headers:
    """The headers without the spaces that some servers leave around values; hosts in lower case."""
    return [
        (name, value.strip(b" \t").lower() if name in _CASELESS else value.strip(b" \t"))
        for name, value in headers
    ]


def _request_id(headers: Headers) -> str:
    """The caller's request id if it is valid, for tracing across systems; else a new one."""
    given = [value for name, value in headers if name == b"x-request-id"]
    if len(given) == 1 and _REQUEST_ID.fullmatch(given[0]):
        return given[0].decode("ascii")
    return new_request_id()


def _singles(headers: Headers) -> tuple[dict[bytes, bytes], str | None]:
    """The headers that may occur only once, and the name of one that occurs twice, or None.

    Raises `BadFraming` when a header that defines the end of the body occurs twice.
    """
    found: dict[bytes, bytes] = {}
    doubled = None
    for name, value in headers:
        if name in _SINGLE:
            if name in found and name != b"x-request-id":
                doubled = name.decode("ascii")
                if name in _FRAMING:
                    raise BadFraming(f"The header {doubled} occurs twice.")
            found[name] = value
    return found, doubled


def _check_framing(method: str, single: dict[bytes, bytes]) -> None:
    """Refuse a body if two readers could find its end at different places (RFC 9112 §6)."""
    length = single.get(b"content-length")
    coding = single.get(b"transfer-encoding")
    if coding is not None and coding.lower() != b"chunked":
        raise BadFraming("Transfer-Encoding must be chunked, and nothing else.")
    if length is not None and coding is not None:
        raise BadFraming("Content-Length and Transfer-Encoding exclude each other.")
    if length is not None and not length.isdigit():
        raise BadFraming("Content-Length must be a whole number.")
    has_body = coding is not None or bool((length or b"").strip(b"0"))
    if has_body and method in _BODILESS:
        raise BadFraming(f"{method} takes no body.")


def _check_segments(path: str) -> None:
    """Refuse empty segments and segments of dots: a router could take the path for another one."""
    if "//" in path or ("/." in path and not _DOTS.isdisjoint(path.split("/"))):
        raise UnknownPath


def _check_path(raw_path: bytes) -> None:
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
