"""Serves `/openapi.json` and `/asyncapi.json`, with what the key of the caller may call."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from litestar import Request, Response, get
from litestar.handlers import HTTPRouteHandler
from msgspec import Struct

from gateway.auth.authorize import Policy
from gateway.auth.principal import Identification, Principal
from gateway.calls.call import Call, Invoke
from gateway.catalogue import Catalogue
from gateway.catalogue.packed import PackedText
from gateway.catalogue.visible import MayCall, NarrowingOf, asyncapi_for, openapi_for
from gateway.contract.policies.grants import Narrowing
from gateway.errors import GatewayError
from gateway.transports.http.asgi import Scope, header_values, request_id_of
from gateway.transports.http.credentials import authenticate, refuse, shown_credentials
from gateway.transports.http.peers import sender_of

Render = Callable[[bytes, MayCall | None, NarrowingOf], bytes]


class Documents(Struct, frozen=True, kw_only=True):
    """What the document routes need."""

    catalogue: Catalogue
    identification: Identification
    invoke: Invoke
    """Records requests with an invalid key. Requests that succeed leave no record."""
    policy: Policy
    is_public: bool = False
    """Whether all callers see the complete documents."""


class PublishedDocument:
    """A text that is served unchanged. Clients that have it get 304 (RFC 9110 §13.1.2)."""

    def __init__(self, text: PackedText, media_type: str, cache_control: str) -> None:
        self._text = text
        self._media_type = media_type
        self._etag = f'"{text.digest[:32]}"'
        self._headers = {"etag": self._etag, "cache-control": cache_control}

    def answer(self, request: Request[Any, Any, Any], **headers: str) -> Response[bytes]:
        """The text, or 304 for a client that has it."""
        known = request.headers.get("if-none-match", "")
        is_known = self._etag in {tag.strip().removeprefix("W/") for tag in known.split(",")}
        return Response(
            b"" if is_known else self._text.read(),
            status_code=304 if is_known else 200,
            headers={**self._headers, **headers},
            media_type=self._media_type,
        )


def document_routes(documents: Documents) -> list[HTTPRouteHandler]:
    """The routes of both documents."""
    catalogue = documents.catalogue
    return [
        _route("/openapi.json", lambda: catalogue.openapi, openapi_for, documents),
        _route("/asyncapi.json", lambda: catalogue.asyncapi, asyncapi_for, documents),
    ]


def _route(
    path: str, read: Callable[[], bytes], render: Render, documents: Documents
) -> HTTPRouteHandler:
    rendered: dict[str | None, PublishedDocument] = {}
    """The document of each agent. The policies limit how many agents there are."""
    rendering = asyncio.Lock()

    def render_for(agent: str | None) -> PublishedDocument:
        may_call = None if agent is None else partial(documents.policy.allows, agent)
        text = read()
        if not documents.is_public:
            text = render(text, may_call, _narrowings(documents, agent))
        return PublishedDocument(PackedText(text), "application/json", "private, no-cache")

    async def document_of(agent: str | None) -> PublishedDocument:
        # The document of many tools takes a second. One at a time is made, beside the event loop.
        async with rendering:
            if agent not in rendered:
                rendered[agent] = await asyncio.to_thread(render_for, agent)
        return rendered[agent]

    @get(path, name=path.strip("/").partition(".")[0])
    async def serve_document(request: Request[Any, Any, Any]) -> Response[bytes]:
        """Serve the parts of a document that the caller may see. A key is optional, but if there
        is one it must be valid."""
        scope: Any = request.scope
        agent = None
        if header_values(scope, b"authorization"):
            agent = (await reader_of(documents, path, scope)).agent
        document = await document_of(agent)
        return document.answer(request, vary="authorization")

    return serve_document


def _narrowings(documents: Documents, agent: str | None) -> NarrowingOf:
    """What restricts the arguments of an agent. An operation may have gone since the generator."""
    entries = {each.id: each for each in documents.catalogue.entries}

    def of(name: str) -> Narrowing | None:
        entry = entries.get(name)
        if agent is None or entry is None:
            return None
        return documents.policy.narrowing(agent, entry)

    return of


async def reader_of(documents: Documents, path: str, scope: Scope) -> Principal:
    """The caller. Raises `Unauthenticated` and records it, so that guessing keys leaves traces."""
    credentials = shown_credentials(scope)
    try:
        return await authenticate(documents.identification, credentials, sender_of(scope))
    except GatewayError as error:
        asked = Call(
            operation_id=path.strip("/"),
            credentials=credentials,
            arguments=b"",
            transport="rest",
            request_id=request_id_of(scope),
        )
        await refuse(documents.invoke, asked, error)
