"""A connection whose calls begin in turn, and are refused at little cost when too many wait."""

from collections.abc import Hashable
from functools import partial
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from gateway.errors import LimitExceeded
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
_answers: Final = RepeatedAnswer(_OVERLOADED)


class PacedProtocol(HeadProtocol):
    """Gives calls and pages to a queue before they begin. Other requests begin at once.

    A call that is refused costs its sender's connection nothing: it stays open.
    """

    queue: RequestQueue
    host: Hashable
    """The group of the peer's address; None if the peer is one of our proxies."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._is_between = True
        """Whether the parser has read the last request completely, and nothing after it."""
        self._unread = 0
        """Bytes of a refused call's body that have not arrived."""

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
        if not cycle.scope["path"].startswith(_PACED) or self.queue.may_begin():
            super()._start_asgi_task(cycle, app)
            return
        own = Flow(self.host, _tool_of(cast("Scope", cycle.scope)))
        refuse = partial(self._begin, cycle, _refuse)
        if not self.queue.add(own, WaitingCall(partial(self._begin, cycle, app), refuse)):
            self.queue.note_refusal()
            refuse()

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


async def _refuse(scope: Scope, _receive: Receive, send: Send) -> None:
    """Answer that there are too many calls."""
    request_id = request_id_of(scope)

    async def send_safely(message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = with_safety_headers(message["headers"], request_id)
            message = {**message, "headers": headers}
        await send(message)

    await send_refusal(send_safely, _OVERLOADED, request_id)
