"""Decides what a principal may call, for all transports."""

from collections.abc import Iterator, Mapping

from gateway.auth.principal import Grant, Permit, Principal
from gateway.catalogue import Catalogue, Entry
from gateway.contract.operation import Effect
from gateway.errors import NotPermitted, UnknownOperation


class Policy:
    """Deny by default; grants come from `schemas/policies/`, by exact operation id."""

    def __init__(self, grants: Mapping[str, frozenset[str]]) -> None:
        self._grants = grants

    def authorize(self, principal: Principal, entry: Entry) -> Grant:
        """The grant to call. Raises `UnknownOperation`, as for a tool that does not exist."""
        if not self.allows(principal.agent, entry.id):
            raise UnknownOperation
        return Grant(principal, entry)

    def authorize_effect(self, permit: Permit, effect: Effect) -> None:
        """Check the effect of the call's arguments, which may turn a read into a write.

        Raises `NotPermitted` if the caller lacks the grant that the contract requires for this.
        """
        escalation = permit.entry.operation.escalation
        if escalation is None or effect is permit.entry.operation.effect:
            return
        if not self.allows(permit.grant.principal.agent, escalation.grant):
            raise NotPermitted(
                f"With {escalation.when}, this tool writes. This key may only use it to read."
            )

    def allows(self, agent: str, operation_id: str) -> bool:
        """Whether this agent has a grant for this operation."""
        return operation_id in self._grants.get(agent, frozenset())

    def visible(self, principal: Principal, catalogue: Catalogue) -> Iterator[Entry]:
        """The entries that `authorize` would grant, in catalogue order."""
        return (entry for entry in catalogue.entries if self.allows(principal.agent, entry.id))
