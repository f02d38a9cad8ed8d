"""Upstreams that fail on demand: one socket, each upstream its mock until it is set to fail."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct

from gateway.backends.mock.application import MockApplication
from gateway.backends.mock.backend import answer_lifespan, asgi_app
from gateway.clock import SystemClock
from gateway.contract.imported import ImportedConnector
from gateway.contract.upstream import Upstream

Fault = Callable[[Any, Any], Awaitable[None]]
"""Answers one request instead of the mock, given `receive` and `send` of ASGI."""


class Seen(Struct, frozen=True):
    """A request that reached an upstream."""

    upstream: str
    is_token: bool
    head: str = ""
    """The target and the header fields, a line each."""


class FaultyUpstreams:
    """An ASGI application: `/<upstream>/…` is the upstream's mock, or `fault` but for tokens."""

    def __init__(
        self, upstreams: Mapping[str, Upstream], imported: Mapping[str, ImportedConnector] = {}
    ) -> None:
        clock = SystemClock()
        mocked: dict[str, Upstream | ImportedConnector] = {**upstreams, **imported}
        self._mocks = {name: asgi_app(MockApplication(e, clock)) for name, e in mocked.items()}
        self._token_paths = {
            f"/{name}{operation.path}"
            for name, each in upstreams.items()
            for operation in each.operations
            if operation.id in {rule.operation for rule in each.tokens}
        }
        self.fault: Fault | None = None
        self.alter: Callable[[bytes], bytes] | None = None
        """Makes another body of each one that a mock answers."""
        self.seen: list[Seen] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await answer_lifespan(receive, send)
            return
        path = scope["raw_path"].decode("latin-1")
        name = path.split("/")[1]
        is_token = path in self._token_paths
        self.seen.append(Seen(name, is_token, _head(scope)))
        if self.fault is not None and not is_token:
            await self.fault(receive, send)
            return
        inner = dict(scope, raw_path=path.removeprefix(f"/{name}").encode("latin-1"))
        if self.alter is None or is_token:
            await self._mocks[name](inner, receive, send)
        else:
            await _altered(self._mocks[name], inner, receive, send, self.alter)


def _head(scope: Any) -> str:
    fields = [b"%b: %b" % field for field in scope["headers"]]
    target = b"%b?%b" % (scope["raw_path"], scope["query_string"])
    return b"\n".join([target, *fields]).decode("latin-1")


def answering(
    status: int, body: bytes = b"{}", content_type: str = "application/json", **headers: str
) -> Fault:
    """A fault that answers just this. Header names are written with `_` for `-`."""
    named = {"content-type": content_type} | {n.replace("_", "-"): v for n, v in headers.items()}
    lines = [(name.encode(), value.encode()) for name, value in named.items()]

    async def fault(receive: Any, send: Any) -> None:
        await _drain(receive)
        await send({"type": "http.response.start", "status": status, "headers": lines})
        await send({"type": "http.response.body", "body": body})

    return fault


async def silence(receive: Any, send: Any) -> None:  # noqa: ARG001 - the signature of ASGI
    """Never answers, until the caller has left."""
    await _drain(receive)
    while (await receive())["type"] != "http.disconnect":
        pass


async def cut(receive: Any, send: Any) -> None:
    """Ends the connection in the middle of the body."""
    await _drain(receive)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b'{"data":[', "more_body": False})


async def flood(receive: Any, send: Any) -> None:
    """200 MB of JSON."""
    await _drain(receive)
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for _ in range(200):
        await send({"type": "http.response.body", "body": b'"' + b"x" * 10**6, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _altered(
    mock: Any, scope: Any, receive: Any, send: Any, alter: Callable[[bytes], bytes]
) -> None:
    messages: list[Any] = []

    async def keep(message: Any) -> None:
        messages.append(message)

    await mock(scope, receive, keep)
    start, *parts = messages
    lines = [line for line in start["headers"] if line[0].lower() != b"content-length"]
    await send({**start, "headers": lines})
    whole = b"".join(part.get("body", b"") for part in parts)
    await send({"type": "http.response.body", "body": alter(whole)})


async def _drain(receive: Any) -> None:
    while (await receive()).get("more_body"):
        pass
