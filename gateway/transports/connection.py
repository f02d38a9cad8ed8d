"""One HTTP/1.1 connection: what is refused before there is a request that the edge could judge."""

import asyncio
import re
from typing import Any, ClassVar, Final, cast

import msgspec
from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from msgspec import Struct
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from gateway.errors import (
    CallerError,
    GatewayError,
    HeadersTooLarge,
    LimitExceeded,
    MalformedRequest,
)
from gateway.transports.asgi import Headers, new_request_id, with_safety_headers
from gateway.transports.problem_kinds import BodyTooSlow
from gateway.transports.problems import PROBLEM_JSON, problem_headers, problem_of

_ABSOLUTE: Final = re.compile(rb"https?://([^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)
_CLOSE: Final = (b"connection", b"close")
_LINGER_SECONDS: Final = 1.0
_NEVER: Final = float("inf")


class ConnectionLimits(Struct, frozen=True, kw_only=True):
    """What a client may cost before it has sent one whole request head."""

    max_head_bytes: int = 36 * 1024
    """Request line and headers as they arrive, or anything else between two pieces of a body. The
    edge's own limit is exact, and lower: here line ends count too."""
    head_deadline_seconds: float = 10.0
    """For a whole head, from the opening of the connection or the answer before."""
    max_connections: int = 900
    """At once. Below the 1,024 files that most systems let a process open."""
    max_pipelined: int = 32
    """Requests of one connection that wait for the answers before theirs."""
    stall_seconds: float = 30.0
    """For a client to take some of what waits for it: `stall_bytes`, or all there is."""
    stall_bytes: int = 16 * 1024


class Connection(HttpToolsProtocol):
    """uvicorn's connection, with limits on what arrives before the application sees any of it.

    uvicorn calls the application once a head is complete, and reads without bound until then.
    """

    limits: ClassVar[ConnectionLimits] = ConnectionLimits()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._untold = 0
        """Bytes that the parser was fed since it last told of a head or of a piece of a body."""
        self._waiting_since = self.loop.time()
        """When the client's turn began; never, while an answer is owed."""
        self._is_refused = False
        self._stall: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to count and to wait."""
        super().connection_made(cast("asyncio.Transport", transport))
        self._watch_from(self.loop.time())
        if len(self.connections) > self.limits.max_connections:
            self._refuse(LimitExceeded("The gateway has as many connections as it can take."))
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._watch.cancel()
        self._end_stall()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Begin to wait for a client that takes its answer more slowly than it is made."""
        super().pause_writing()
        self._await_drain()

    def resume_writing(self) -> None:
        """Go on: it has taken nearly all."""
        self._end_stall()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        """Read what arrived; after a refusal it is dropped."""
        if self._is_refused:
            return
        self._unset_keepalive_if_required()
        self._untold += len(data)
        try:
            self._feed(data)
        except HttpParserError as error:
            cause = error.__context__
            self._refuse(cause if isinstance(cause, CallerError) else MalformedRequest())
        else:
            if self._untold > self.limits.max_head_bytes:
                self._refuse(HeadersTooLarge())

    def on_headers_complete(self) -> None:
        """Hand the request on. Raises a `CallerError`, which the parser passes on as context."""
        if self.parser.should_upgrade():
            if self.parser.get_method() == b"CONNECT":
                raise MalformedRequest("This gateway is no proxy.")
            return
        if len(self.pipeline) >= self.limits.max_pipelined:
            raise MalformedRequest("Too many requests wait for the answers before theirs.")
        if not self.url.startswith(b"/"):
            self._take_authority()
        self._untold = 0
        self._waiting_since = _NEVER
        super().on_headers_complete()
        # What follows the body (RFC 9112 §7.1.2) must not pass for what stood before it.
        self.headers = []

    def on_body(self, body: bytes) -> None:
        """Hand a piece of the body on."""
        self._untold = 0
        super().on_body(body)

    def on_response_complete(self) -> None:
        """Wait for the next request, unless it is there already."""
        super().on_response_complete()
        if self.cycle.response_complete:
            self._waiting_since = self.loop.time()

    def _should_upgrade(self) -> bool:
        """Whether to leave a request alone that asks for another protocol: `_feed` reads it."""
        return True

    def _feed(self, data: bytes) -> None:
        """Have `data` parsed; a request to change the protocol is ignored (RFC 9110 §7.8).

        The parser stops before the body of such a request, so the request is given, without its
        Upgrade header, to a new parser.
        """
        rest = memoryview(data)
        while True:
            try:
                self.parser.feed_data(rest)
            except HttpParserUpgrade as upgrade:
                rest = rest[upgrade.args[0] :]
                head = self._head_without_upgrade()
                self.parser = HttpRequestParser(self)
                # As uvicorn does: the answer to a last request stands, whatever follows it.
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
        """Let the authority of an absolute target stand for Host, as RFC 9112 §3.2.2 asks for."""
        target = _ABSOLUTE.fullmatch(self.url)
        if target is None:
            raise MalformedRequest("The request target must be a path.")
        authority, path = target.groups()
        self.url = path if path.startswith(b"/") else b"/" + path
        self.headers[:] = [
            (name, authority if name == b"host" else value) for name, value in self.headers
        ]

    def _watch_from(self, now: float) -> None:
        # One timer that looks again, as a timer for each request would cost each request.
        due = self._waiting_since + self.limits.head_deadline_seconds
        latest = now + self.limits.head_deadline_seconds
        self._watch = self.loop.call_at(min(due, latest), self._look)

    def _look(self) -> None:
        now = self.loop.time()
        if now < self._waiting_since + self.limits.head_deadline_seconds:
            self._watch_from(now)
        elif self._untold:
            self._refuse(BodyTooSlow("The request did not arrive whole in time."))
        else:
            self.transport.close()

    def _await_drain(self) -> None:
        waiting = self.transport.get_write_buffer_size()
        self._stall = self.loop.call_later(self.limits.stall_seconds, self._cut_if_stalled, waiting)

    def _cut_if_stalled(self, before: int) -> None:
        if before - self.transport.get_write_buffer_size() < self.limits.stall_bytes:
            # Not closed: that would wait for the client to take the rest.
            self.transport.abort()
        else:
            self._await_drain()

    def _end_stall(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def _refuse(self, error: GatewayError) -> None:
        """Answer with `error` and close; an answer that is owed already comes in its place."""
        self._is_refused = True
        if self._waiting_since < _NEVER or self._may_answer_instead():
            self.transport.write(_answer(error, self.server_state.default_headers))
            # Closed with bytes unread, the connection would be reset, and the answer lost with it.
            self.transport.write_eof()
            self._watch.cancel()
            self._watch = self.loop.call_later(_LINGER_SECONDS, self.transport.abort)
        else:
            self.cycle.keep_alive = False

    def _may_answer_instead(self) -> bool:
        """Whether the application's answer can be replaced: that to a request still arriving."""
        return self.cycle.more_body and not self.cycle.response_started and not self.pipeline


def _answer(error: GatewayError, default_headers: Headers) -> bytes:
    """A whole answer to a request of which no more than `error` is known."""
    request_id = new_request_id()
    problem = problem_of(error, request_id)
    body = msgspec.json.encode(problem)
    own = [(b"content-type", PROBLEM_JSON), (b"content-length", b"%d" % len(body)), _CLOSE]
    own += [field for field in problem_headers(error) if field != _CLOSE]
    fields = with_safety_headers([*default_headers, *own], request_id)
    lines = [b"%b: %b\r\n" % field for field in fields]
    return b"".join([STATUS_LINE[problem.status], *lines, b"\r\n", body])
