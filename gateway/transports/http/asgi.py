"""The parts of ASGI that transports use: types, headers, reading a body, sending an answer."""

import random
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final, TypeAlias, TypeVar

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers: TypeAlias = list[tuple[bytes, bytes]]

Facts: TypeAlias = dict[Callable[[Headers], Any], Any]
"""What functions have read from the headers of a request."""
_T = TypeVar("_T")

JSON: Final = b"application/json"
_REQUEST_ID: Final = "gateway.request_id"
_FACTS: Final = "gateway.facts"
_UNREAD: Final = object()
_SAFETY: Final = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
]


class ClientGone(Exception):
    """The client closed the connection before it got an answer."""


def header_values(scope: Scope, name: bytes) -> list[bytes]:
    """Every value of the header `name` (lower-case), in order."""
    return [value for key, value in scope["headers"] if key == name]


def share_facts(scope: Scope, facts: Facts) -> None:
    """Share `facts` with other requests that have the same headers, except for Content-Length."""
    scope[_FACTS] = facts


def of_head(scope: Scope, read: Callable[[Headers], _T]) -> _T:
    """`read(headers)`, which is called once for several requests with the same headers.

    `read` must depend on nothing else, and not on Content-Length. Nobody may change its value.
    """
    facts: Facts | None = scope.get(_FACTS)
    if facts is None:
        return read(scope["headers"])
    found = facts.get(read, _UNREAD)
    if found is _UNREAD:
        found = facts[read] = read(scope["headers"])
    return found  # type: ignore[no-any-return]  # it is what `read` returned


def name_request(scope: Scope, request_id: str) -> None:
    """Store the id of the request in its scope, for the inner layers."""
    scope[_REQUEST_ID] = request_id


def request_id_of(scope: Scope) -> str:
    """The id of the request. It is new if the request did not pass the edge."""
    if _REQUEST_ID not in scope:
        name_request(scope, new_request_id())
    return str(scope[_REQUEST_ID])


def new_request_id() -> str:
    """A new request id: 128 random bits as 32 hexadecimal digits."""
    # The id must be unique, not secret: it gives no access. Reading the system's random bytes
    # releases the interpreter lock, so another thread could interrupt the call.
    return f"{random.getrandbits(128):032x}"


def with_safety_headers(headers: Iterable[tuple[bytes, bytes]], request_id: str) -> Headers:
    """`headers` with those that every answer has. An answer's own cache rule is kept."""
    fields = [*headers, (b"x-request-id", request_id.encode("ascii")), *_SAFETY]
    if b"cache-control" not in [name for name, _ in fields]:
        fields.append((b"cache-control", b"no-store"))
    return fields


async def read_body(receive: Receive) -> bytes:
    """The whole request body. Raises `ClientGone`, and the errors of the edge for a bad body."""
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body", False):
        return bytes(message.get("body", b""))
    chunks = [bytes(message.get("body", b""))]
    while message["type"] == "http.request" and message.get("more_body", False):
        message = await receive()
        chunks.append(message.get("body", b""))
    if message["type"] != "http.request":
        raise ClientGone
    return b"".join(chunks)


def replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that returns `body` once more, and then continues with the real one."""
    is_replayed = False

    async def receive_again() -> Message:
        nonlocal is_replayed
        if is_replayed:
            return await receive()
        is_replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


class WholeSend(ABC):
    """A `Send` that can also send a complete answer at once."""

    @abstractmethod
    async def __call__(self, message: Message) -> None:
        """Send one ASGI message."""

    @abstractmethod
    async def whole(self, status: int, headers: Headers, body: bytes) -> None:
        """Send an answer. Its headers have its Content-Type and Content-Length."""


async def respond(
    send: Send,
    status: int,
    body: bytes,
    *,
    content_type: bytes = JSON,
    headers: Headers | None = None,
) -> None:
    """Send one complete answer."""
    fields = [
        (b"content-type", content_type),
        (b"content-length", b"%d" % len(body)),
        *(headers or ()),
    ]
    if isinstance(send, WholeSend):
        await send.whole(status, fields, body)
        return
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": body})
