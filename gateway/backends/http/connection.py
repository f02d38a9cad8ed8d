"""One HTTP/1.1 connection to an upstream (RFC 9112), with limits on what the upstream may send."""

import asyncio
import re
import select
import ssl
from collections.abc import Mapping
from typing import Final, cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser
from msgspec import Struct

from gateway.backends.http.replies import (
    TURN_BYTES,
    ConnectionBroken,
    ReplyLimits,
    too_large,
    unpacked,
)
from gateway.contract.credentials import NotACertificate, load_client_certificate
from gateway.contract.slots import setting_variable
from gateway.contract.upstream import Reply, Upstream, Watch
from gateway.errors import ConfigurationError, InvalidReply

# The client certificate that the connections to one upstream present (mutual TLS).


class ClientCertificate(Struct, frozen=True, kw_only=True):
    """A certificate and its key, in PEM. Its repr shows only the setting."""

    setting: str
    certificate: str
    key: str

    def __repr__(self) -> str:
        return f"ClientCertificate({self.setting})"

    def context(self) -> ssl.SSLContext:
        """TLS with the system's roots and this certificate. Raises `ConfigurationError`."""
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        try:
            load_client_certificate(context, self.certificate, self.key)
        except NotACertificate as error:
            raise ConfigurationError(f"{self.setting} and its key: {error}") from None
        return context


def client_certificate(
    upstream: Upstream, credentials: Mapping[str, str]
) -> ClientCertificate | None:
    """The certificate that is set for `upstream`, or None."""
    for slot in upstream.slots:
        if slot.kind == "mutual_tls" and slot.way_of(credentials):
            certificate, key = slot.ways[0]
            return ClientCertificate(
                setting=setting_variable(upstream.name, certificate),
                certificate=credentials[certificate],
                key=credentials[key],
            )
    return None


MAX_HEAD_BYTES: Final = 64 * 1024
"""The limit for all that is not the body: the status line, the fields with those of interim
responses and the trailer, and what stands between two pieces of the body."""
_FIELD_BYTES: Final = 64
"""Each field, and each head of an interim response, takes as much time as so many bytes."""
_STEP_BYTES: Final = 64 * 1024
"""Memory for bodies is taken in these steps. Smaller bodies take none."""
_FEW_PIECES: Final = 4096
_SMALLEST_PIECE: Final = 16
"""The mean size of the pieces of a body that has more than `_FEW_PIECES`. Each piece costs as much
time as a hundred bytes."""
_FRAMING_OF_PIECE: Final = 256
"""The mean of the bytes around a piece: the size of a chunk and its extensions, and heads."""
_CERTIFICATE_ALERT: Final = re.compile("ALERT_(?:.*CERTIFICATE|UNKNOWN_CA)")
"""The alerts of a server about the client's certificate, as OpenSSL names them."""
_LARGE_HEAD: Final = "The head of the upstream's answer is too large."
_PLAIN: Final = frozenset({"", "identity"})
_SINGLE: Final = frozenset(
    {"content-length", "content-type", "date", "etag", "location", "retry-after", "set-cookie"}
)
"""Fields that are no lists: of those, the last one counts. All others are joined when they are
repeated (RFC 9110 §5.3)."""


class CertificateRefused(ConnectionBroken):
    """The server ended the connection because of the client certificate (RFC 8446 §6.2)."""


class UpstreamSocket(asyncio.BufferedProtocol):
    """A connection that carries one request at a time.

    A request is never repeated here. After a failure, or when the upstream closes, the connection
    cannot be used again.
    """

    def __init__(self, limits: ReplyLimits, connected: "set[UpstreamSocket]") -> None:
        """The connection is in the set `connected` while it is open."""
        self._limits = limits
        self._taken = 0
        """Bytes of the budget."""
        self._connected = connected
        self._parser = HttpResponseParser(self)
        self._reply: asyncio.Future[Reply] | None = None
        self.is_reusable = True
        """Whether the connection is open and no request is under way."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport. With TLS, this comes after the handshake."""
        self._transport = cast("asyncio.Transport", transport)
        self._arrivals = select.poll()
        self._arrivals.register(transport.get_extra_info("socket").fileno(), select.POLLIN)
        self._connected.add(self)

    @property
    def is_quiet(self) -> bool:
        """Whether nothing has arrived that the event loop has not read yet.

        What arrives before a request is no answer to it. HTTP/1.1 does not name the request that a
        reply belongs to, so of one that arrives just after the request nobody can tell.
        """
        return not self._arrivals.poll(0)

    async def exchange(
        self, message: bytes, *, is_head: bool, watch: Watch | None = None, caller: str = ""
    ) -> Reply:
        """Send a request and return its reply, with any status.

        `is_head`: the reply to a HEAD request has no body, whatever its header fields are. A large
        reply is read when it is the turn of `caller`. Raises
        `ConnectionBroken`, and `InvalidReply` for a reply that is too large or has an unknown
        content coding. If the caller is cancelled, the connection is closed.
        """
        if not self.is_reusable:
            raise ConnectionBroken("closed")
        self._begin(is_head, watch, caller)
        self._reply = asyncio.get_running_loop().create_future()
        self._transport.write(message)
        try:
            reply = await self._reply
            if not self._limits.ends.take():
                await self._limits.ends.turn(caller)
            if self._content_coding in _PLAIN or self._limits.excerpt_seconds is not None:
                return reply
            body = await unpacked(self._body, self._limits.max_bytes)
            return Reply(status=reply.status, headers=reply.headers, body=body)
        except BaseException:
            # Also when the caller is cancelled at the moment when the reply is complete.
            self.is_reusable = False
            raise
        finally:
            self._reply = None
            if self._cut is not None:
                self._cut.cancel()
            # The error that is raised may be kept for long, and keeps this connection.
            self._body.clear()
            self._give_back()
            if not self.is_reusable:
                self._transport.abort()

    def _begin(self, is_head: bool, watch: Watch | None, caller: str) -> None:
        self._is_head = is_head
        self._watch = watch
        self._caller = caller
        self._in_turn = 0
        self._unparsed = self._field_bytes = self._pieces = self._received = 0
        self._has_head = False
        self._content_coding = ""
        self._cut: asyncio.TimerHandle | None = None
        self._headers: dict[str, str] = {}
        self._body = bytearray()
        self.is_reusable = False

    def close(self) -> None:
        """Close the connection at once. A request that is under way fails."""
        self._fail(ConnectionBroken("closed"))

    def get_buffer(self, _sizehint: int) -> bytearray:
        """Where the event loop writes what comes, before it calls `buffer_updated`."""
        return self._limits.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Parse what came."""
        self.feed(memoryview(self._limits.buffer)[:nbytes])

    def feed(self, data: bytes | memoryview) -> None:
        """Parse `data`. Bytes that belong to no request close the connection."""
        if self._reply is None or self._reply.done():
            # An answer without a question must not become the answer to the next request.
            self.close()
            return
        self._unparsed += len(data)
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            self._fail(InvalidReply("The upstream changed the protocol."))
        except HttpParserError as error:
            # An error of a callback arrives as the context of the parser's own.
            cause = error.__context__
            if not isinstance(cause, InvalidReply | ConnectionBroken):
                cause = InvalidReply(f"The upstream's answer is not HTTP: {error}.")
            # Its frames hold a piece of the body until the next collection of cycles.
            self._fail(cause.with_traceback(None))
        else:
            if self._unparsed > MAX_HEAD_BYTES:
                self._fail(InvalidReply(_LARGE_HEAD))
            framing = self._received - len(self._body) - 2 * MAX_HEAD_BYTES
            if framing > _FRAMING_OF_PIECE * self._pieces:
                self._fail(InvalidReply("The upstream's answer is mostly framing."))
            self._take_turns(len(data))

    def _take_turns(self, size: int) -> None:
        """Read on when it is this reply's turn, if `size` bytes more are what one turn may read."""
        self._in_turn += size
        if self._in_turn >= TURN_BYTES and self._reply is not None and not self._reply.done():
            self._in_turn = 0
            self._transport.pause_reading()
            self._limits.turns.wait(self._caller, self._read_on)

    def _read_on(self) -> None:
        if not self._transport.is_closing():
            self._transport.resume_reading()

    def eof_received(self) -> None:
        """The upstream sends nothing more, so no further request can be answered."""
        self.is_reusable = False

    def connection_lost(self, exc: Exception | None) -> None:
        """End the request that is under way. Without a declared length, the body ends here."""
        self.is_reusable = False
        self._connected.discard(self)
        if self._reply is None or self._reply.done():
            return
        if exc is None and self._has_head and self._ends_with_connection:
            self._complete(is_reusable=False)
        else:
            self._fail(_broken(exc))

    def on_message_begin(self) -> None:
        """Refuse a second reply to one request."""
        if self._reply is None or self._reply.done():
            raise InvalidReply("The upstream sent more than one answer.")
        self._count_in_head(0)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header field. Trailer fields (RFC 9112 §7.1.2) are ignored."""
        self._count_in_head(len(name) + len(value))
        if self._has_head:
            return
        key = name.decode("latin-1").lower()
        text = value.strip(b" \t").decode("utf-8", "replace")
        if key in self._headers and key not in _SINGLE:
            text = f"{self._headers[key]}, {text}"
        self._headers[key] = text

    def _count_in_head(self, size: int) -> None:
        """Count a field of `size` bytes, or the begin of a head."""
        self._field_bytes += size + _FIELD_BYTES
        if self._field_bytes > MAX_HEAD_BYTES:
            raise InvalidReply(_LARGE_HEAD)

    def on_headers_complete(self) -> None:
        """Decide how the body ends and whether it can be read. Raises `InvalidReply`."""
        if 100 <= self._parser.get_status_code() < 200:
            return
        self._has_head = True
        headers = self._headers
        if self._limits.excerpt_seconds is not None:
            self._await_excerpt(self._limits.excerpt_seconds)
        coding = headers.get("transfer-encoding", "chunked").lower()
        if coding != "chunked":
            raise InvalidReply("The upstream's answer has an unknown transfer coding.")
        self._ends_with_connection = not headers.keys() & {"content-length", "transfer-encoding"}
        coding = headers.get("content-encoding", "").strip().lower()
        self._content_coding = "gzip" if coding == "x-gzip" else coding  # RFC 9110 §8.4.1.3
        if self._content_coding not in _PLAIN and self._content_coding != "gzip":
            raise InvalidReply("The upstream's answer has a content coding not asked for.")
        if self._is_head:
            self._complete(is_reusable=False)

    def on_body(self, body: bytes) -> None:
        """Keep a piece of the body.

        Raises `InvalidReply` when it is too large or in too many pieces, `ConnectionBroken`
        when all that arrive are too large together.
        """
        self._unparsed = 0
        self._body += body
        self._pieces += 1
        size = len(self._body)
        if size > self._limits.max_bytes:
            del self._body[self._limits.max_bytes :]
            raise too_large(self._limits.max_bytes)
        if self._pieces > _FEW_PIECES and size < _SMALLEST_PIECE * self._pieces:
            raise InvalidReply("The upstream's answer is in too many small pieces.")
        if size > self._taken + _STEP_BYTES:
            self._take(size - self._taken)
        if self._watch is not None and self._is_watched():
            self._watch(self._headers, body)

    def on_message_complete(self) -> None:
        """Return the reply to the caller. After an interim response (1xx), wait for the next."""
        if not self._has_head:
            self._headers = {}
        elif not self._is_head:
            self._complete(is_reusable=self._parser.should_keep_alive())

    def _await_excerpt(self, seconds: float) -> None:
        self._cut = asyncio.get_running_loop().call_later(seconds, self.close)
        if self._watch is not None:
            self._watch(self._headers, b"")

    def _take(self, size: int) -> None:
        budget = self._limits.budget
        if budget is not None and not budget.take(self._limits.upstream, self._caller, size):
            raise ConnectionBroken("too many large answers arrive at the same time")
        self._taken += size

    def _give_back(self) -> None:
        if self._taken and self._limits.budget is not None:
            self._limits.budget.give(self._limits.upstream, self._caller, self._taken)
        self._taken = 0

    def _is_watched(self) -> bool:
        return self._parser.get_status_code() // 100 == 2 and self._content_coding in _PLAIN

    def _complete(self, *, is_reusable: bool) -> None:
        # The caller unpacks the others.
        body = bytes(self._body) if self._content_coding in _PLAIN else b""
        reply = Reply(status=self._parser.get_status_code(), headers=self._headers, body=body)
        # The next request must not wait behind the rest of a body that nobody reads.
        self.is_reusable = is_reusable and self._transport.get_write_buffer_size() == 0
        if self._reply is not None:
            self._reply.set_result(reply)

    def _fail(self, error: Exception) -> None:
        self.is_reusable = False
        if self._reply is not None and not self._reply.done():
            if self._has_head and self._limits.excerpt_seconds is not None:
                self._complete(is_reusable=False)
            else:
                self._reply.set_exception(error)
        self._transport.abort()


def _broken(error: Exception | None) -> ConnectionBroken:
    if isinstance(error, ssl.SSLError) and _CERTIFICATE_ALERT.search(error.reason or ""):
        return CertificateRefused(error.reason)
    return ConnectionBroken(type(error).__name__ if error else "closed")
