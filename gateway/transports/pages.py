"""What people read in a browser: the API document, its viewer, and what each problem means."""

from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any, Final

from litestar import Request, Response, Router, get
from litestar.datastructures import CacheControlHeader
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from litestar.static_files import create_static_files_router

from gateway.errors import GatewayError, UnknownPath
from gateway.transports.problem_kinds import PROBLEMS, ProblemKind

_STATIC: Final = Path(__file__).parent / "static"
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
<link rel="stylesheet" href="/docs/assets/{style}">
</head>
<body>
{body}
</body>
</html>
"""
_INDEX: Final = """<h1>Contract gateway</h1>
<p>Tools for agents and programs, each made from its contract.</p>
<dl>
<dt><a href="/docs">/docs</a></dt><dd>The REST operations, to read and to try.</dd>
<dt><a href="/openapi.json">/openapi.json</a></dt><dd>The same for programs (OpenAPI 3.1).</dd>
<dt><a href="/asyncapi.json">/asyncapi.json</a></dt><dd>The events for programs (AsyncAPI 3.0).</dd>
<dt><code>/events</code></dt><dd>The events as they are published (Server-Sent Events).</dd>
<dt><code>/mcp</code></dt><dd>Every tool over MCP Streamable HTTP.</dd>
<dt><code>/mcp/&lt;connector&gt;</code></dt><dd>One connector's tools, under their bare names.</dd>
<dt><a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a></dt><dd>For probes.</dd>
</dl>"""
_DOCS: Final = """<div id="swagger-ui"></div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/docs.js"></script>"""
_PROBLEM: Final = """<h1>{title}</h1>
<dl>
<dt>Status</dt><dd>{status}</dd>
<dt>Code</dt><dd><code>{code}</code></dd>
<dt>What it means</dt><dd>{meaning}</dd>
<dt>What to do</dt><dd>{advice}</dd>
</dl>"""


def _document_route(path: str, name: str, text: bytes) -> HTTPRouteHandler:
    etag = f'"{sha256(text).hexdigest()[:32]}"'

    @get(path, name=name)
    async def document(request: Request[Any, Any, Any]) -> Response[bytes]:
        """Serve a bundled document, byte for byte as it was generated."""
        headers = {"etag": etag, "cache-control": "no-cache"}
        known = request.headers.get("if-none-match", "")
        if etag in {tag.strip().removeprefix("W/") for tag in known.split(",")}:
            return Response(b"", status_code=304, headers=headers, media_type="application/json")
        return Response(text, headers=headers, media_type="application/json")

    return document


def page_routes(openapi: bytes, asyncapi: bytes) -> list[HTTPRouteHandler | Router]:
    """`/`, `/docs`, `/openapi.json`, `/asyncapi.json`, `/problems/<slug>`; none needs a key."""

    @get("/", name="index")
    async def index() -> Response[bytes]:
        """Tell what is here."""
        return _html("Contract gateway", _INDEX)

    @get("/docs", name="docs")
    async def docs() -> Response[bytes]:
        """Show the API document in Swagger UI, from local assets alone."""
        return _html("Contract gateway: REST operations", _DOCS, style="swagger-ui.css")

    @get("/problems/{slug:str}", name="problem")
    async def problem(slug: FromPath[str]) -> Response[bytes]:
        """Explain one kind of problem."""
        for error, kind in PROBLEMS.items():
            if kind.slug == slug:
                return _html(kind.title, _explain(error, kind))
        raise UnknownPath

    documents = (
        _document_route("/openapi.json", "openapi", openapi),
        _document_route("/asyncapi.json", "asyncapi", asyncapi),
    )
    return [index, docs, *documents, problem, _assets()]


def _assets() -> Router:
    return create_static_files_router(
        path="/docs/assets",
        directories=[_STATIC],
        cache_control=CacheControlHeader(max_age=3600),
        name="assets",
    )


def _explain(error: type[GatewayError], kind: ProblemKind) -> str:
    meaning = (error.__doc__ or "").split("\n", maxsplit=1)[0]
    return _PROBLEM.format(
        title=escape(kind.title),
        status=kind.status,
        code=escape(kind.code),
        meaning=escape(meaning),
        advice=escape(kind.advice),
    )


def _html(title: str, body: str, *, style: str = "page.css") -> Response[bytes]:
    page = _PAGE.format(title=escape(title), style=style, body=body)
    return Response(
        page.encode(), media_type="text/html", headers={"content-security-policy": _CSP}
    )
