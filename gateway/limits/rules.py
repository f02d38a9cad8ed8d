"""The limits that apply to a call, from the contracts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from gateway.contract.operation import Operation
from gateway.contract.policies.limits import (
    NO_AGENT_LIMITS,
    NO_TOOL_LIMITS,
    AgentLimits,
    CallWindow,
    ToolLimits,
)
from gateway.store.usage import CounterId, Demand, LimitKind

_NAMES: Final[Mapping[int, str]] = {60: "minute", 3600: "hour", 86_400: "day", 604_800: "week"}
_DAY: Final = 86_400
_MARGIN_SECONDS: Final = 30
"""How much longer than the time limit of its call a lease lasts, so that it only ends by itself
when the process of the call has died."""
_CONCURRENT: Final = "concurrent"
_BUDGET: Final = "budget"


class LimitRule(Struct, frozen=True, kw_only=True):
    """One limit that applies to a call."""

    name: str
    """Its name for callers. It is unique among the limits of a call."""
    limit: str
    """Its name in the contract, such as `hour`."""
    kind: LimitKind
    max: int
    seconds: int
    """The length of the window, of the day, or of a lease."""
    units: int = 1
    operation: str = ""
    """The operation whose contract declares it. Empty: a limit of the agent."""

    @property
    def window_seconds(self) -> int | None:
        """None for a limit of calls at the same time."""
        return None if self.kind is LimitKind.LEASE else self.seconds

    @property
    def cost(self) -> int | None:
        """What a call takes of a budget. None: the limit is no budget."""
        return self.units if self.kind is LimitKind.DAY else None

    def demand(self, agent: str, subject: str) -> Demand:
        """What a call of this caller takes."""
        whose = subject if self.operation else ""
        return Demand(
            counter=CounterId(agent, self.limit, self.operation, whose).text,
            max=self.max,
            kind=self.kind,
            seconds=self.seconds,
            units=self.units,
        )


def rules_of(
    operation: Operation, also: Operation | None, agent: AgentLimits | None
) -> tuple[LimitRule, ...]:
    """The limits of a call of `operation`.

    `also`: the operation whose grant the call requires too, because its arguments make it a write.
    The call counts for both, and costs what the dearer one costs.
    """
    own = operation.limits or NO_TOOL_LIMITS
    other = also.limits if also is not None and also.limits is not None else NO_TOOL_LIMITS
    lease = round(operation.timeout_seconds) + _MARGIN_SECONDS
    found = [*_declared(own, "", lease, operation.id)]
    if also is not None:
        found += _declared(other, f"{also.id}-", lease, also.id)
    return (*found, *_of_agent(agent or NO_AGENT_LIMITS, max(own.cost, other.cost), lease))


def limit_names(limits: Sequence[CallWindow]) -> Iterator[tuple[str, CallWindow]]:
    """Each window with its name."""
    for each in limits:
        yield _NAMES.get(each.seconds, f"{each.seconds}s"), each


def declared_max(limits: ToolLimits | AgentLimits | None, name: str) -> int | None:
    """The limit with this name in a contract. None if it is not there any more."""
    if limits is None:
        return None
    if name == _CONCURRENT:
        return limits.concurrent
    if name == _BUDGET:
        return limits.budget if isinstance(limits, AgentLimits) else None
    return next((each.max for found, each in limit_names(limits.calls) if found == name), None)


def _of_agent(limits: AgentLimits, cost: int, lease: int) -> Iterator[LimitRule]:
    yield from _declared(limits, "agent-", lease)
    if limits.budget is not None:
        yield LimitRule(
            name=f"agent-{_BUDGET}",
            limit=_BUDGET,
            kind=LimitKind.DAY,
            max=limits.budget,
            seconds=_DAY,
            units=cost,
        )


def _declared(
    limits: ToolLimits | AgentLimits, prefix: str, lease: int, operation: str = ""
) -> Iterator[LimitRule]:
    """What tools and agents may both limit."""
    for name, window in limit_names(limits.calls):
        yield LimitRule(
            name=f"{prefix}{name}",
            limit=name,
            kind=LimitKind.WINDOW,
            max=window.max,
            seconds=window.seconds,
            operation=operation,
        )
    if limits.concurrent is not None:
        yield LimitRule(
            name=f"{prefix}{_CONCURRENT}",
            limit=_CONCURRENT,
            kind=LimitKind.LEASE,
            max=limits.concurrent,
            seconds=lease,
            operation=operation,
        )
