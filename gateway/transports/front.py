"""Brings calls to their transport without a router: they have exact paths and are the most."""

from collections.abc import Awaitable, Iterable, Mapping
from functools import partial

from litestar.handlers import ASGIRouteHandler

from gateway.catalogue import Catalogue
from gateway.transports.http.asgi import App, Receive, Scope, Send, header_values
from gateway.transports.mcp.endpoint import McpEndpoint
from gateway.transports.rest import RestEndpoint


class Front:
    """An ASGI application in front of a router.

    A `POST` to one of the paths of calls is served as the router's own route for it would do. All
    other requests go to the router: other methods, other spellings of a path, and requests of pages
    if pages of other origins may call, since the router adds their headers.
    """

    def __init__(self, router: App, calls: Mapping[str, App], *, has_origins: bool) -> None:
        """`calls` by path. `has_origins`: whether pages of other origins may call."""
        self._router = router
        self._calls = calls
        self._has_origins = has_origins

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one ASGI connection."""
        serve = self._router
        if scope["type"] == "http" and scope["method"] == "POST":
            serve = self._calls.get(scope["path"], serve)
            if self._has_origins and header_values(scope, b"origin"):
                serve = self._router
        return serve(scope, receive, send)


def calls_of(
    catalogue: Catalogue, routes: Iterable[ASGIRouteHandler], rest: RestEndpoint, mcp: McpEndpoint
) -> dict[str, App]:
    """What serves a `POST`, by path: as the `routes` of tools and of MCP endpoints do."""
    routed = {path for route in routes for path in route.paths}
    operations = (entry.operation for entry in catalogue.entries)
    tools = {
        each.route: partial(rest.serve, each.id) for each in operations if each.route in routed
    }
    servers = {f"/mcp/{name}": partial(mcp.serve, name) for name in catalogue.connectors}
    return {**tools, **servers, "/mcp": partial(mcp.serve, None)}
