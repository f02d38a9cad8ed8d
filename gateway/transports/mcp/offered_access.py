"""Who may read which resource and get which prompt, with the audit records of this."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import Struct

from gateway.audit.log import AuditLog, OpenRecord
from gateway.auth.authorize import Policy
from gateway.auth.principal import Identification
from gateway.calls.call import UNBOUNDED
from gateway.catalogue import Catalogue, Entry
from gateway.errors import UnknownOperation
from gateway.transports.mcp.caller import Caller, call_of, known


class OfferedAccess(Struct, frozen=True):
    """What the contracts offer beside tools, to whom, and where reading it is recorded."""

    catalogue: Catalogue
    policy: Policy
    identification: Identification
    audit: AuditLog

    def sees(self, caller: Caller, grant: str, connector: str) -> bool:
        """Whether something of `connector` that needs `grant` exists for `caller`.

        If the grant is a tool, it exists exactly when the tool does.
        """
        if "/" not in grant:
            return self.tool(caller, grant) is not None
        is_here = caller.connector in {None, connector}
        return is_here and self.policy.allows(caller.principal.agent, grant)

    def tool(self, caller: Caller, operation_id: str) -> Entry | None:
        """The entry of an operation that `caller` may call at its endpoint. None if it may not."""
        if not self.policy.allows(caller.principal.agent, operation_id):
            return None
        try:
            entry = self.catalogue.find(operation_id)
        except UnknownOperation:
            return None
        is_here = caller.connector in {None, entry.operation.connector}
        shown = self.policy.shown(caller.principal.agent, entry)
        return shown if is_here and not caller.lacks(entry) else None

    def tools(self, caller: Caller) -> list[Entry]:
        """The entries of all operations that `caller` may call at its endpoint, by id."""
        visible = self.policy.visible(caller.principal, self.catalogue)
        return [
            entry
            for entry in visible
            if caller.connector in {None, entry.operation.connector} and not caller.lacks(entry)
        ]

    @asynccontextmanager
    async def recorded(self, caller: Caller, operation_id: str) -> AsyncIterator[OpenRecord]:
        """Write one audit record, with the outcome of the block. Raises `Unauthenticated`.

        The block sets the `result` of the record if it removes hidden characters.

        The record has no URI and no arguments: they may be personal, and no contract marks them.
        """
        async with self.audit.open(call_of(caller, operation_id, b"", UNBOUNDED)) as record:
            principal = known(caller)
            if principal is None:
                principal = await self.identification.identify(caller.credentials)
            record.principal = principal
            yield record
