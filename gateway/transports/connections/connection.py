"""One HTTP/1.1 connection, with limits that apply before the edge gets a request to check."""

import asyncio
import re
from collections import deque
from collections.abc import Callable, Hashable
from typing import Any, ClassVar, Final, cast

from httptools import HttpParserError
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from gateway.bounds.addresses import address_of, group_of
from gateway.bounds.shares import BodyCharge, ByteBudget
from gateway.errors import (
    CallerError,
    GatewayError,
    HeadersTooLarge,
    LimitExceeded,
    MalformedRequest,
)
from gateway.transports.connections.bounds import ConnectionLimits, shared_by
from gateway.transports.connections.paced import PacedProtocol, raw_answer
from gateway.transports.errors import NoRoomForBody, RequestTooSlow
from gateway.transports.http.asgi import Headers, Scope, Send
from gateway.transports.http.bodies import charge_body, note_arrival, refuse_body
from gateway.transports.http.connected import Client, name_client
from gateway.transports.http.problems import CLOSE


class Unread:
    """The answers of one connection that its client has not read. Cuts off a client that is late.

    Answers that are read within milliseconds do not count.
    """

    __slots__ = ("_budget", "_host", "_limits", "_loop", "_taken", "_timer", "_transport")

    def __init__(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        limits: ConnectionLimits,
        budget: ByteBudget,
        host: Hashable,
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._limits = limits
        self._budget = budget
        self._host = host
        self._taken = 0
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, unsent: int) -> None:
        """The client reads more slowly than is written: take memory and wait, or cut it off.

        `unsent`: the bytes of the answer that are not written yet.
        """
        size = self._transport.get_write_buffer_size() + unsent
        # The only one of its host has room, however large: documents of 10 MB are published.
        size = min(size, self._limits.max_unread_bytes_of_one_host)
        if self._budget.take(self._host, size):
            self._taken = size
            self.wait()
        else:
            self._transport.abort()

    def wait(self) -> None:
        """Cut the client off if it does not read a part of its answer in time."""
        if self._timer is None:
            self._look_later()

    def end(self) -> None:
        """The client has read nearly all that was written, or is gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._taken:
            self._budget.give(self._host, self._taken)
            self._taken = 0

    def _look_later(self) -> None:
        waiting = self._transport.get_write_buffer_size()
        self._timer = self._loop.call_later(self._limits.stall_seconds, self._look, waiting)

    def _look(self, before: int) -> None:
        if before - self._transport.get_write_buffer_size() < self._limits.stall_bytes:
            # `close` would wait for the client to read the rest.
            self._transport.abort()
        else:
            self._look_later()


_UNSAFE: Final = re.compile(rb"[\x00-\x08\n-\x1f\x7f]")
"""Control characters, which may not be in a header field. It may have tabs."""


def write_answer(send: Send, status: int, headers: Headers, body: bytes) -> bool:
    """Write an answer that has all its headers, and end its request.

    Returns False if uvicorn must send it, and then nothing is written: the connection is closing or
    must be closed, the client reads too slowly, the answer has no body, or a header is not valid.
    """
    cycle: Any = getattr(send, "__self__", None)
    if not isinstance(cycle, RequestResponseCycle) or not _is_usual(cycle, status):
        return False
    lines = [b"%b: %b" % field for field in (*cycle.default_headers, *headers)]
    if CLOSE in headers or _UNSAFE.search(b"".join(lines)):
        return False
    head = b"\r\n".join(lines)
    cycle.response_started = True
    cycle.waiting_for_100_continue = False
    cycle.transport.write(b"%b%b\r\n\r\n%b" % (STATUS_LINE[status], head, body))
    cycle.response_complete = True
    cycle.message_event.set()
    cycle.on_response()
    return True


def _is_usual(cycle: RequestResponseCycle, status: int) -> bool:
    is_open = not (cycle.disconnected or cycle.response_started or cycle.flow.write_paused)
    has_body = status not in {204, 304} and cycle.scope["method"] != "HEAD"
    return is_open and has_body and cycle.keep_alive and not cycle.access_log


_NEVER: Final = float("inf")
_NO_SCOPE: Final[Any] = {}


class _Exit:
    """The transport that an application's answer gets. The connection decides how to close it."""

    __slots__ = ("_transport", "close", "is_closing")

    def __init__(self, transport: asyncio.Transport, close: Callable[[], None]) -> None:
        self._transport = transport
        self.is_closing = transport.is_closing
        self.close = close

    def write(self, data: bytes) -> None:
        """Nothing, if the client was cut off: uvloop would raise an error."""
        if not self._transport.is_closing():
            self._transport.write(data)


def _do_nothing() -> None:
    pass


class Connection(PacedProtocol):
    """uvicorn's connection, with limits on the bytes that arrive before the application runs.

    uvicorn calls the application when a head is complete, and reads without a limit until then.
    """

    limits: ClassVar[ConnectionLimits] = ConnectionLimits()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._shared = shared_by(self.server_state, self.limits)
        self.queue, self.table = self._shared.queue, self._shared.table
        self.host = None
        self.opened_for: Hashable = None
        """The host for which one of our proxies has opened the connection. None: it is no proxy."""
        self._charges: deque[BodyCharge | None] = deque()
        """One for each request that has no complete answer yet: what counts its body's bytes."""
        self._unparsed = 0
        """Bytes given to the parser since it last reported a head or a piece of a body."""
        self._waiting_since = self.loop.time()
        """When the gateway began to wait for a request; `_NEVER` while an answer is pending."""
        self._is_refused = False
        """Whether arriving bytes are dropped. Pending answers are still sent."""
        self._is_over = False
        """Whether the last answer has been written."""
        self._dropped = 0
        """Bytes that arrived after the refused request."""
        self._peer = Client(write_answer)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection and wait for a request. If there is no place, answer and close."""
        super().connection_made(cast("asyncio.Transport", transport))
        self._exit = _Exit(self.transport, self._end)
        self._watch_from(self.loop.time())
        host = self.client[0] if self.client else ""
        self.host = None if self.limits.peers.is_proxy(host) else group_of(address_of(host))
        budget = self._shared.unread
        self._unread_answers = Unread(self.transport, self.loop, self.limits, budget, self.host)
        if not self.table.admit(self, self.opened_for if self.host is None else self.host):
            # Closed at once, so the client may lose the answer: waiting would need a place.
            full = LimitExceeded("There are as many connections as there may be.")
            self.transport.write(raw_answer(full, self.server_state.default_headers))
            self._is_refused = True
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers, and release the place and the memory of the connection."""
        self.table.remove(self)
        for charge in self._charges:
            if charge is not None:
                charge.release()
        self._charges.clear()
        self._watch.cancel()
        self._unread_answers.end()
        self._peer.leave()
        super().connection_lost(exc)
        # Otherwise the connection would hold itself until Python's garbage collector finds it.
        self._exit.close = _do_nothing

    def pause_writing(self) -> None:
        """The client reads its answer more slowly than it is written."""
        super().pause_writing()
        self._unread_answers.begin(self._peer.unsent)

    def resume_writing(self) -> None:
        """The client has read nearly all that was written."""
        self._unread_answers.end()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        """Parse the bytes that arrived. Drop them if they follow a refused request."""
        if self._is_refused:
            self._drop(len(data))
            return
        if self.turn_away(data):
            return
        self._unset_keepalive_if_required()
        self._unparsed += len(data)
        try:
            self.feed(data)
        except HttpParserError as error:
            cause = error.__context__
            self._refuse(cause if isinstance(cause, CallerError) else MalformedRequest())
        else:
            if self._unparsed > self.limits.max_head_bytes:
                self._refuse(HeadersTooLarge())
            else:
                self._wait_for_reader()

    def note_answer(self) -> None:
        """Wait for the next request."""
        self._waiting_since = self.loop.time()

    def check_request(self) -> None:
        """Raise a `CallerError` when too many answers are pending."""
        if len(self.pipeline) >= self.limits.max_pipelined:
            raise MalformedRequest("Too many requests wait for the answers before theirs.")

    def note_request(self) -> None:
        """Note that an answer is pending."""
        self._unparsed = 0
        self._waiting_since = _NEVER
        self._charges.append(None)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Start to serve a request. Its answer is written through `_Exit`."""
        cycle.transport = cast("asyncio.Transport", self._exit)
        name_client(cast("Scope", cycle.scope), self._peer)
        super()._start_asgi_task(cycle, app)

    def client_in(self, scope: Scope) -> Hashable:
        """The group of the client's address. Behind a proxy, each request may have its own."""
        return self.host if self.host is not None else group_of(self.limits.peers.peer_in(scope))

    def on_body(self, body: bytes) -> None:
        """Keep a piece of the body. It is charged to its sender when it is read.

        If the request waits for earlier answers, the piece is charged at once. Otherwise one
        connection could hold many pieces without a charge. Raises `NoRoomForBody`.
        """
        self._unparsed = 0
        if self.cycle.response_complete:
            return
        charge = self._charges[-1]
        if charge is None:
            charge = self._charges[-1] = BodyCharge(self._shared.bodies, self.host)
            charge_body(cast("Scope", self.cycle.scope), charge)
        if self.pipeline and not charge.queue(len(body)):
            raise NoRoomForBody
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Note that the body is complete, so that the application need not wait for it."""
        # For a request to change the protocol, `feed` gives the body to the parser later.
        if not self.parser.should_upgrade():
            note_arrival(cast("Scope", self.cycle.scope))
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Release the body, and wait for the next request if none is waiting."""
        charge = self._charges.popleft() if self._charges else None
        if charge is not None:
            charge.release()
        if self._is_over:
            return
        self.table.touch(self)
        super().on_response_complete()
        if self.cycle.response_complete:
            self._waiting_since = self.loop.time()
            # It refers to the contracts that served the request, which a reload replaces.
            self.cycle.scope = self.scope = _NO_SCOPE

    def _watch_from(self, now: float) -> None:
        # One timer that checks again and again is cheaper than a new timer for each request.
        due = self._waiting_since + self.limits.head_deadline_seconds
        latest = now + self.limits.head_deadline_seconds
        self._watch = self.loop.call_at(min(due, latest), self._look)

    def _look(self) -> None:
        now = self.loop.time()
        if now < self._waiting_since + self.limits.head_deadline_seconds:
            self._watch_from(now)
        elif self._unparsed:
            self._refuse(RequestTooSlow())
        else:
            self.transport.close()
            # `close` waits for the client to read its last answer: limit that time.
            self._unread_answers.wait()

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for bytes from the client: a head, or the rest of the only request.

        It is false while the gateway writes an answer or works on one.
        """
        if self.transport.get_write_buffer_size():
            return False
        return self._is_over or self._waiting_since < _NEVER or self._is_arriving()

    def evict(self) -> None:
        """Close, to make space for another connection."""
        self.transport.abort()

    def shutdown(self) -> None:
        """Close because the server stops. Abort at once if the last answer has been written."""
        if self._is_over:
            self.transport.abort()
        else:
            super().shutdown()

    def _refuse(self, error: GatewayError) -> None:
        """Stop reading, and close after the last answer. If no answer is pending, answer `error`.

        If a request is still arriving, reading its body raises `error`. So the transport that
        answers and records the request gets the reason.
        """
        if self._waiting_since < _NEVER:
            self.transport.write(raw_answer(error, self.server_state.default_headers))
            self._linger()
            return
        self._is_refused = True
        self.cycle.keep_alive = False
        if self.cycle.more_body:
            refuse_body(cast("Scope", self.cycle.scope), error)
            # The client must not get "100 Continue", even if it expects that.
            self.cycle.waiting_for_100_continue = False
            self.cycle.message_event.set()

    def _end(self) -> None:
        """Close after the last answer. If the client still sends, let it read the answer first."""
        if self.cycle.more_body:
            self._linger()
        else:
            self.transport.close()

    def _linger(self) -> None:
        # Closing a socket with unread bytes resets the connection, and the answer is lost.
        self._is_refused = self._is_over = True
        self._unset_keepalive_if_required()
        self.transport.write_eof()
        self.flow.resume_reading()
        self._watch.cancel()
        self._watch = self.loop.call_later(self.limits.linger_seconds, self.transport.abort)

    def _drop(self, size: int) -> None:
        self._dropped += size
        if self._dropped > self.limits.linger_bytes:
            self.transport.abort()

    def _wait_for_reader(self) -> None:
        """Stop reading a body until the application has taken the part that is here."""
        if self._waiting_since == _NEVER and self.cycle.more_body and self.cycle.body:
            self.flow.pause_reading()

    def _is_arriving(self) -> bool:
        """Whether the only pending answer is for a request that is still arriving."""
        return self.cycle.more_body and not self.cycle.response_started and not self.pipeline


def limited(given: ConnectionLimits) -> type[Connection]:
    """A class of connections with the limits `given`: uvicorn needs a class."""

    class Limited(Connection):
        limits = given

    return Limited
