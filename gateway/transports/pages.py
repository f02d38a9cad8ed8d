"""Pages for a browser: an index, the viewer of the API document, and explanations of problems."""

from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Final

from litestar import Request, Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from gateway.catalogue.packed import PackedText
from gateway.errors import GatewayError, UnknownPath
from gateway.transports.documents import Documents, PublishedDocument, document_routes
from gateway.transports.http.problem_kinds import PROBLEMS
from gateway.transports.problem_kind import ProblemKind

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
