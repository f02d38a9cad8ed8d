"""The webhook endpoint, `POST /webhooks/<provider>`. Each message authenticates its sender."""

from typing import Any, Final

import msgspec
from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from msgspec import Struct

from gateway.errors import GatewayError, MethodNotAllowed, PayloadTooLarge, UnauthenticatedMessage
from gateway.failpoints import hit
from gateway.store.records import Receipt
from gateway.transports.http.asgi import (
    ClientGone,
    Message,
    Receive,
    Scope,
    Send,
    read_body,
    request_id_of,
    respond,
)
from gateway.transports.http.negotiation import require_json_body
from gateway.transports.http.peers import sender_of
from gateway.transports.http.problems import send_problem, send_refusal
from gateway.transports.http.request_body import too_large
from gateway.webhooks.ingest import Ingest

_ALLOW: Final = ("POST", "OPTIONS")
_encode = msgspec.json.Encoder().encode


class _Answer(Struct, frozen=True):
    """The answer to the sender of a message that was accepted."""

    id: str
    """The webhook's id in the gateway."""
    outcome: str
    """`stored`, `quarantined` or `duplicate`."""


class WebhookEndpoint:
    """Reads requests, passes them to ingest, and answers. Errors are problem+json."""

    def __init__(self, ingest: Ingest) -> None:
        self._ingest = ingest

    async def serve(self, provider: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. Raises nothing except when it is cancelled."""
        try:
            if scope["method"] == "OPTIONS":
                await respond(send, 204, b"", headers=[(b"allow", ", ".join(_ALLOW).encode())])
                return
            receipt = await self._take(provider, scope, receive)
        except ClientGone:
            return
        except GatewayError as error:
            # Not logged here: ingest has logged it, and anyone could fill the log with requests.
            await send_refusal(send, error, request_id_of(scope))
            return
        except Exception as error:  # noqa: BLE001 - this endpoint's single edge
            await send_problem(send, error, request_id_of(scope))
            return
        status = 200 if receipt.outcome == "duplicate" else 202
        await respond(send, status, _encode(_Answer(receipt.webhook_id, receipt.outcome)))

    async def _take(self, provider: str, scope: Scope, receive: Receive) -> Receipt:
        sender = sender_of(scope)
        source = self._ingest.admit(provider, sender.peer)
        if scope["method"] != "POST":
            raise MethodNotAllowed(allow=_ALLOW)
        require_json_body(scope)
        body = await read_body(_capped(receive, source.contract.max_body_bytes))
        hit("ingest.after_body")
        try:
            return await self._ingest.receive(source, scope["headers"], body)
        except UnauthenticatedMessage:
            raise
        except GatewayError:
            # The signature is checked first, so a message with any other error is authentic.
            sender.is_authenticated = True
            raise


def webhook_route(endpoint: WebhookEndpoint) -> ASGIRouteHandler:
    """The route of all sources. The endpoint knows which sources are open."""

    @asgi("/webhooks", is_mount=True, name="webhook", copy_scope=False)
    async def serve_webhook(scope: Any, receive: Any, send: Any) -> None:
        """One message of one source."""
        provider = scope["path"].removeprefix("/").removesuffix("/")
        await endpoint.serve(provider, scope, receive, send)

    return serve_webhook


def _capped(receive: Receive, max_bytes: int) -> Receive:
    """A `receive` that raises `PayloadTooLarge` when more than `max_bytes` have arrived."""
    size = 0

    async def receive_within() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > max_bytes:
            raise PayloadTooLarge(too_large(max_bytes, "`maxBodyBytes` of the webhook"))
        return message

    return receive_within
