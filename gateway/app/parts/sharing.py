"""Shares the breakers of live upstreams between the processes of one Redis."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from hashlib import sha256

from gateway.app.background import running
from gateway.app.parts.foundation import Foundation
from gateway.calls.guard.sharing import SharedBreakers
from gateway.calls.guard.upstream import UpstreamGuard
from gateway.calls.sending import UpstreamConnection
from gateway.settings import Secret, Settings
from gateway.store.breakers import BreakerBoard


async def share_breakers(
    settings: Settings, connections: Mapping[str, UpstreamConnection], foundation: Foundation
) -> None:
    """Do nothing without a Redis or without live upstreams. It connects in the background."""
    guards = [
        (_shared_name(connection, settings), connection.guard)
        for connection in connections.values()
        if isinstance(connection.guard, UpstreamGuard)
    ]
    if settings.redis_url is None or not guards or not settings.breaker_failures:
        return
    shared = await _shared(settings.redis_url, foundation)
    for name, guard in guards:
        guard.share(shared, name)


def _shared_name(connection: UpstreamConnection, settings: Settings) -> str:
    """A staging system and the real one must not be taken for each other."""
    upstream = connection.upstream
    base_url = settings.for_upstream(upstream).base_url or ""
    return f"{upstream.name}:{sha256(base_url.encode()).hexdigest()[:16]}"


async def _shared(url: Secret, foundation: Foundation) -> SharedBreakers:
    """The one of the process: generations share guards, and a refused reload closes nothing."""
    shared = foundation.shared_breakers.get(url.reveal())
    if shared is None:
        shared = SharedBreakers(_board(url, foundation.stack))
        foundation.shared_breakers[url.reveal()] = shared
        await foundation.stack.enter_async_context(running({"breakers": shared.work}))
    return shared


def _board(url: Secret, stack: AsyncExitStack) -> BreakerBoard:
    from gateway.store.redis_breakers import (  # noqa: PLC0415 - needs an optional package
        RedisBreakers,
    )

    board = RedisBreakers(url.reveal())
    stack.push_async_callback(board.close)
    return board
