"""`resources/subscribe` and `resources/unsubscribe`, in the handshake revisions."""

from typing import Any, Protocol

from mcp.server import Server
from mcp_types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

from gateway.errors import LimitExceeded
from gateway.store.publishing import MAX_URIS
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.errors import resource
from gateway.transports.mcp.offered.resources import OfferedResources
from gateway.transports.mcp.task_methods import CallerOf, Context, answering


class Subscribing(Protocol):
    """The subscriptions of the clients of one transport."""

    lists_change: bool
    """Whether these clients are also notified of changes of lists."""

    def require_session(self, caller: Caller) -> None:
        """Raise `MCPError` for a client that cannot subscribe, because nothing names it."""
        ...

    async def add(self, ctx: Context, caller: Caller, uri: str) -> None:
        """Notify the client of changes of `uri` from now on. Raises `LimitExceeded`."""
        ...

    async def remove(self, caller: Caller, uri: str) -> None:
        """Notify it no more. Does nothing if it has not subscribed to `uri`."""
        ...


def full() -> LimitExceeded:
    """The error of a client that has as many subscriptions as one may have."""
    detail = f"This session has {MAX_URIS} subscriptions: unsubscribe from one of them first."
    return LimitExceeded(detail)


def add_subscribing(
    server: Server[Any], resources: OfferedResources, caller_of: CallerOf, kept: Subscribing
) -> None:
    """Add both methods to `server`."""

    async def subscribe(ctx: Context, params: SubscribeRequestParams) -> EmptyResult:
        caller = await caller_of(ctx)
        kept.require_session(caller)
        async with resources.subscribing(caller, params.uri):
            await kept.add(ctx, caller, params.uri)
        return EmptyResult()

    async def unsubscribe(ctx: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        caller = await caller_of(ctx)
        kept.require_session(caller)
        async with answering(caller, resource(params.uri)):
            await kept.remove(caller, params.uri)
        return EmptyResult()

    server.add_request_handler("resources/subscribe", SubscribeRequestParams, subscribe)
    server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, unsubscribe)
