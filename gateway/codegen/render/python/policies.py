"""Renders the table of agents: grants, views and limits."""

from collections.abc import Iterable

import msgspec

from gateway.codegen.ir import Contracts
from gateway.codegen.render.artifact import (
    Artifact,
    docstring,
    document,
    joint_source,
    python,
    quoted,
)
from gateway.contract.agent_view import AgentView
from gateway.contract.policies.limits import AgentLimits, CallWindow, ToolLimits
from gateway.contracts.policies import Granted


def policies(contracts: Contracts) -> Artifact:
    """`policies.py`: the grants of agents, how they see their tools, and their limits.

    Grants that hold for some arguments only are in `grants.json`.
    """
    granted, views = contracts.policies.granted, contracts.policies.views
    limits = contracts.policies.limits
    effects = (f"{tool.id} {tool.effect}" for tool in contracts.tools)
    source = contracts.policies.source
    records = sorted({AgentLimits.__name__, *limit_records(limits.values())})
    body = "\n".join(
        (
            docstring("Which agent may call which operations, how it sees its tools, its limits."),
            "",
            "from collections.abc import Mapping",
            "from types import MappingProxyType",
            "from typing import Final",
            "",
            "from gateway.contract.agent_view import AgentView",
            f"from gateway.contract.policies.limits import {', '.join(records)}",
            "",
            "GRANTS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(",
            "    {",
            *(_grant(agent, each) for agent, each in granted.items()),
            "    }",
            ")",
            "VIEWS: Final[Mapping[str, AgentView]] = MappingProxyType(",
            "    {",
            *(f"        {quoted(agent)}: {_view(view)}," for agent, view in views.items()),
            "    }",
            ")",
            "LIMITS: Final[Mapping[str, AgentLimits]] = MappingProxyType(",
            "    {",
            *(f"        {quoted(agent)}: {limits_text(each)}," for agent, each in limits.items()),
            "    }",
            ")",
            "",
        )
    )
    return python("policies.py", joint_source(str(source.path), [source], *effects), body)


def grants_json(contracts: Contracts) -> Artifact:
    """`grants.json`: the grants that hold for some arguments only, by agent."""
    found = {
        agent: [
            {"place": grant.place, "tools": sorted(grant.tools), "arguments": grant.arguments}
            for grant in each.conditions
        ]
        for agent, each in contracts.policies.granted.items()
        if each.conditions
    }
    return document("grants.json", found)


def _grant(agent: str, granted: Granted) -> str:
    ids = sorted({*granted.ids} - granted.conditional)
    members = "".join(f"                {quoted(id_)},\n" for id_ in ids)
    return f"        {quoted(agent)}: frozenset((\n{members}        )),"


def _view(view: AgentView) -> str:
    said = {name: each for name, each in msgspec.structs.asdict(view).items() if each is not None}
    facts = (
        f"{name}={quoted(value) if isinstance(value, str) else value}"
        for name, value in said.items()
    )
    return f"AgentView({', '.join(facts)})"


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
