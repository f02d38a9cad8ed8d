"""What a call reports to its client while it runs: its progress and messages, as far as it asks.

Since 2026-07-28, each request says which messages it asks for. In the handshake revisions a client
says it once, by `logging/setLevel`. Over HTTP this is kept under the key and the session of the
client, in this process, as the calls are that a client can cancel.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, get_args

from gateway.catalogue import Catalogue
from gateway.contract.agent_view import CALLING_TOOLS
from gateway.contract.context import LogLevel
from gateway.publication.view import ShownNames
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.protocol import LOG_LEVEL

LEVELS: Final[tuple[str, ...]] = get_args(LogLevel)
MAX_SESSIONS: Final = 256
"""The most sessions of one key whose levels are kept. The one that was set first is forgotten."""


class LogLevels:
    """The levels that clients of the handshake revisions have set."""

    def __init__(self) -> None:
        self._levels: dict[str, dict[str, LogLevel]] = {}
        """By key, then by session. There are no more keys than the operator has made."""

    def set(self, caller: Caller, level: LogLevel) -> bool:
        """Keep the level for the later calls of this client. False if it has no session."""
        session = _session(caller)
        if session is None:
            return False
        own = self._levels.setdefault(caller.principal.subject, {})
        own.pop(session, None)
        if len(own) >= MAX_SESSIONS:
            del own[next(iter(own))]
        own[session] = level
        return True

    def of(self, caller: Caller, meta: Mapping[str, Any] | None) -> LogLevel | None:
        """The least level that a call asks for, whose `_meta` is `meta`. None: no messages."""
        asked = (meta or {}).get(LOG_LEVEL)
        if asked in LEVELS:
            return asked  # type: ignore[no-any-return]  # it is one of the literals
        session = _session(caller)
        return self._levels.get(caller.principal.subject, {}).get(session or "")


def is_at_least(level: LogLevel, least: LogLevel) -> bool:
    """Whether a message of `level` is as severe as `least`."""
    return LEVELS.index(level) >= LEVELS.index(least)


def _session(caller: Caller) -> str | None:
    """A process on stdio has one client."""
    return "stdio" if caller.transport == "stdio" else caller.session


MAX_MESSAGES: Final = 100
"""The most messages of one call. The last of them says that there were more."""
SendLog = Callable[[LogLevel, str], Awaitable[None]]


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

    async def __aexit__(self, _: object, error: BaseException | None, trace: object) -> None:
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


_log: Final = logging.getLogger(__name__)
PAUSE_SECONDS: Final = 0.5
"""The time between two notifications of one call."""

SendProgress = Callable[[float, str, float | None], Awaitable[None]]
"""Sends one notification: how far the call is, what this number counts, and its last value."""


class ProgressReports:
    """Sends how far one call is, inside its `async with` block and not after it.

    The numbers that are sent grow. Between two notifications only the newest number is kept.
    """

    def __init__(self, send: SendProgress, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._send = send
        self._pause_seconds = pause_seconds
        self._latest = self._sent = -1.0
        self._message = ""
        self._total: float | None = None
        self._has_changed = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()

    def report(self, done: float, message: str, total: float | None = None, /) -> None:
        """See `ReportProgress`."""
        if done > self._latest:
            self._latest, self._message, self._total = done, message, total
            self._has_changed.set()

    async def __aenter__(self) -> "ProgressReports":
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, _: object, error: BaseException | None, trace: object) -> None:
        try:
            if error is None:
                # Not the task: it would be cancelled inside of a notification.
                await self._send_latest()
        finally:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        while True:
            await self._has_changed.wait()
            self._has_changed.clear()
            await self._send_latest()
            await asyncio.sleep(self._pause_seconds)

    async def _send_latest(self) -> None:
        async with self._one_at_a_time:
            if self._latest > self._sent:
                self._sent = self._latest
                try:
                    await self._send(self._latest, self._message, self._total)
                except Exception as error:  # noqa: BLE001 - whatever it is, the call has its result
                    _log.debug("the progress of a call could not be sent", exc_info=error)


class CallReporting:
    """Which calls report something, and what their clients ask to hear."""

    def __init__(self, catalogue: Catalogue, names: ShownNames) -> None:
        self._names = names
        operations = [each.operation for each in catalogue.entries]
        self._has_progress = any(each.reports_progress for each in operations)
        self._has_questions = any(each.asks for each in operations)
        self.has_logs = any(each.writes_log for each in operations)
        """Whether some calls may say something to their clients."""
        self.levels = LogLevels()

    def has_progress(self, name: str, connector: str | None) -> bool:
        """Whether a call of the tool `name` may report its progress."""
        if name in CALLING_TOOLS:
            return self._has_progress
        entry = self._names.entry(name, connector) if self._has_progress else None
        return entry is not None and entry.operation.reports_progress

    def may_ask(self, caller: Caller, name: str) -> bool:
        """Whether a call of the tool `name` may ask its client while that waits."""
        if not self._has_questions or not caller.declared:
            return False
        entry = self._names.entry(name, caller.connector)
        return name in CALLING_TOOLS or (entry is not None and bool(entry.operation.asks))

    def log_level(self, caller: Caller, name: str, meta: Any = None) -> LogLevel | None:
        """The least level of the messages that a call of the tool `name` shall send its client.

        None if it asks for none, or if the tool has none. `meta` is the `_meta` of the call, in the
        revisions where it says the level.
        """
        level = self.levels.of(caller, meta) if self.has_logs else None
        if level is None or name in CALLING_TOOLS:
            return level
        entry = self._names.entry(name, caller.connector)
        return level if entry is not None and entry.operation.writes_log else None
