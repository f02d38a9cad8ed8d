"""Builds the HTTP application: the layers that a request passes, and all routes."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, TypeAlias

from litestar import Litestar, Request, Response, Router, asgi, get
from litestar.config.app import AppConfig
from litestar.config.cors import CORSConfig
from litestar.exceptions import HTTPException, MethodNotAllowedException, NotFoundException
from litestar.handlers import ASGIRouteHandler, HTTPRouteHandler
from litestar.plugins import PluginProtocol
from litestar.types import ControllerRouterHandler
from msgspec import Struct

from gateway.auth.authorize import Policy
from gateway.auth.principal import Identification
from gateway.calls.call import Invoke
from gateway.calls.jobs.owned import OwnedJobs
from gateway.catalogue import Catalogue
from gateway.catalogue.index import PackedText
from gateway.contract.operation import route_of
from gateway.contract.values import jsontext
from gateway.errors import MalformedRequest, MethodNotAllowed, UnknownPath
from gateway.publication.servers import MEDIA_TYPE, published_server, server_card
from gateway.publication.view import NO_VIEWS, Views
from gateway.transports.events import EventEndpoint, Followers
from gateway.transports.execute import PATH as EXECUTE
from gateway.transports.execute import ExecuteEndpoint
from gateway.transports.health import CheckReadiness, health_alias, operations_routes
from gateway.transports.http.asgi import App, header_values, request_id_of
from gateway.transports.http.asgi import Receive as AsgiReceive
from gateway.transports.http.asgi import Scope as AsgiScope
from gateway.transports.http.asgi import Send as AsgiSend
from gateway.transports.http.bodies import body_limits
from gateway.transports.http.content import Readings, readings_of
from gateway.transports.http.edge import Edge, EdgeRules
from gateway.transports.http.problems import PROBLEM_JSON, log_failure, written
from gateway.transports.jobs import JobEndpoint, is_for_jobs
from gateway.transports.mcp.asking import OpenQuestions
from gateway.transports.mcp.caller import OfferedAccess
from gateway.transports.mcp.descriptions import ShownServers
from gateway.transports.mcp.endpoint import McpEndpoint
from gateway.transports.mcp.protocol import VERSIONS
from gateway.transports.mcp.tools import Tools
from gateway.transports.pages import Documents, PublishedDocument, page_routes, reader_of
from gateway.transports.rest import RestEndpoint, RestParts
from gateway.transports.webhooks import WebhookEndpoint, webhook_route

_CARD: Final = "server-card"
_MOUNT: Final = "/mcp/"
_PUBLIC: Final = f"{_MOUNT}{_CARD}"
_READS: Final = ("GET", "HEAD")


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


def cors_of(rules: EdgeRules) -> CORSConfig | None:
    """The CORS rules: pages of the listed origins may call. None if no origin is listed."""
    if not rules.hosts.origins:
        return None
    return CORSConfig(
        allow_origins=list(rules.hosts.origins),
        allow_methods=["GET", "POST"],
        allow_headers=[
            "accept",
            "authorization",
            "content-type",
            "gateway-max-attempts",
            "gateway-timeout",
            "idempotency-key",
            "last-event-id",
            "mcp-method",
            "mcp-name",
            "mcp-protocol-version",
            "mcp-session-id",
            "traceparent",
            "tracestate",
            "x-request-id",
        ],
        expose_headers=[
            "gateway-backend",
            "gateway-mocked",
            "gateway-left-out",
            "idempotency-replayed",
            "location",
            "mcp-session-id",
            "ratelimit",
            "ratelimit-policy",
            "retry-after",
            "www-authenticate",
            "x-request-id",
        ],
    )


_AnyRequest: TypeAlias = Request[Any, Any, Any]


Serve: TypeAlias = Callable[[AsgiScope, AsgiReceive, AsgiSend], Coroutine[Any, Any, None]]
CallTable: TypeAlias = Mapping[str, Serve]
"""What serves calls, by path."""


class Application(Litestar):
    """Litestar, with one table of what serves calls: each tool and each MCP endpoint, by path.

    A `POST` to one of these paths is a call: most requests are. It is served without the router, as
    the router's own route for it would do. All other requests go to the router: other methods,
    other spellings of a path, and requests of pages if pages of other origins may call, since CORS
    adds their headers. But paths under `/mcp` without a route need a key, as those with one do: the
    router would answer 404, or refuse the method, without asking for a key.
    """

    def __init__(
        self,
        handlers: Sequence[ControllerRouterHandler],
        calls: CallTable,
        serve_unknown: Serve | None = None,
        **options: Any,
    ) -> None:
        """`serve_unknown` serves paths under `/mcp` where nothing is."""
        self.calls = calls
        self._serve_unknown = serve_unknown
        super().__init__(
            [*handlers, *([_call_route(calls)] if calls else [])],
            exception_handlers={HTTPException: _problem, Exception: _problem},
            openapi_config=None,
            logging_config=None,
            **options,
        )
        self._known = frozenset(each.path for each in self.routes if each.path.startswith(_MOUNT))

    def __call__(self, scope: Any, receive: Any, send: Any) -> Coroutine[Any, Any, None]:
        """Serve one ASGI connection."""
        serve: Serve | None = None
        if scope["type"] == "http" and scope["method"] == "POST":
            serve = self.calls.get(scope["path"])
            if self.cors_config is not None and header_values(scope, b"origin"):
                serve = None
        if serve is None and self._hides(scope):
            serve = self._serve_unknown
        return (serve or super().__call__)(scope, receive, send)

    def _hides(self, scope: AsgiScope) -> bool:
        path = scope["path"].rstrip("/") if scope["type"] == "http" else ""
        if not path.startswith(_MOUNT):
            return False
        is_read = path.endswith(f"/{_CARD}") and path != _PUBLIC
        return path not in self._known or (is_read and scope["method"] not in _READS)

    @staticmethod
    def _get_default_plugins(plugins: list[PluginProtocol]) -> list[PluginProtocol]:
        """No plugin for Pydantic, which would load `pydantic.v1`, and none for attrs."""
        return plugins

    @staticmethod
    def _patch_opentelemetry_middleware(config: AppConfig) -> AppConfig:
        """No middleware for OpenTelemetry. To look for it fails, again for each application."""
        return config


def _call_route(calls: CallTable) -> ASGIRouteHandler:
    async def serve_call(scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Serve a tool or an MCP endpoint."""
        await calls[scope["path"]](scope, receive, send)

    return _route([*calls], "calls", serve_call)


def _route(
    path: str | list[str], name: str, serve: Serve, *, is_mount: bool = False
) -> ASGIRouteHandler:
    return asgi(path, name=name, is_mount=is_mount, copy_scope=False)(serve)


def call_table(catalogue: Catalogue, rest: RestEndpoint, mcp: McpEndpoint) -> CallTable:
    """The tools of all contracts and imports, and the MCP endpoints."""
    operations = (entry.operation for entry in catalogue.entries)
    return {
        **{each.route: partial(rest.serve, each.id) for each in operations},
        **{f"/mcp/{name}": partial(mcp.serve, name) for name in catalogue.connectors},
        "/mcp": partial(mcp.serve, None),
    }


class HttpAppParts(Struct, frozen=True, kw_only=True):
    """What the HTTP application needs. The composition root builds it."""

    invoke: Invoke
    """`Pipeline.invoke`."""
    identification: Identification
    catalogue: Catalogue
    policy: Policy
    views: Views = NO_VIEWS
    check_readiness: CheckReadiness
    rules: EdgeRules
    version: str
    followers: Followers | None = None
    """Checks who may follow the events. None if the gateway publishes no events."""
    webhooks: WebhookEndpoint | None = None
    offered: OfferedAccess | None = None
    """What MCP clients are offered beside tools. None: nothing."""
    questions: OpenQuestions | None = None
    """What MCP clients are asked. None: this application has its own."""
    jobs: OwnedJobs | None = None
    """The jobs of callers. None if no call becomes a job."""
    operator: Router | None = None
    """The routes for operators."""
    has_aliases: bool = True
    """Whether to serve the routes that other systems use for the same functions too."""
    are_documents_public: bool = False
    """Whether all callers see all tools in the documents."""
    public_url: str | None = None
    """Where clients reach the gateway, for documents that name it."""


def build_http_app(parts: HttpAppParts) -> Edge:
    """The ASGI application. Its layers, from outside: edge, Litestar (CORS, routing), transport,
    pipeline."""
    limits = _body_limits(parts)
    own = parts.catalogue, parts.policy, parts.views, parts.jobs
    tools = Tools(parts.invoke, parts.identification, *own).offering(parts.offered)
    rest_parts = _rest_parts(parts, limits)
    rest = RestEndpoint(rest_parts)
    documents = _documents(parts)
    mcp = McpEndpoint(tools, parts.rules, parts.version, parts.followers, limits, parts.questions)

    @asynccontextmanager
    async def hold_open(_: Litestar) -> AsyncIterator[None]:
        async with mcp.run():
            yield

    application = Application(
        [
            _other_paths(rest, parts),
            *card_routes(documents, parts.version, parts.public_url),
            *(
                _alias_routes(ExecuteEndpoint(rest_parts, tools.names), mcp, parts.catalogue)
                if parts.has_aliases
                else []
            ),
            *_stream_routes(parts),
            *([parts.operator] if parts.operator else []),
            *page_routes(documents),
            *operations_routes(parts.check_readiness),
        ],
        call_table(parts.catalogue, rest, mcp),
        mcp.serve_unknown,
        lifespan=[hold_open],
        cors_config=cors_of(parts.rules),
    )
    return Edge(application, parts.rules)


def _body_limits(parts: HttpAppParts) -> dict[str, int]:
    rules = parts.rules
    return body_limits(parts.catalogue.entries, rules.max_body_bytes, rules.max_upload_bytes)


def _documents(parts: HttpAppParts) -> Documents:
    return Documents(
        catalogue=parts.catalogue,
        identification=parts.identification,
        invoke=parts.invoke,
        policy=parts.policy,
        is_public=parts.are_documents_public,
    )


def build_operator_app(routes: Router) -> App:
    """The operator's routes alone, for callers in the same process."""
    return Application([routes], {})


def _queries(catalogue: Catalogue) -> dict[str, Readings]:
    """How to read query parameters, for the operations that can be called by GET too."""
    return {
        entry.id: readings_of(entry.listing.input_schema)
        for entry in catalogue.entries
        if entry.operation.is_query
    }


def _rest_parts(parts: HttpAppParts, limits: Mapping[str, int]) -> RestParts:
    operations = [entry.operation for entry in parts.catalogue.entries]
    return RestParts(
        invoke=parts.invoke,
        identification=parts.identification,
        policy=parts.policy,
        queries=_queries(parts.catalogue),
        file_types={each.id: each.file_types for each in operations if each.file_types},
        with_blocks=frozenset(each.id for each in operations if each.has_blocks),
        text_members={each.id: each.text_member for each in operations if each.text_member},
        successors={
            route_of(gone): entry.operation for gone, entry in parts.catalogue.successors.items()
        },
        body_limits=limits,
        max_body_bytes=parts.rules.max_body_bytes,
    )


def _other_paths(rest: RestEndpoint, parts: HttpAppParts) -> ASGIRouteHandler:
    owned = parts.jobs
    operations = (each.operation for each in parts.catalogue.entries)
    with_blocks = frozenset(each.id for each in operations if each.has_blocks)
    known = parts.identification, parts.invoke, with_blocks
    jobs = None if owned is None else JobEndpoint(owned, *known)

    async def serve_other(scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Serve a path under `/v1` that is no tool's: jobs, and unknown tools."""
        is_job = jobs is not None and is_for_jobs(scope)
        await (jobs.serve if jobs and is_job else rest.serve_unknown)(scope, receive, send)

    return _route("/v1", "unknown_tool", serve_other, is_mount=True)


def _alias_routes(
    execute: ExecuteEndpoint, mcp: McpEndpoint, catalogue: Catalogue
) -> Iterator[ASGIRouteHandler | HTTPRouteHandler]:
    yield health_alias()
    yield _route(EXECUTE, "execute", execute.serve)
    if "info" not in catalogue.connectors:
        yield _route("/mcp/info", "mcp_info", mcp.serve_info)


def _stream_routes(parts: HttpAppParts) -> Iterator[ASGIRouteHandler]:
    if parts.followers is not None:
        yield _route("/events", "events", EventEndpoint(parts.followers).serve)
    if parts.webhooks is not None:
        yield webhook_route(parts.webhooks)


def _problem(request: _AnyRequest, error: Exception) -> Response[bytes]:
    """The problem answer for any exception that reaches Litestar."""
    known = _known(error)
    request_id = request_id_of(request.scope)  # type: ignore[arg-type]  # a TypedDict is a dict
    log_failure(known, request_id)
    status, fields, body = written(known, request_id)
    headers = {name.decode(): value.decode() for name, value in fields}
    return Response(body, status_code=status, headers=headers, media_type=PROBLEM_JSON.decode())


def _known(error: Exception) -> Exception:
    match error:
        case NotFoundException():
            return UnknownPath()
        case MethodNotAllowedException(headers=headers):
            allow = (headers or {}).get("allow", "GET")
            return MethodNotAllowed(allow=tuple(allow.split(", ")))
        case HTTPException(status_code=status) if status < 500:
            return MalformedRequest()
        case _:
            return error
