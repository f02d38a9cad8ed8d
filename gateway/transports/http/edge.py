"""The outermost layer: checks every HTTP request before any other part of the gateway reads it.

RFC 9110 and 9112 leave many checks to the server, and ASGI servers leave many of them to the
application. With the checks here, the gateway refuses the same requests under each ASGI server.
"""

import asyncio
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from gateway.bounds.rates import Throttle
from gateway.bounds.shares import LoopTurns
from gateway.errors import HeadersTooLarge, Stopping
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
    WholeSend,
    header_values,
    name_request,
    new_request_id,
    request_id_of,
    share_facts,
    with_safety_headers,
)
from gateway.transports.http.bodies import LARGEST_BYTES, RequestBody
from gateway.transports.http.call_headers import trace_of
from gateway.transports.http.connected import client_of
from gateway.transports.http.heads import (
    PROBES,
    HostRules,
    KeptHead,
    check_coding,
    check_length,
    check_names,
    check_path,
    check_version,
    framed,
    keep,
    plain,
    request_id_in,
    size_of,
)
from gateway.transports.http.problems import send_problem
from gateway.transports.http.senders import Peers, Sender

_KEYED: Final = frozenset({"/mcp", "/events"})
_WEBHOOKS: Final = "/webhooks/"
_KEYED_BELOW: Final = ("/v1/", "/mcp/", "/operator/", "/tools/", _WEBHOOKS)
"""Paths whose transports identify their callers, and count requests without a valid key."""
_KEYED_WHERE_SHOWN: Final = frozenset({"/openapi.json", "/asyncapi.json"})
"""Paths that need no key. If a request has one, their transport checks and counts it."""


class RequestThrottle:
    """Counts the requests that need no key, so that they are limited like the others.

    Transports count requests without a valid key themselves. A path is always the original path of
    the request: a router may write another one into the scope.
    """

    def __init__(self, throttle: Throttle | None) -> None:
        self._throttle = throttle

    async def admit(self, scope: Scope, sender: Sender) -> None:
        """Count a request that needs no key. Raises `LimitExceeded` when there are too many."""
        path = scope["path"]
        if self._throttle is None or _is_keyed(path, scope):
            return
        sender.is_counted = True
        # Probes do not count in the total: other clients must not make an operator's probe fail.
        await self._throttle.count(sender.peer, in_all=path not in PROBES)

    async def note_refusal(self, path: str, sender: Sender, status: int) -> None:
        """Count a request that is about to be refused. If there are too many, return late.

        This counts requests that no transport saw (paths and methods that do not exist, malformed
        requests), and messages that are not authentic.
        """
        if self._throttle is None or sender.is_counted or sender.is_authenticated or status >= 500:
            return
        # Transports answer 401 and 429 to requests that they have counted; webhooks count none.
        if status not in {401, 429} or path.startswith(_WEBHOOKS):
            sender.is_counted = True
            await self._throttle.slow(sender.peer)


def _is_keyed(path: str, scope: Scope) -> bool:
    if scope["method"] == "OPTIONS":
        # No transport checks the key of such a request.
        return False
    if path in _KEYED or path.startswith(_KEYED_BELOW):
        return True
    return path in _KEYED_WHERE_SHOWN and bool(header_values(scope, b"authorization"))


_CALLED: Final = ("/v1/", "/mcp", "/tools/")
"""Their contracts say which content codings and methods there are."""
_OWN_HEAD: Final = (*_CALLED, "/events", _WEBHOOKS)
"""Paths whose transports answer HEAD themselves. A stream that is answered as a GET never ends."""
_PIECE_BYTES: Final = 64 * 1024
"""Larger bodies are sent in pieces of this size, and the hosts that they go to take turns."""
_CARD: Final = "/server-card"
"""The end of the paths of pages under `/mcp`."""


class EdgeRules(Struct, frozen=True, kw_only=True):
    """The limits of a request: its size, its time, its sender and its hosts."""

    hosts: HostRules
    peers: Peers = Peers()
    """Finds the sender of each request."""
    throttle: Throttle | None = None
    """Counts requests without a valid key; None counts none."""
    max_body_bytes: int = 1024 * 1024
    max_upload_bytes: int = LARGEST_BYTES
    """The same for tools whose contract allows longer texts or files."""
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
        self._turns = LoopTurns()
        self._name = object()
        """Stands for this object where connections outlive it, with the contracts behind it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection. Refuses WebSockets, and passes the lifespan on to the app."""
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        known = self._known(scope)
        is_plain = _begin(scope, known)
        sender = self._rules.peers.note(scope)
        answer = _Answer(scope, sender, send, self._throttle, self._turns)
        rules = self._rules
        body = RequestBody(
            scope, sender, receive, rules.max_body_bytes, rules.body_deadline_seconds
        )
        try:
            self._inspect(scope, known, is_plain=is_plain)
            await self._throttle.admit(scope, sender)
            await self._app(_asked_as_get(scope), body.receive, answer)
        except ClientGone:
            return
        except asyncio.CancelledError:
            # Only the server cancels a whole request: when its grace period ends.
            if not answer.is_started:
                await send_problem(answer, _cut_off(answer.path, body), answer.request_id)
        except Exception as error:
            if answer.is_started:
                raise
            await send_problem(answer, error, answer.request_id)

    def _known(self, scope: Scope) -> KeptHead | None:
        """What is kept of the connection's last head, if this one is the same."""
        client = client_of(scope)
        known = None if client is None else client.head
        is_same = known is not None and known.owner is self._name and known.is_of(scope)
        return known if is_same else None

    def _inspect(self, scope: Scope, known: KeptHead | None, *, is_plain: bool) -> None:
        """Raise a `CallerError` when the request must be refused.

        `is_plain`: whether its headers are as the client sent them, so that they can be compared.
        """
        check_version(scope)
        if known is not None:
            length = known.length_of(scope)
            if known.has_length:
                check_length(length)
            self._check_size(scope, known.size + len(length))
            check_path(scope)
            return
        single = framed(scope)
        self._check_size(scope, size_of(scope["headers"]))
        check_path(scope)
        is_listed = check_names(scope, single, self._rules.hosts)
        if not scope["path"].startswith(_WEBHOOKS):
            check_coding(single)
        client = client_of(scope)
        if client is not None:
            # The next request may have another path.
            client.head = keep(scope, self._name) if is_plain and is_listed else None
            if client.head is not None:
                share_facts(scope, client.head.facts)

    def _check_size(self, scope: Scope, size: int) -> None:
        size += len(scope.get("raw_path") or b"") + len(scope.get("query_string", b""))
        too_many = len(scope["headers"]) > self._rules.max_headers
        if too_many or size > self._rules.max_header_bytes:
            raise HeadersTooLarge


def _begin(scope: Scope, known: KeptHead | None) -> bool:
    """Name the request and its trace. Returns whether its headers are as the client sent them."""
    sent: Headers = scope["headers"]
    trace = None
    if known is None:
        scope["headers"] = plain(sent)
        request_id, trace = request_id_in(scope["headers"]), trace_of(scope["headers"])
    else:
        request_id = new_request_id()
        share_facts(scope, known.facts)
    name_request(scope, request_id)
    # One task serves one request, so these context variables end with the request.
    logged_request_id.set(request_id)
    current_trace.set(trace)
    return bool(sent == scope["headers"])


class _Answer(WholeSend):
    """Adds the headers of every answer, removes the body for HEAD, and notes the start."""

    def __init__(
        self,
        scope: Scope,
        sender: Sender,
        send: Send,
        throttle: RequestThrottle,
        turns: LoopTurns,
    ) -> None:
        self.path: str = scope["path"]
        """The path of the request. A router may later change the one in the scope."""
        self._sender = sender
        self._send = send
        self._throttle = throttle
        self.request_id = request_id_of(scope)
        self._has_body = scope["method"] != "HEAD"
        self._turns = turns
        self._client = client = client_of(scope)
        self._write = None if client is None else client.write
        self.is_started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = await self._start(message["status"], message.get("headers", ()))
            message = {**message, "headers": headers}
        elif not self._has_body:
            message = {**message, "body": b""}
        elif len(message.get("body", b"")) > _PIECE_BYTES:
            await self._send_in_turns(message["body"], has_more=message.get("more_body", False))
            return
        await self._send(message)

    async def whole(self, status: int, headers: Headers, body: bytes) -> None:
        headers = await self._start(status, headers)
        is_small = len(body) <= _PIECE_BYTES
        if is_small and self._write and self._write(self._send, status, headers, body):
            return
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
        await self({"type": "http.response.body", "body": body})

    async def _send_in_turns(self, body: bytes, *, has_more: bool) -> None:
        """Send a large body in pieces. Each waits until the client has read those before it."""
        for at in range(0, len(body), _PIECE_BYTES):
            await self._turns.turn(self._sender.peer)
            end = at + _PIECE_BYTES
            if self._client is not None:
                if self._client.has_left:
                    return
                self._client.unsent = max(len(body) - end, 0)
            more = has_more or end < len(body)
            piece = {"type": "http.response.body", "body": body[at:end], "more_body": more}
            await self._send(piece)

    async def _start(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> Headers:
        """The headers of the answer, which begins now."""
        if status >= 400:
            await self._throttle.note_refusal(self.path, self._sender, status)
        self.is_started = True
        return with_safety_headers(headers, self.request_id)


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
