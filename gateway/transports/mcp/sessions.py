"""The SDK's server over HTTP, for what the fast path does not recognise.

Loading the SDK takes half a second, so only `endpoint` imports this module, when a
request needs it, and in a thread.
"""

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from sse_starlette.sse import AppStatus

from gateway.errors import MalformedRequest
from gateway.transports.following import Followers
from gateway.transports.http.hosts import HostRules
from gateway.transports.mcp.loading import Sessions
from gateway.transports.mcp.server import Context, build_server
from gateway.transports.mcp.tools import CALLER, Caller, Tools


def open_sessions(
    tools: Tools, version: str, followers: Followers | None, hosts: HostRules, max_body_bytes: int
) -> Sessions:
    """What serves requests while its `run()` is entered."""
    _let_streams_end_by_themselves()
    return StreamableHTTPSessionManager(
        build_server(tools, _caller_of, version, followers),
        stateless=True,
        security_settings=TransportSecuritySettings(
            allowed_hosts=hosts.host_patterns(),
            allowed_origins=hosts.origin_patterns(),
        ),
        # The edge has made sure of it, for each caller.
        max_request_body_size=max_body_bytes,
    )


def _let_streams_end_by_themselves() -> None:
    """Keep the SDK's event streams from ending, their calls unanswered, with the signal to stop.

    The library remembers for the whole process that any server in it was asked to stop: also one
    before this.
    """
    AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call]  # the library's gap
    AppStatus.should_exit = False


async def _caller_of(ctx: Context) -> Caller:
    request = ctx.request
    if request is None or not isinstance(caller := request.scope.get(CALLER), Caller):
        raise MalformedRequest("The message did not come through the endpoint.")
    return caller
