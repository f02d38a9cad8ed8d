"""Converts the limits of tools and agents."""

from collections.abc import Mapping
from typing import Any

from gateway.contract.policies.limits import AgentLimits, CallWindow, ToolLimits


def tool_limits(facts: Mapping[str, Any] | None) -> ToolLimits | None:
    """The limits of a tool. None: its contract declares none."""
    if facts is None:
        return None
    return ToolLimits(
        calls=_windows(facts), concurrent=facts.get("concurrent"), cost=facts.get("cost", 1)
    )


def agent_limits(agents: Mapping[str, Any]) -> dict[str, AgentLimits]:
    """The limits of the agents that have some, sorted."""
    return {
        agent: AgentLimits(
            calls=_windows(facts["limits"]),
            concurrent=facts["limits"].get("concurrent"),
            budget=facts["limits"].get("budget"),
        )
        for agent, facts in sorted(agents.items())
        if "limits" in facts
    }


def _windows(facts: Mapping[str, Any]) -> tuple[CallWindow, ...]:
    return tuple(
        CallWindow(max=each["max"], seconds=each["seconds"]) for each in facts.get("calls", ())
    )
