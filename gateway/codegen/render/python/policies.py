"""Renders the table of agents: grants, views and limits."""

from collections.abc import Sequence

import msgspec

from gateway.codegen.ir import Contracts
from gateway.codegen.render.artifact import Artifact, docstring, joint_source, python, quoted
from gateway.codegen.render.python.limits import limit_records, limits_text
from gateway.contract.agent_view import AgentView
from gateway.contract.policies.limits import AgentLimits


def policies(contracts: Contracts) -> Artifact:
    """`policies.py`: the grants of agents, how they see their tools, and their limits."""
    grants, views = contracts.policies.grants, contracts.policies.views
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
            *(_grant(agent, ids) for agent, ids in grants.items()),
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


def _grant(agent: str, ids: Sequence[str]) -> str:
    members = "".join(f"                {quoted(id_)},\n" for id_ in ids)
    return f"        {quoted(agent)}: frozenset((\n{members}        )),"


def _view(view: AgentView) -> str:
    said = {name: each for name, each in msgspec.structs.asdict(view).items() if each is not None}
    facts = (
        f"{name}={quoted(value) if isinstance(value, str) else value}"
        for name, value in said.items()
    )
    return f"AgentView({', '.join(facts)})"
