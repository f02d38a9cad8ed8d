"""The routes of the MCP endpoints and of their server cards."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from litestar import Litestar, Request, Response, asgi, get
from litestar.handlers import ASGIRouteHandler, HTTPRouteHandler
from litestar.types import Receive, Scope, Send

from gateway.catalogue.packed import PackedText
from gateway.contract.values import jsontext
from gateway.errors import UnknownPath
from gateway.publication.servers.card import MEDIA_TYPE, server_card
from gateway.publication.servers.published import published_server
from gateway.transports.documents import Documents, PublishedDocument, reader_of
from gateway.transports.http.asgi import Receive as AsgiReceive
from gateway.transports.http.asgi import Scope as AsgiScope
from gateway.transports.http.asgi import Send as AsgiSend
from gateway.transports.http.asgi import header_values
from gateway.transports.mcp.endpoint import McpEndpoint
from gateway.transports.mcp.outgoing.introduction import ShownServers
from gateway.transports.mcp.protocol import VERSIONS

_CARD: Final = "server-card"
_MOUNT: Final = "/mcp/"
_PUBLIC: Final = f"{_MOUNT}{_CARD}"
_READS: Final = ("GET", "HEAD")


def mcp_routes(mcp: McpEndpoint, connectors: Sequence[str]) -> list[ASGIRouteHandler]:
    """`/mcp` and `/mcp/<connector>`."""
    one_each = [_mcp_route(mcp, f"/mcp/{connector}", connector) for connector in connectors]
    return [_mcp_route(mcp, "/mcp", None), *one_each]


def hide_unknown(app: Litestar, mcp: McpEndpoint) -> None:
    """Let paths under `/mcp` without a route need a key in `app`, as those with one do.

    Litestar finds no routes of ASGI with parameters, and answers 404 without asking for a key.
    """
    routed: Any = app.asgi_handler
    known = frozenset(each.path for each in app.routes if each.path.startswith(_MOUNT))
    # Litestar refuses other methods before it asks for a key.
    read = frozenset(each for each in known if each.endswith(f"/{_CARD}")) - {_PUBLIC}

    async def serve(scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        path = scope["path"].rstrip("/") if scope["type"] == "http" else ""
        is_known = path in known and (path not in read or scope["method"] in _READS)
        if path.startswith(_MOUNT) and not is_known:
            await mcp.serve_unknown(scope, send)
        else:
            await routed(scope, receive, send)

    app.asgi_handler = serve  # type: ignore[assignment]  # Litestar's TypedDicts are ASGI's dicts


def _mcp_route(mcp: McpEndpoint, path: str, connector: str | None) -> ASGIRouteHandler:
    @asgi(path, name=path, copy_scope=False)
    async def serve_mcp(scope: Scope, receive: Receive, send: Send) -> None:
        """One MCP endpoint."""
        # The parameters of ASGI without Litestar's narrower types.
        call: tuple[Any, Any, Any] = scope, receive, send
        await mcp.serve(connector, *call)

    return serve_mcp


def card_routes(
    documents: Documents, version: str, public_url: str | None
) -> Iterator[HTTPRouteHandler]:
    """`/mcp/server-card` for everybody, and `/mcp/<connector>/server-card`.

    A connector's card is shown like its tools in the documents: to keys that may call one of them,
    or to everybody if the documents are public.
    """
    catalogue = documents.catalogue
    servers = ShownServers(catalogue, documents.policy)
    for connector in (None, *catalogue.connectors):
        server = published_server(catalogue.servers, connector, version, public_url)
        text = PackedText(jsontext.encode(server_card(server, VERSIONS)))
        yield _card_route(documents, servers, connector, text)


def _card_route(
    documents: Documents, servers: ShownServers, connector: str | None, text: PackedText
) -> HTTPRouteHandler:
    path = _PUBLIC if connector is None else f"/mcp/{connector}/{_CARD}"
    is_public = connector is None or documents.is_public
    caching = "public, max-age=300" if is_public else "private, no-cache"
    card = PublishedDocument(text, MEDIA_TYPE, caching)

    @get(path, name=path)
    async def serve_card(request: Request[Any, Any, Any]) -> Response[bytes]:
        """Serve one server card. A key that is sent must be valid, also where none is needed."""
        scope: Any = request.scope
        if is_public and not header_values(scope, b"authorization"):
            return card.answer(request)
        reader = await reader_of(documents, path, scope)
        if not is_public and not servers.may_see(reader, connector):
            raise UnknownPath
        return card.answer(request, vary="authorization")

    return serve_card
