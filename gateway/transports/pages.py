"""Serves `/openapi.json` and `/asyncapi.json`, with what the key of the caller may call."""

import asyncio
from collections.abc import Callable, Mapping
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import Any, Final

from litestar import Request, Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from msgspec import Struct

from gateway.auth.authorize import Policy
from gateway.auth.principal import Identification, Principal
from gateway.calls.call import Call, Invoke
from gateway.catalogue import Catalogue
from gateway.catalogue.index import PackedText
from gateway.catalogue.visible import MayCall, NarrowingOf, asyncapi_for, openapi_for
from gateway.contract.policies.grants import Narrowing
from gateway.errors import GatewayError, UnknownPath
from gateway.transports.errors import ProblemKind
from gateway.transports.http.asgi import Scope, header_values, request_id_of
from gateway.transports.http.problem_kinds import PROBLEMS
from gateway.transports.http.senders import authenticate, refuse, sender_of, shown_credentials

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


_STATIC: Final = Path(__file__).parent / "static"
_MEDIA_TYPES: Final = {
    "docs.css": "text/css",
    "docs.js": "text/javascript",
    "favicon-32x32.png": "image/png",
    "page.css": "text/css",
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui-bundle.js.LICENSE.txt": "text/plain",
    "swagger-ui.css": "text/css",
}
"""The only files under `/docs/assets/`. A path of a request is never used to open a file."""
_CSP: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="/docs/assets/favicon-32x32.png">
{styles}
</head>
<body>
{body}
</body>
</html>
"""
_INDEX: Final = """<h1>Contract gateway</h1>
<p>Tools for agents and programs, each made from its contract.</p>
<dl>
<dt><a href="/docs">/docs</a></dt><dd>The REST operations of a key, to read and to try.</dd>
<dt><a href="/openapi.json">/openapi.json</a></dt><dd>The same for programs (OpenAPI 3.1).</dd>
<dt><a href="/asyncapi.json">/asyncapi.json</a></dt><dd>The events for programs (AsyncAPI 3.0).</dd>
<dt><code>/events</code></dt><dd>The events as they are published (Server-Sent Events).</dd>
<dt><code>/mcp</code></dt><dd>Every tool over MCP Streamable HTTP.</dd>
<dt><code>/mcp/&lt;connector&gt;</code></dt><dd>One connector's tools, under their bare names.</dd>
<dt><a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a></dt><dd>For probes.</dd>
</dl>"""
_DOCS: Final = """<form id="key-form">
<label for="key">Gateway key</label>
<input id="key" type="password" autocomplete="off" spellcheck="false">
<button>Show its tools</button>
<button id="key-forget" type="button" hidden>Forget the key</button>
<p id="key-status" role="status"></p>
<p>The key is kept in this browser tab until you close the tab or forget the key.
<code>gateway keys create AGENT</code> makes one; the administrator's first key is in
<code>bootstrap-key</code> in the data folder of the gateway.</p>
</form>
<div id="swagger-ui"></div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/docs.js"></script>"""
_PROBLEM: Final = """<h1>{title}</h1>
<dl>
<dt>Status</dt><dd>{status}</dd>
<dt>Code</dt><dd><code>{code}</code></dd>
<dt>What it means</dt><dd>{meaning}</dd>
<dt>What to do</dt><dd>{advice}</dd>
</dl>"""


def page_routes(documents: Documents) -> list[HTTPRouteHandler]:
    """`/`, `/docs`, the documents, `/problems/<slug>`. No key is needed, but a key shows more."""

    @get("/", name="index")
    async def index() -> Response[bytes]:
        """List the pages and endpoints."""
        return _html("Contract gateway", _INDEX)

    @get("/docs", name="docs")
    async def docs() -> Response[bytes]:
        """Show the API document in Swagger UI, which is served from local files only."""
        return _html("Contract gateway: REST operations", _DOCS, "swagger-ui.css", "docs.css")

    @get("/problems/{slug:str}", name="problem")
    async def problem(slug: FromPath[str]) -> Response[bytes]:
        """Explain one kind of problem."""
        for error, kind in PROBLEMS.items():
            if kind.slug == slug:
                return _html(kind.title, _explain(error, kind))
        raise UnknownPath

    return [index, docs, *document_routes(documents), problem, _assets()]


@cache
def _files() -> Mapping[str, PublishedDocument]:
    """The files of the pages by name. To unpack them for each stranger who asks would take time."""
    texts = {
        name: PackedText((_STATIC / name).read_bytes(), is_read_often=True) for name in _MEDIA_TYPES
    }
    return {
        name: PublishedDocument(texts[name], media_type, "max-age=3600")
        for name, media_type in _MEDIA_TYPES.items()
    }


def _assets() -> HTTPRouteHandler:
    assets = _files()

    @get("/docs/assets/{name:str}", name="assets")
    async def serve_asset(request: Request[Any, Any, Any], name: FromPath[str]) -> Response[bytes]:
        """Serve one file of the pages."""
        if name not in assets:
            raise UnknownPath
        return assets[name].answer(request)

    return serve_asset


def _explain(error: type[GatewayError], kind: ProblemKind) -> str:
    meaning = (error.__doc__ or "").split("\n", maxsplit=1)[0]
    return _PROBLEM.format(
        title=escape(kind.title),
        status=kind.status,
        code=escape(kind.code),
        meaning=escape(meaning),
        advice=escape(kind.advice),
    )


def _html(title: str, body: str, *styles: str) -> Response[bytes]:
    links = [f'<link rel="stylesheet" href="/docs/assets/{s}">' for s in styles or ("page.css",)]
    page = _PAGE.format(title=escape(title), styles="\n".join(links), body=body)
    return Response(
        page.encode(), media_type="text/html", headers={"content-security-policy": _CSP}
    )
