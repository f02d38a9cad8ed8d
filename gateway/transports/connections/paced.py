"""A connection whose calls begin in turn, and are refused at little cost when too many wait.

Reads the head of an HTTP/1.1 request by RFC 9112, where uvicorn differs from it.
"""

import re
from collections.abc import Hashable
from functools import partial
from typing import Any, Final, cast

from httptools import HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from gateway.bounds.shares import Connected, ConnectionTable
from gateway.errors import GatewayError, LimitExceeded, MalformedRequest
from gateway.transports.connections.queue import Flow, RequestQueue, WaitingCall
from gateway.transports.http.asgi import (
    Headers,
    Receive,
    Scope,
    Send,
    new_request_id,
    request_id_of,
    with_safety_headers,
)
from gateway.transports.http.problems import CLOSE, PROBLEM_JSON, send_refusal, written

_ANY_ID: Final = "-" * len(new_request_id())


def raw_answer(error: GatewayError, default_headers: Headers) -> bytes:
    """A whole answer with `error`. It is the last answer on its connection."""
    return _answer(error, default_headers, new_request_id(), [CLOSE])


class RepeatedAnswer:
    """The same answer to many requests, which keep their connections. Only the ids differ."""

    def __init__(self, error: GatewayError) -> None:
        self._error = error
        self._headers: Headers | None = None
        self._parts: list[bytes] = []

    def written(self, default_headers: Headers) -> bytes:
        """A whole answer with a new request id."""
        if default_headers is not self._headers:
            # The server makes new ones each second, for their date.
            answer = _answer(self._error, default_headers, _ANY_ID, [])
            self._headers, self._parts = default_headers, answer.split(_ANY_ID.encode())
        return new_request_id().encode().join(self._parts)


def _answer(error: GatewayError, default_headers: Headers, request_id: str, last: Headers) -> bytes:
    status, own, body = written(error, request_id)
    length = b"%d" % len(body)
    own += [(b"content-type", PROBLEM_JSON), (b"content-length", length)]
    own += [field for field in last if field not in own]
    fields = with_safety_headers([*default_headers, *own], request_id)
    lines = [b"%b: %b\r\n" % field for field in fields]
    return b"".join([STATUS_LINE[status], *lines, b"\r\n", body])


_ABSOLUTE: Final = re.compile(rb"https?://([^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)


class HeadProtocol(HttpToolsProtocol):
    """uvicorn's connection, which also ignores protocol upgrades and accepts absolute targets."""

    def on_headers_complete(self) -> None:
        """Pass the request on. Raises a `CallerError`; the parser's error has it as context."""
        if self.parser.should_upgrade():
            if self.parser.get_method() == b"CONNECT":
                raise MalformedRequest("This gateway is not a proxy.")
            return
        self.check_request()
        if not self.url.startswith(b"/"):
            self._take_authority()
        super().on_headers_complete()
        # Trailer fields after the body (RFC 9112 §7.1.2) must not be taken for headers.
        self.headers = []
        self.note_request()

    def note_request(self) -> None:
        """Called when a request was passed on and its body begins."""

    def check_request(self) -> None:
        """Called when a head is complete. Raises a `CallerError` to refuse the request."""

    def _should_upgrade(self) -> bool:
        """True, so that uvicorn leaves a request for another protocol to `feed`."""
        return True

    def feed(self, data: bytes) -> None:
        """Parse `data`. A request to change the protocol is ignored (RFC 9110 §7.8).

        The parser stops before the body of such a request. So a new parser gets the request without
        its Upgrade header.
        """
        rest = memoryview(data)
        while True:
            try:
                self.parser.feed_data(rest)
            except HttpParserUpgrade as upgrade:
                rest = rest[upgrade.args[0] :]
                head = self._head_without_upgrade()
                self.parser = HttpRequestParser(self)
                # As uvicorn does: bytes after the last request do not change its answer.
                self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
                self.parser.feed_data(head)
            else:
                return

    def _head_without_upgrade(self) -> bytes:
        version = self.parser.get_http_version().encode("ascii")
        line = b"%b %b HTTP/%b\r\n" % (self.parser.get_method(), self.url, version)
        fields = [b"%b: %b\r\n" % field for field in self.headers if field[0] != b"upgrade"]
        return b"".join([line, *fields, b"\r\n"])

    def _take_authority(self) -> None:
        """Replace Host by the authority of an absolute target (RFC 9112 §3.2.2)."""
        target = _ABSOLUTE.fullmatch(self.url)
        if target is None:
            raise MalformedRequest("The request target must be a path.")
        authority, path = target.groups()
        self.url = path if path.startswith(b"/") else b"/" + path
        self.headers[:] = [
            (name, authority if name == b"host" else value) for name, value in self.headers
        ]


CALL_PATHS: Final = ("/v1/", "/mcp", "/tools/")
PAGE_PATHS: Final = ("/docs", "/openapi.json", "/asyncapi.json", "/problems/")
"""Requests of these begin in turn, as calls do, but have no end that is known."""
_STARTS: Final = tuple(b"POST " + path.encode() for path in CALL_PATHS)
TOOL_HEADER: Final = b"mcp-name"
"""What names the tool of an MCP call since the revision 2026-07-28."""
_TOOL: Final = re.compile(rb"\nmcp-name:([^\r\n]*)", re.IGNORECASE)
_END: Final = b"\r\n\r\n"
_HEAD: Final = re.compile(
    rb"POST [!$-~]+ HTTP/1\.1(?:\r\n[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*)+"
)
"""The only form taken: what a parser refuses does not have it. It has no continued lines, and no
CR or LF by itself, which is a line end for some readers."""
_FRAMING: Final = re.compile(
    rb"\n(content-length|transfer-encoding|connection|expect|upgrade)([^\n]*)", re.IGNORECASE
)
"""The headers that decide where a request ends."""
_LENGTH: Final = re.compile(rb":[ \t]*([0-9]{1,9})[ \t]*\r?")
_PERSISTENT: Final = re.compile(rb":[ \t]*keep-alive[ \t]*\r?", re.IGNORECASE)


def length_of_call(data: bytes) -> int | None:
    """The bytes of the call that begins with `data`: its head, which is whole, and its body.

    None if it is no call, or if its end is not beyond doubt. RFC 9112 §6 has many ways to delimit
    a body, and only the one that all clients use is taken here.
    """
    if not data.startswith(_STARTS):
        return None
    end = data.find(_END)
    if end < 0:
        return None
    head = data[:end]
    length = _declared(head) if _HEAD.fullmatch(head) else None
    return None if length is None else end + len(_END) + length


def tool_of_call(data: bytes) -> bytes:
    """What distinguishes the tool of the call that begins with `data` from others.

    The calls of the handshake revisions of MCP name their tool in the body only: all are equal.
    """
    head = data[: data.find(_END)]
    path = head[: head.find(b"\r")].split(b" ", 2)[1].partition(b"?")[0]
    found = _TOOL.search(head)
    return named(path, found[1] if found else b"")


def named(path: bytes, name: bytes) -> bytes:
    """The path and the name of a tool in a single key."""
    return path + b" " + name.strip(b" \t")


def _declared(head: bytes) -> int | None:
    """The only Content-Length. None if there is not exactly one, or another header matters."""
    length = None
    for name, rest in _FRAMING.findall(head):
        found = _LENGTH.fullmatch(rest) if name.lower() == b"content-length" else None
        if found is not None and length is None:
            length = int(found[1])
        elif name.lower() != b"connection" or not _PERSISTENT.fullmatch(rest):
            return None
    return length


_PACED: Final = (*CALL_PATHS, *PAGE_PATHS)
_OVERLOADED: Final = LimitExceeded(
    "More calls arrive than the gateway can serve. Nothing was done; try again."
)
_MANY: Final = LimitExceeded("There are too many requests from this address at the same time.")
_answers: Final = RepeatedAnswer(_OVERLOADED)


class PacedProtocol(HeadProtocol):
    """Gives calls and pages to a queue before they begin. Other requests begin at once.

    A call that is refused costs its sender's connection nothing: it stays open.
    """

    queue: RequestQueue
    table: ConnectionTable
    host: Hashable
    """The group of the peer's address; None if the peer is one of our proxies."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._is_between = True
        """Whether the parser has read the last request completely, and nothing after it."""
        self._unread = 0
        """Bytes of a refused call's body that have not arrived."""
        self._users: list[Hashable] = []
        """The client for which a proxy uses the connection now, if one does."""

    def on_message_begin(self) -> None:
        """Note that a request begins."""
        self._is_between = False
        super().on_message_begin()

    def on_message_complete(self) -> None:
        """Note that a request has ended."""
        self._is_between = True
        super().on_message_complete()

    def turn_away(self, data: bytes) -> bool:
        """Refuse the call that `data` is, if too many calls wait.

        Returns whether it did so. Otherwise `data` must be parsed.
        """
        if self._unread:
            return self._drop_body(data)
        if not (self.queue.is_long() and self._is_idle()):
            return False
        length = length_of_call(data)
        if length is None or length < len(data):
            return False
        if not self.queue.must_refuse(self.host, partial(tool_of_call, data)):
            return False
        self.queue.note_refusal()
        self._unread = length - len(data)
        self._unset_keepalive_if_required()
        self.transport.write(_answers.written(self.server_state.default_headers))
        self.note_answer()
        return True

    def note_answer(self) -> None:
        """Called when a call was answered without the application."""

    def _drop_body(self, data: bytes) -> bool:
        rest = data[self._unread :]
        self._unread -= len(data) - len(rest)
        if rest:
            self.data_received(rest)
        return True

    def _is_idle(self) -> bool:
        """Whether no request is arriving, served or waiting, and the client reads its answers."""
        is_answered = self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]  # None before the first request
        return self._is_between and is_answered and not self.flow.write_paused

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Begin to serve a request, or let it wait, or refuse it."""
        scope = cast("Scope", cycle.scope)
        client = self.client_in(scope)
        if self.host is None:
            if not self.table.use(cast("Connected", self), client):
                super()._start_asgi_task(cycle, partial(_refuse, _MANY))
                return
            self._users.append(client)
        if not cycle.scope["path"].startswith(_PACED) or self.queue.may_begin():
            super()._start_asgi_task(cycle, app)
            return
        own = Flow(client, _tool_of(scope))
        refuse = partial(self._begin, cycle, partial(_refuse, _OVERLOADED))
        if not self.queue.add(own, WaitingCall(partial(self._begin, cycle, app), refuse)):
            self.queue.note_refusal()
            refuse()

    def on_response_complete(self) -> None:
        """Note that the proxy may use the connection for another client."""
        self._release()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that no client uses the connection."""
        self._release()
        super().connection_lost(exc)

    def _release(self) -> None:
        while self._users:
            self.table.release(self._users.pop())

    def client_in(self, _scope: Scope) -> Hashable:
        """The group of the client's address. Calls of different clients take turns."""
        return self.host

    def _begin(self, cycle: RequestResponseCycle, app: Any) -> None:
        # What nobody waits for needs no work: nothing of it has been read.
        if not cycle.disconnected:
            super()._start_asgi_task(cycle, app)


def _tool_of(scope: Scope) -> bytes:
    """The same as `tool_of_call`, of a head that was parsed."""
    for name, value in scope["headers"]:
        if name == TOOL_HEADER:
            return named(scope["raw_path"], value)
    return named(scope["raw_path"], b"")


async def _refuse(error: LimitExceeded, scope: Scope, _receive: Receive, send: Send) -> None:
    request_id = request_id_of(scope)

    async def send_safely(message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = with_safety_headers(message["headers"], request_id)
            message = {**message, "headers": headers}
        await send(message)

    await send_refusal(send_safely, error, request_id)
