"""A connection whose calls begin in turn, and are refused at little cost when too many wait."""

from collections.abc import Hashable
from functools import partial
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from gateway.errors import LimitExceeded
from gateway.limits.connections import Connected, ConnectionTable
from gateway.transports.connections.head import HeadProtocol
from gateway.transports.connections.raw_answer import RepeatedAnswer
from gateway.transports.connections.request_queue import RequestQueue
from gateway.transports.connections.waiting_calls import Flow, WaitingCall
from gateway.transports.connections.whole_call import (
    CALL_PATHS,
    PAGE_PATHS,
    TOOL_HEADER,
    length_of_call,
    named,
    tool_of_call,
)
from gateway.transports.http.asgi import Receive, Scope, Send, request_id_of, with_safety_headers
from gateway.transports.http.problems import send_refusal

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
