"""Which messages about calls a client asks for.

Since 2026-07-28, each request says it. In the handshake revisions a client says it once, by
`logging/setLevel`. Over HTTP this is kept under the key and the session of the client, in this
process, as the calls are that a client can cancel.
"""

from collections.abc import Mapping
from typing import Any, Final, get_args

from gateway.contract.context import LogLevel
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
