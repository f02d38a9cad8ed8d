"""Sends what a call says to its client, as `notifications/message` before the answer."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Final

from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_REQUEST,
    EmptyResult,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    SetLevelRequestParams,
)

from gateway.contract.context import LogLevel
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.outgoing.log_levels import LogLevels, is_at_least

MAX_MESSAGES: Final = 100
"""The most messages of one call. The last of them says that there were more."""
SendLog = Callable[[LogLevel, str], Awaitable[None]]
_Context = ServerRequestContext[Any, Any]


class LogMessages:
    """Sends the messages of one call that are as severe as `least`, inside its `async with` block.

    All messages that the block has written are sent before it ends, and none after it.
    """

    def __init__(self, send: SendLog, least: LogLevel) -> None:
        self._send = send
        self._least = least
        self._count = 0
        self._waiting: asyncio.Queue[tuple[LogLevel, str] | None] = asyncio.Queue()

    def write(self, level: LogLevel, text: str) -> None:
        """See `WriteLog`."""
        if not is_at_least(level, self._least) or self._count >= MAX_MESSAGES:
            return
        self._count += 1
        if self._count == MAX_MESSAGES:
            level, text = "warning", f"The call has more than {MAX_MESSAGES - 1} messages."
        self._waiting.put_nowait((level, text))

    async def __aenter__(self) -> "LogMessages":
        self._task = asyncio.create_task(self._run(), name="call-messages")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._count = MAX_MESSAGES
        if error is None:
            self._waiting.put_nowait(None)
        else:
            self._task.cancel()
        await asyncio.wait([self._task])

    async def _run(self) -> None:
        while (message := await self._waiting.get()) is not None:
            try:
                await self._send(*message)
            except Exception:  # noqa: BLE001 - the client has gone, and the call goes on without it
                return


def log_messages(ctx: _Context, tool: str, least: LogLevel) -> LogMessages:
    """The messages of the request of `ctx`, which calls `tool`."""

    async def send(level: LogLevel, text: str) -> None:
        params = LoggingMessageNotificationParams(level=level, logger=tool, data=text)
        await ctx.session.send_notification(
            LoggingMessageNotification(params=params), related_request_id=ctx.request_id
        )

    return LogMessages(send, least)


def add_logging(
    server: Server[Any], levels: LogLevels, caller_of: Callable[[_Context], Awaitable[Caller]]
) -> None:
    """Let clients of the handshake revisions set the level of what they are sent."""

    async def set_level(ctx: _Context, params: SetLevelRequestParams) -> EmptyResult:
        if not levels.set(await caller_of(ctx), params.level):
            raise MCPError(INVALID_REQUEST, "The level needs the Mcp-Session-Id of `initialize`")
        return EmptyResult()

    server.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)
