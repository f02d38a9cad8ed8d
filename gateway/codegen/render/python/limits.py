"""Renders the limits of tools and agents."""

from collections.abc import Iterable

import msgspec

from gateway.contract.policies.limits import AgentLimits, CallWindow, ToolLimits


def limits_text(limits: ToolLimits | AgentLimits) -> str:
    """The record as Python text. Members with their default are left out."""
    default = type(limits)()
    facts = [
        f"{name}={_windows(limits.calls) if name == 'calls' else repr(value)}"
        for name, value in msgspec.structs.asdict(limits).items()
        if value != getattr(default, name)
    ]
    return f"{type(limits).__name__}({', '.join(facts)})"


def limit_records(limits: Iterable[ToolLimits | AgentLimits | None]) -> list[str]:
    """The names of the classes that the texts of `limits` use."""
    found = [each for each in limits if each is not None]
    windows = {CallWindow.__name__} if any(each.calls for each in found) else set()
    return sorted(windows | {type(each).__name__ for each in found})


def _windows(windows: tuple[CallWindow, ...]) -> str:
    texts = (f"CallWindow(max={each.max}, seconds={each.seconds})" for each in windows)
    return f"({', '.join(texts)},)"
