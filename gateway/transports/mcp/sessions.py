"""The SDK's server over HTTP, for requests that the fast path does not recognise.

Loading the SDK takes half a second. So only `endpoint` imports this module, in a thread, when a
request needs it.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from msgspec.structs import replace
from sse_starlette import sse
from sse_starlette.sse import AppStatus

from gateway.errors import MalformedRequest
from gateway.transports.events import Followers
from gateway.transports.http.heads import HostRules
from gateway.transports.mcp.caller import CALLER, Caller
from gateway.transports.mcp.loading import Sessions
from gateway.transports.mcp.requests import CallerOf, Context
from gateway.transports.mcp.server import (
    ShieldedCalls,
    build_server,
    profile_of_client,
)
from gateway.transports.mcp.subscriptions import DurableSubscriptions
from gateway.transports.mcp.tools import Tools


def open_sessions(
    tools: Tools, version: str, followers: Followers | None, hosts: HostRules, max_body_bytes: int
) -> Sessions:
    """The server. It serves requests inside the block of its `run()`."""
    _let_streams_end_by_themselves()
    shielded = ShieldedCalls()
    store = None if followers is None else followers.subscriptions
    kept = None if store is None else DurableSubscriptions(store)
    return _StoppingSessions(
        build_server(tools, _caller_of(tools), version, followers, shielded, kept=kept),
        shielded,
        stateless=True,
        security_settings=TransportSecuritySettings(
            allowed_hosts=hosts.host_patterns(),
            allowed_origins=hosts.origin_patterns(),
        ),
        # The edge has already checked the size, with the limit of each caller.
        max_request_body_size=max_body_bytes,
    )


class _StoppingSessions(StreamableHTTPSessionManager):
    """The SDK's sessions, whose end also cancels the calls that are shielded until then."""

    def __init__(self, server: Server[Any], shielded: ShieldedCalls, **options: Any) -> None:
        super().__init__(server, **options)
        self._shielded = shielded

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve until the block ends."""
        async with super().run():
            try:
                yield
            finally:
                self._shielded.expose()


def _let_streams_end_by_themselves() -> None:
    """Let the SDK's event streams go on after the signal to stop, until their calls are answered.

    The library remembers for the whole process that a server was asked to stop. This may have been
    an earlier server, so it is reset. Its watcher would look for that twice a second for ever, from
    the first stream on.
    """
    AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call]  # the library's gap
    AppStatus.should_exit = False
    sse._ensure_watcher_started_on_this_loop = _watch_nothing  # noqa: SLF001 - there is no option


def _watch_nothing() -> None:
    """Start no watcher."""


def _caller_of(tools: Tools) -> CallerOf:
    async def caller_of(ctx: Context) -> Caller:
        request = ctx.request
        if request is None or not isinstance(caller := request.scope.get(CALLER), Caller):
            raise MalformedRequest("The message did not come through the endpoint.")
        # In the handshake revisions, the session of the request says it.
        profile = profile_of_client(ctx)
        if profile is None:
            return caller
        return replace(caller, view=tools.view(caller.principal, profile))

    return caller_of
