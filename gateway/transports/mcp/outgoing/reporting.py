"""What a call reports to its client while it runs: how far it is, and messages for a log."""

from typing import Any

from gateway.catalogue import Catalogue
from gateway.contract.agent_view import CALLING_TOOLS
from gateway.contract.context import LogLevel
from gateway.publication.names import ShownNames
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.outgoing.log_levels import LogLevels


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
