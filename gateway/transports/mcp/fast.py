"""The fast path for `tools/call` and `tools/list`: the SDK's answers without the SDK's cost."""

import asyncio
from collections.abc import Coroutine
from functools import lru_cache
from typing import Any, Final, TypeVar

from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS
from msgspec import UNSET

from gateway.calls.call import CallBounds, Result
from gateway.catalogue import Entry
from gateway.transports.http.asgi import ClientGone, Receive
from gateway.transports.mcp.cancelling import CalledOff
from gateway.transports.mcp.recognise import Recognised, ToolsCall, ToolsList
from gateway.transports.mcp.results import (
    CANCELLED,
    ResultBytes,
    error_response,
    is_unknown_tool,
    response,
    unknown_tool,
)
from gateway.transports.mcp.tools import NO_ARGUMENTS, Caller, Tools

_T = TypeVar("_T")
_LISTS_KEPT: Final = 256


class FastPath:
    """Serves what `recognise` recognised."""

    def __init__(self, tools: Tools, results: ResultBytes) -> None:
        self._tools = tools
        self._results = results
        self._listing = lru_cache(maxsize=_LISTS_KEPT)(results.listing)

    async def answer(
        self, request: Recognised, caller: Caller, receive: Receive
    ) -> tuple[int, bytes]:
        """The HTTP status and body. Raises `ClientGone` when the client cancelled by leaving."""
        match request.message:
            case ToolsList(id=message_id):
                entries: tuple[Entry, ...] = self._tools.visible(caller)
                listed = self._listing(entries, caller.connector, request.version)
                return 200, response(message_id, listed)
            case ToolsCall() as message:
                work = self._call(message, caller, request.bounds, is_modern=request.is_modern)
                # In the handshake eras a client may leave and the call goes on.
                return await (while_connected(work, receive) if request.is_modern else work)

    async def _call(
        self, message: ToolsCall, caller: Caller, bounds: CallBounds, *, is_modern: bool
    ) -> tuple[int, bytes]:
        name, raw = message.params.name, message.params.arguments
        arguments = NO_ARGUMENTS if raw is UNSET else bytes(raw)
        try:
            outcome = await self._tools.call(caller, name, arguments, message.id, bounds)
        except CalledOff:
            return 200, error_response(message.id, CANCELLED)
        if isinstance(outcome, Result):
            return 200, response(message.id, self._results.success(outcome, is_modern=is_modern))
        if is_unknown_tool(outcome):
            error = unknown_tool(name, outcome)
            status = ERROR_CODE_HTTP_STATUS[error.code] if is_modern else 200
            return status, error_response(message.id, error)
        return 200, response(message.id, self._results.failure(outcome, is_modern=is_modern))


async def while_connected(work: Coroutine[Any, Any, _T], receive: Receive) -> _T:
    """Await `work`; when the client leaves first, cancel it and raise `ClientGone`."""
    watch = _Watch(receive)
    try:
        return await work
    except asyncio.CancelledError:
        if watch.has_cancelled():
            raise ClientGone from None
        raise
    finally:
        watch.end()


class _Watch:
    """Cancels the current task when its client leaves.

    Watching begins when the task first waits: work that never waits costs no second task.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._worker = asyncio.current_task()
        self._watcher: asyncio.Task[None] | None = None
        self._start = asyncio.get_running_loop().call_soon(self._begin)
        self._is_over = False
        self._has_cancelled = False

    def has_cancelled(self) -> bool:
        """Whether this watch, and nobody else, cancelled the task; asking takes it back."""
        if self._worker is None or not self._has_cancelled:
            return False
        return self._worker.uncancel() == 0

    def end(self) -> None:
        """Watch no longer."""
        self._is_over = True
        self._start.cancel()
        if self._watcher is not None:
            self._watcher.cancel()

    def _begin(self) -> None:
        self._watcher = asyncio.create_task(_disconnected(self._receive))
        self._watcher.add_done_callback(self._leave)

    def _leave(self, watcher: asyncio.Task[None]) -> None:
        if self._worker is not None and not self._is_over and not watcher.cancelled():
            self._has_cancelled = self._worker.cancel()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
