"""Events: who may follow them, and `/events`, the stream of Server-Sent Events."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, aclosing, asynccontextmanager
from typing import Final, Literal
from urllib.parse import parse_qsl

from msgspec import Struct, field

from gateway.audit.log import AuditLog
from gateway.auth.authorize import Policy
from gateway.auth.principal import Credentials, Identification, Principal
from gateway.contract.credentials import EVENTS
from gateway.errors import CallerError, MalformedRequest, MethodNotAllowed, UnknownOperation
from gateway.events.cloudevents import TypeFilter
from gateway.events.feed import Feed, StreamRequest, stream_events
from gateway.store.publishing import SubscriptionStore
from gateway.transports.http.asgi import (
    ClientGone,
    Receive,
    Scope,
    Send,
    header_values,
    request_id_of,
    respond,
)
from gateway.transports.http.connected import while_connected
from gateway.transports.http.content import require_accept
from gateway.transports.http.problems import log_failure, send_problem
from gateway.transports.http.senders import Sender, authenticate, sender_of, shown_credentials

RECHECK_SECONDS: Final = 15.0
"""How long a stream may go on after its key was revoked. The authenticator's cache adds to this."""


class Asked(Struct, frozen=True, kw_only=True):
    """A request to see events, as a transport read it. Its audit record is made from this."""

    credentials: Credentials
    transport: Literal["rest", "mcp", "stdio"]
    request_id: str
    sender: Sender = field(default_factory=lambda: Sender(None))
    """The sender of the request. The default is for transports that authenticated their caller
    before."""
    operation_id: str = EVENTS


class Followers:
    """Admits followers of the events."""

    def __init__(
        self,
        feed: Feed,
        identification: Identification,
        policy: Policy,
        audit: AuditLog,
        subscriptions: SubscriptionStore | None = None,
    ) -> None:
        self.feed = feed
        self.subscriptions = subscriptions
        """Where the subscriptions of MCP sessions are kept. None: there are no such sessions."""
        self._identification = identification
        self._policy = policy
        self._audit = audit

    @asynccontextmanager
    async def admit(
        self, asked: Asked, refusal: CallerError | None = None
    ) -> AsyncIterator[Principal]:
        """Hold a place among the followers until the block ends.

        Raises what `authenticate` raises, and `LimitExceeded` or `Stopping` when there is no place.
        """
        with ExitStack() as held:
            async with self.authenticate(asked, refusal) as principal:
                held.enter_context(self.feed.seat(principal.agent))
            yield principal

    @asynccontextmanager
    async def authenticate(
        self, asked: Asked, refusal: CallerError | None = None
    ) -> AsyncIterator[Principal]:
        """The caller, who is authenticated and may see the events. Writes one audit record, with
        the outcome of the block.

        `refusal` is why the request cannot be read. Raises, in this order: `Unauthenticated`,
        `refusal`, and `UnknownOperation` for a caller without the grant, as for a tool.
        """
        async with self._audit.open(asked) as record:
            principal = await authenticate(self._identification, asked.credentials, asked.sender)
            record.principal = principal
            if refusal is not None:
                raise refusal
            if not self.may_see(principal):
                raise UnknownOperation("There are no events here, or this key may not follow them.")
            yield principal

    def watch(self, credentials: Credentials) -> "KeyWatch":
        """Checks that the key stays valid during a stream."""
        return KeyWatch(self._identification, credentials)

    def may_see(self, principal: Principal) -> bool:
        """Whether the events exist for this caller."""
        return self._policy.allows(principal.agent, EVENTS)


class KeyWatch:
    """Checks the key of a stream from time to time."""

    def __init__(self, identification: Identification, credentials: Credentials) -> None:
        self._identification = identification
        self._credentials = credentials
        self._now = asyncio.get_running_loop().time
        self._due = self._now() + RECHECK_SECONDS

    async def look(self) -> None:
        """Raise `Unauthenticated` if the key was revoked. Checks once per `RECHECK_SECONDS`."""
        if self._now() >= self._due:
            await self._identification.identify(self._credentials)
            self._due = self._now() + RECHECK_SECONDS


EVENT_STREAM: Final = "text/event-stream"
_ALLOW: Final = ("GET", "HEAD", "OPTIONS")
_PARAMETERS: Final = frozenset({"types", "last_event_id", "from"})
STREAM_HEAD: Final = [
    (b"content-type", EVENT_STREAM.encode()),
    (b"cache-control", b"no-store, no-transform"),
    # Without this, proxies that buffer answers would delay the events and the pings.
    (b"x-accel-buffering", b"no"),
]


class EventEndpoint:
    """Serves `/events` as Server-Sent Events. Each is a CloudEvent with a cursor as its id."""

    def __init__(self, followers: Followers) -> None:
        self._followers = followers

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request until its client leaves."""
        answer = StreamAnswer(send)
        try:
            if scope["method"] == "OPTIONS":
                await respond(send, 204, b"", headers=[(b"allow", ", ".join(_ALLOW).encode())])
                return
            # There is no body: the edge refuses one.
            await while_connected(self._follow(scope, answer), receive)
        except ClientGone:
            return
        except Exception as error:  # noqa: BLE001 - this transport's single edge
            await answer.fail(error, request_id_of(scope))

    async def _follow(self, scope: Scope, answer: "StreamAnswer") -> None:
        if scope["method"] not in _ALLOW:
            raise MethodNotAllowed(allow=_ALLOW)
        credentials = shown_credentials(scope)
        asked = Asked(
            credentials=credentials,
            transport="rest",
            request_id=request_id_of(scope),
            sender=sender_of(scope),
        )
        stream_request, refusal = _read(scope)
        async with self._followers.admit(asked, refusal):
            if scope["method"] == "HEAD":
                await answer.begin()
                await answer.end()
                return
            watch = self._followers.watch(credentials)
            async with aclosing(stream_events(self._followers.feed, stream_request)) as pieces:
                async for piece in pieces:
                    await watch.look()
                    await answer.say(piece)
            await answer.end()


class StreamAnswer:
    """A stream that starts with its first piece. Until then, the answer can still be a problem."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_begun = False

    async def begin(self) -> None:
        """Send the head of the answer."""
        self._is_begun = True
        await self._send({"type": "http.response.start", "status": 200, "headers": STREAM_HEAD})

    async def say(self, piece: bytes) -> None:
        """Send a piece."""
        if not self._is_begun:
            await self.begin()
        await self._send({"type": "http.response.body", "body": piece, "more_body": True})

    async def end(self) -> None:
        """End the stream."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def fail(self, error: Exception, request_id: str) -> None:
        """Answer with the problem. If the stream has started, end it.

        Then its client resumes the stream, and gets the problem as the answer.
        """
        if not self._is_begun:
            await send_problem(self._send, error, request_id)
            return
        log_failure(error, request_id)
        await self.end()


def _read(scope: Scope) -> tuple[StreamRequest, CallerError | None]:
    """The stream that the request asks for, or the error if it cannot be read."""
    try:
        require_accept(scope, EVENT_STREAM)
        return _stream_request(scope), None
    except CallerError as error:
        return StreamRequest(), error


def _stream_request(scope: Scope) -> StreamRequest:
    parameters = _parameters(scope)
    start = parameters.get("from", "latest")
    if start not in {"latest", "earliest"}:
        raise MalformedRequest("`from` is `latest` or `earliest`.")
    types = parameters.get("types")
    return StreamRequest(
        wanted=TypeFilter.of([] if types is None else types.split(",")),
        cursor=_cursor(scope, parameters),
        start="latest" if start == "latest" else "earliest",
    )


def _cursor(scope: Scope, parameters: dict[str, str]) -> str | None:
    """The cursor, from the header or else from the parameter.

    A client that reconnects sends the newest cursor in the header, and its old URL with the
    parameter.
    """
    headers = header_values(scope, b"last-event-id")
    if len(headers) > 1:
        raise MalformedRequest("The header Last-Event-ID occurs twice.")
    # A client without an id may send an empty one (HTML Standard §9.2.3).
    shown = headers[0].decode("latin-1") if headers else parameters.get("last_event_id")
    return shown or None


def _parameters(scope: Scope) -> dict[str, str]:
    """The query. Raises `MalformedRequest` for a name that is unknown or occurs twice."""
    query = scope.get("query_string", b"").decode("latin-1")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=10)
    except ValueError:
        raise MalformedRequest("The query cannot be read.") from None
    parameters = dict(pairs)
    if len(parameters) != len(pairs) or not parameters.keys() <= _PARAMETERS:
        raise MalformedRequest("The query may hold types, last_event_id and from, each once.")
    return parameters
