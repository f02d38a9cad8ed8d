"""The two ways to a mock: as a backend in this process, and as an ASGI application over HTTP.

On both, requests and replies are encoded and read exactly as those of the upstream.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Final, Literal

from gateway.backends.http.client import UpstreamClient
from gateway.backends.mock.application import MockApplication, MockBrokeContract, MockOptions
from gateway.backends.oauth import TokenForms, TokenSource, mock_key, token_operation
from gateway.backends.wire import WireEncoder, WireReply, WireRequest
from gateway.clock import Clock
from gateway.contract.credentials import GRANT_CREDENTIALS, usable_rule
from gateway.contract.upstream import Reply, TokenRule, Upstream
from gateway.encoding.bodies import FORM
from gateway.errors import ConfigurationError, InternalError, UpstreamUnavailable
from gateway.observability.defects import log_defect


class MockBackend(UpstreamClient):
    """Sends requests to a mock in this process, by default that of the contract.

    Required credentials that are not given get the value `mock_<name>`. Raises `ContractError` if
    the upstream's behaviour module cannot be used.
    """

    name: Literal["mock"] = "mock"

    def __init__(
        self,
        upstream: Upstream,
        clock: Clock,
        *,
        seed: str = "0",
        credentials: Mapping[str, str] | None = None,
        application: MockApplication | None = None,
    ) -> None:
        given = {name: value for name, value in (credentials or {}).items() if value}
        rule = _rule(upstream, given)
        # Imported operations choose among credentials, none of which is required by itself.
        needed = [e.name for e in upstream.credentials if e.is_required or upstream.slots]
        needed += GRANT_CREDENTIALS[rule.grant] if rule else ()
        known = {name: f"mock_{name}" for name in needed} | given
        self.application: MockApplication = application or MockApplication(
            upstream, clock, options=MockOptions(seed=seed)
        )
        """The application that simulates the upstream."""
        wire = _InProcess(upstream.name, self.application)
        tokens = None
        if rule is not None:
            forms = TokenForms(rule, known, mock_key)
            tokens = TokenSource(upstream, rule, forms, _TokenWire(wire, upstream, rule), clock)
        super().__init__(
            upstream, clock, wire=wire, encoder=WireEncoder(upstream, known), tokens=tokens
        )


def _rule(upstream: Upstream, given: Mapping[str, str]) -> TokenRule | None:
    """The rule for tokens. A rule without a private key is preferred, since a key takes time to
    make."""
    keyless = [rule for rule in upstream.tokens if rule.grant != "jwt_bearer"]
    rules = keyless or list(upstream.tokens)
    return usable_rule(rules, given) or next(iter(rules), None)


class _InProcess:
    """Sends requests to an application in this process."""

    def __init__(self, upstream_name: str, application: MockApplication) -> None:
        self._name = upstream_name
        self._application = application

    async def exchange(self, request: WireRequest) -> Reply:
        """See `Wire.exchange`."""
        try:
            reply = await self._application.handle(request)
        except MockBrokeContract as error:
            raise InternalError(f"the mock of {self._name} broke its contract") from error
        except ConfigurationError as error:
            raise InternalError(error.detail) from error
        await asyncio.sleep(reply.body_delay_seconds)
        if reply.is_cut:
            raise UpstreamUnavailable("The connection to the upstream broke.")
        if request.watch is not None and 200 <= reply.status < 300:
            request.watch(reply.headers, reply.body)
        return Reply(status=reply.status, headers=reply.headers, body=reply.body)

    async def close(self) -> None:
        """Close the mock's state."""
        self._application.close()


class _TokenWire:
    """Sends forms to the operation of the same application that issues tokens."""

    def __init__(self, wire: _InProcess, upstream: Upstream, rule: TokenRule) -> None:
        self._wire = wire
        self._path = token_operation(upstream, rule).path

    async def post(self, form: bytes) -> Reply:
        """See `TokenWire.post`."""
        request = WireRequest(
            method="POST", target=self._path, headers=(("Content-Type", FORM),), body=form
        )
        try:
            return await self._wire.exchange(request)
        except UpstreamUnavailable as error:
            raise UpstreamUnavailable(error.detail, is_sent=False) from None


Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApplication = Callable[[Message, Receive, Send], Awaitable[None]]

_BROKEN: Final = WireReply(
    status=500,
    headers={"content-type": "application/json"},
    body=b'{"error":"mock-broke-contract"}',
)
_log = logging.getLogger(__name__)


def asgi_app(application: MockApplication) -> ASGIApplication:
    """`application` for an ASGI server. A reply that breaks the contract becomes a 500."""

    async def serve(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await answer_lifespan(receive, send)
        elif scope["type"] == "http":
            await _send(await _reply(application, scope, receive), send)

    return serve


async def answer_lifespan(receive: Receive, send: Send) -> None:
    """Answer the lifespan of a server until it ends."""
    while True:
        event = (await receive())["type"]
        await send({"type": f"{event}.complete"})
        if event == "lifespan.shutdown":
            return


async def _reply(application: MockApplication, scope: Message, receive: Receive) -> WireReply:
    try:
        return await application.handle(await _request(scope, receive))
    except MockBrokeContract as error:
        log_defect(_log, error, "the mock's reply breaks its contract")
        return _BROKEN


async def _request(scope: Message, receive: Receive) -> WireRequest:
    body = bytearray()
    message: Message = {"more_body": True}
    while message.get("more_body"):
        message = await receive()
        body += message.get("body", b"")
    query: bytes = scope["query_string"]
    path = scope["raw_path"].decode("latin-1")
    return WireRequest(
        method=scope["method"],
        target=f"{path}?{query.decode('latin-1')}" if query else path,
        headers=tuple((n.decode("latin-1"), v.decode("latin-1")) for n, v in scope["headers"]),
        body=bytes(body) or None,
    )


async def _send(reply: WireReply, send: Send) -> None:
    headers = {**reply.headers, "content-length": str(len(reply.body))}
    await send(
        {
            "type": "http.response.start",
            "status": reply.status,
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
    )
    half = len(reply.body) // 2 if reply.is_cut or reply.body_delay_seconds else 0
    await send({"type": "http.response.body", "body": reply.body[:half], "more_body": True})
    await asyncio.sleep(reply.body_delay_seconds)
    if reply.is_cut:
        # The body is shorter than announced, so the server must close the connection.
        return
    await send({"type": "http.response.body", "body": reply.body[half:]})
