"""The webhook endpoint, `/webhooks/<provider>`. Each message authenticates its sender."""

import zlib
from typing import Final

import msgspec
from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from msgspec import Struct

from gateway.errors import (
    GatewayError,
    MalformedRequest,
    MethodNotAllowed,
    PayloadTooLarge,
    UnauthenticatedMessage,
    UnknownPath,
    UnsupportedMediaType,
)
from gateway.failpoints import hit
from gateway.signatures.received import Received
from gateway.store.records import Receipt
from gateway.transports.http.asgi import (
    ClientGone,
    Receive,
    Scope,
    Send,
    header_values,
    read_body,
    request_id_of,
    respond,
)
from gateway.transports.http.bodies import too_large
from gateway.transports.http.problems import send_problem, send_refusal
from gateway.transports.http.senders import sender_of
from gateway.webhooks.ingest import Ingest
from gateway.webhooks.source import ChallengeAnswer, OpenSource

_PATH: Final = "/webhooks"
_GZIP: Final = b"gzip"
_ALLOW: Final = ("POST", "OPTIONS")
_encode = msgspec.json.Encoder().encode


class _Stored(Struct, frozen=True, omit_defaults=True):
    """The answer to the sender of a request that was accepted."""

    id: str
    """The gateway's id of the first message."""
    outcome: str
    """`stored`, `quarantined` or `duplicate`: of a batch, the first of these that a message has."""
    messages: int = 1


class WebhookEndpoint:
    """Reads requests, passes them to ingest, and answers. Errors are problem+json."""

    def __init__(
        self, ingest: Ingest, public_url: str | None = None, max_bytes: int = 8 * 2**20
    ) -> None:
        """`public_url`: where providers reach the gateway, for signatures that cover the address.
        None: what the request says. `max_bytes`: the operator's limit of a body."""
        self._ingest = ingest
        self._public_url = public_url
        self._max_bytes = max_bytes

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, whose path begins with the provider. Raises only when cancelled."""
        provider = scope["path"].removeprefix("/").removesuffix("/")
        try:
            found = await self._take(provider, scope, receive)
        except ClientGone:
            return
        except GatewayError as error:
            # Not logged here: ingest has logged it, and anyone could fill the log with requests.
            await send_refusal(send, error, request_id_of(scope))
            return
        except Exception as error:  # noqa: BLE001 - this endpoint's single edge
            await send_problem(send, error, request_id_of(scope))
            return
        if isinstance(found, ChallengeAnswer):
            await respond(
                send,
                found.status,
                found.body,
                content_type=found.content_type,
                headers=list(found.headers),
            )
            return
        stored = _stored(found)
        status = 200 if stored.outcome == "duplicate" else 202
        await respond(send, status, _encode(stored))

    async def _take(
        self, path: str, scope: Scope, receive: Receive
    ) -> ChallengeAnswer | tuple[Receipt, ...]:
        sender = sender_of(scope)
        provider, _, rest = path.partition("/")
        source = self._ingest.admit(provider, sender.peer)
        if rest and not source.reads_path:
            raise UnknownPath
        limit = min(source.contract.max_body_bytes, self._max_bytes)
        sender.max_body_bytes = limit
        sender.limit_source = _limit_of(source, limit)
        received = self._received(scope, path, rest)
        if scope["method"] != "POST":
            return self._answered(source, received)
        sent = await read_body(receive)
        hit("ingest.after_body")
        body = _decoded(scope, source, sent, limit)
        received = msgspec.structs.replace(received, body=body)
        if (answer := self._ingest.challenged(source, received)) is not None:
            return answer
        _require_media_type(scope, source)
        try:
            return await self._ingest.receive(source, received, None if body is sent else sent)
        except UnauthenticatedMessage:
            raise
        except GatewayError:
            # The signature is checked first, so a message with any other error is authentic.
            sender.is_authenticated = True
            raise

    def _answered(self, source: OpenSource, received: Received) -> ChallengeAnswer:
        """The answer to a challenge, or to the question which methods there are."""
        answer = self._ingest.challenged(source, received)
        if answer is not None:
            return answer
        allow = tuple(dict.fromkeys((*_ALLOW, *source.challenge_methods)))
        if received.method == "OPTIONS":
            named = ((b"allow", ", ".join(allow).encode()),)
            return ChallengeAnswer(headers=named, status=204)
        raise MethodNotAllowed(allow=allow)

    def _received(self, scope: Scope, path: str, rest: str) -> Received:
        """The request without its body, with the address as its sender knows it."""
        base = self._public_url
        if base is None:
            hosts = header_values(scope, b"host")
            host = hosts[0].decode("latin-1") if hosts else ""
            base = f"{scope.get('scheme', 'http')}://{host}"
        query = scope.get("query_string", b"").decode("latin-1")
        url = f"{base.rstrip('/')}{_PATH}/{path}{'?' if query else ''}{query}"
        return Received(
            fields=scope["headers"], body=b"", method=scope["method"], url=url, path=rest
        )


def webhook_route(endpoint: WebhookEndpoint) -> ASGIRouteHandler:
    """The route of all sources. The endpoint knows which sources are open."""
    return asgi(_PATH, is_mount=True, name="webhook", copy_scope=False)(endpoint.serve)


def _stored(receipts: tuple[Receipt, ...]) -> _Stored:
    outcomes = [receipt.outcome for receipt in receipts]
    # A conflict in a batch is kept in the quarantine: sending the batch again would not help.
    known = ["quarantined" if each == "conflict" else each for each in outcomes]
    outcome = next(each for each in ("stored", "quarantined", "duplicate") if each in known)
    return _Stored(receipts[0].webhook_id, outcome, len(receipts))


def _require_media_type(scope: Scope, source: OpenSource) -> None:
    values = header_values(scope, b"content-type")
    media_type, _, parameters = (values[0] if len(values) == 1 else b"").partition(b";")
    charset = parameters.strip().lower().replace(b'"', b"").rstrip(b"; ")
    is_utf8 = not charset.startswith(b"charset") or charset in (
        b"charset=utf-8",
        b"charset=us-ascii",
    )
    known = source.contract.media_types
    if media_type.strip().lower().decode("latin-1") not in known or not is_utf8:
        raise UnsupportedMediaType(f"The body must be {' or '.join(known)} in UTF-8.")


def _limit_of(source: OpenSource, max_bytes: int) -> str:
    is_contract = max_bytes == source.contract.max_body_bytes
    return "`maxBodyBytes` of the webhook" if is_contract else "the setting max_webhook_bytes"


def _decoded(scope: Scope, source: OpenSource, body: bytes, max_bytes: int) -> bytes:
    """The body, decompressed if it is compressed and the contract allows it."""
    codings = [each.strip().lower() for each in header_values(scope, b"content-encoding")]
    if not codings or codings == [b"identity"]:
        return body
    if codings != [_GZIP] or not source.contract.is_compressed:
        allowed = "gzip or none" if source.contract.is_compressed else "none"
        raise UnsupportedMediaType(f"The content coding must be {allowed}.")
    inflate = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        found = inflate.decompress(body, max_bytes)
    except zlib.error:
        raise MalformedRequest("The body is no gzip.") from None
    if inflate.unconsumed_tail:
        raise PayloadTooLarge(too_large(max_bytes, _limit_of(source, max_bytes)))
    if not inflate.eof or inflate.unused_data:
        raise MalformedRequest("The body is not one complete gzip.")
    return found
