"""Decides what a principal may call, for all transports."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gateway.auth.principal import Grant, Principal
from gateway.catalogue import Catalogue, Entry, ToolListing
from gateway.catalogue.index import StoredListing
from gateway.contract.operation import Effect
from gateway.contract.policies.grants import (
    ArgumentGrant,
    Narrowing,
    Schema,
    excludes,
    one_of,
    without,
)
from gateway.errors import NotPermitted, UnknownOperation

_NONE: Final[Mapping[str, Schema]] = {}


class Policy:
    """Deny by default; grants come from `schemas/policies/`."""

    def __init__(
        self,
        grants: Mapping[str, frozenset[str]],
        conditions: Mapping[str, Sequence[ArgumentGrant]] = {},
    ) -> None:
        """`grants`: agent to the ids of the operations that it may call.

        `conditions`: those of them that it may call only with some arguments.
        """
        self._grants = grants
        self._conditions = {agent: _by_tool(each) for agent, each in conditions.items()}
        self._narrowings: dict[tuple[str, str], Narrowing | None] = {}
        self._narrowed: dict[tuple[str, str], Entry] = {}

    def authorize(self, principal: Principal, entry: Entry) -> Grant:
        """The grant to call. Raises `UnknownOperation`, as for a tool that does not exist."""
        if not self.allows(principal.agent, entry.id):
            raise UnknownOperation
        escalation = entry.operation.escalation
        may = escalation is None or self._allows_always(principal.agent, escalation.grant)
        return Grant(principal, entry, may)

    def authorize_arguments(
        self, grant: Grant, arguments: Mapping[str, Any], effect: Effect
    ) -> None:
        """Check what the call asks for: its arguments, and the effect that they give it.

        Raises `NotPermitted` if the caller lacks the grant that the contract requires for the
        effect, or if its grants of the tool do not include these arguments.
        """
        agent, entry = grant.principal.agent, grant.entry
        escalation = entry.operation.escalation
        if escalation is not None and effect is not entry.operation.effect:
            self._authorize_escalation(agent, escalation.when, escalation.grant)
        narrowing = self.narrowing(agent, entry)
        if narrowing is not None and (violations := narrowing.violations(arguments)):
            raise NotPermitted(narrowing.refusal(violations), violations)

    def _authorize_escalation(self, agent: str, when: str, grant: str) -> None:
        if not self._allows_always(agent, grant):
            raise NotPermitted(f"With {when}, this tool writes. This key may only use it to read.")

    def allows(self, agent: str, operation_id: str) -> bool:
        """Whether this agent has a grant for this operation, for some arguments at least."""
        return operation_id in self._grants.get(agent, frozenset())

    def narrowing(self, agent: str, entry: Entry) -> Narrowing | None:
        """What restricts the arguments of a tool that `agent` may call. None: nothing does."""
        key = agent, entry.id
        if key in self._narrowings:
            return self._narrowings[key]
        schemas = [*self._schemas(agent, entry)]
        found = self._narrowings[key] = Narrowing.of(schemas) if schemas else None
        return found

    def shown(self, agent: str, entry: Entry) -> Entry:
        """The entry as this agent may call it: with what its grants leave of the input schema."""
        narrowing = self.narrowing(agent, entry)
        if narrowing is None:
            return entry
        key = agent, entry.id
        found = self._narrowed.get(key)
        if found is None:
            found = self._narrowed[key] = _narrowed(entry, narrowing)
        return found

    def visible(self, principal: Principal, catalogue: Catalogue) -> Iterator[Entry]:
        """The entries that `authorize` would grant, in catalogue order, each as `shown`."""
        agent = principal.agent
        return (
            self.shown(agent, each) for each in catalogue.entries if self.allows(agent, each.id)
        )

    def _schemas(self, agent: str, entry: Entry) -> Iterator[Schema]:
        condition = self._conditions.get(agent, _NONE).get(entry.id)
        if condition is not None:
            yield condition
        escalation = entry.operation.escalation
        if escalation is not None and not self._allows_always(agent, escalation.grant):
            yield without(escalation.when)

    def _allows_always(self, agent: str, operation_id: str) -> bool:
        """Whether it may call the operation with any arguments: those of another tool are no
        arguments of this one, so no condition on them can be checked."""
        is_free = operation_id not in self._conditions.get(agent, _NONE)
        return is_free and self.allows(agent, operation_id)


def policy_of(catalogue: Catalogue) -> Policy:
    """What the policies of the project say."""
    return Policy(catalogue.grants, catalogue.conditions)


def _by_tool(grants: Sequence[ArgumentGrant]) -> dict[str, Schema]:
    """What the arguments of each tool must be valid under."""
    alternatives: dict[str, list[Schema]] = defaultdict(list)
    for grant in grants:
        for tool in grant.tools:
            alternatives[tool].append(grant.arguments)
    return {tool: one_of(each) for tool, each in alternatives.items()}


class NarrowedListing(Struct, frozen=True, eq=False):
    """The listing of an imported operation, narrowed each time that it is read."""

    whole: StoredListing
    narrowing: Narrowing

    @property
    def longest_text(self) -> int:
        """That of all arguments. It only bounds what is read."""
        return self.whole.longest_text

    def read(self) -> ToolListing:
        """The listing, with what the narrowing leaves of its input schema."""
        return _narrowed_listing(self.whole.read(), self.narrowing)

    def results(self) -> dict[str, Any]:
        """The schema of the results, which no grant changes."""
        return self.whole.results()


def _narrowed(entry: Entry, narrowing: Narrowing) -> Entry:
    """`entry`, listed with what `narrowing` leaves of its input schema.

    It has no escalation that no arguments can ask for.
    """
    listed, operation = entry.listed, entry.operation
    escalation = operation.escalation
    if escalation is not None and any(excludes(e, escalation.when) for e in narrowing.schemas):
        operation = replace(operation, escalation=None)
    if isinstance(listed, ToolListing):
        narrowed: ToolListing | NarrowedListing = _narrowed_listing(listed, narrowing)
    else:
        narrowed = NarrowedListing(listed, narrowing)
    return replace(entry, operation=operation, listed=narrowed)


def _narrowed_listing(listing: ToolListing, narrowing: Narrowing) -> ToolListing:
    return replace(listing, input_schema=narrowing.applied(listing.input_schema))
