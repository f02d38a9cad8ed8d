"""Limits of calls, as contracts of tools and policies declare them."""

from msgspec import Struct


class CallWindow(Struct, frozen=True, kw_only=True):
    """At most `max` calls in any `seconds`."""

    max: int
    seconds: int


class ToolLimits(Struct, frozen=True, kw_only=True):
    """The limits of one tool. They apply to each caller by itself."""

    calls: tuple[CallWindow, ...] = ()
    concurrent: int | None = None
    """The most calls at the same time."""
    cost: int = 1
    """What a call takes of its agent's budget."""


class AgentLimits(Struct, frozen=True, kw_only=True):
    """The limits of one agent. They apply to all of its keys and tools together."""

    calls: tuple[CallWindow, ...] = ()
    concurrent: int | None = None
    """The most calls at the same time."""
    budget: int | None = None
    """The most that its calls of one day (UTC) may cost."""


NO_TOOL_LIMITS = ToolLimits()
NO_AGENT_LIMITS = AgentLimits()
