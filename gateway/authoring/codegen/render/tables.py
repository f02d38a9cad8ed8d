"""Renders the tables of the run time: operations, MCP tools, agents, limits and routes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from gateway.authoring.codegen.ir import Contracts, ContractSource, ToolContract
from gateway.authoring.codegen.render.artifact import (
    Artifact,
    docstring,
    document,
    joint_source,
    literal,
    python,
    quoted,
)
from gateway.authoring.contracts.names import identifier
from gateway.authoring.contracts.policies import Granted
from gateway.contract.agent_view import AgentView
from gateway.contract.operation import Attempts, DeclaredError, Deprecation, Escalation
from gateway.contract.policies.limits import AgentLimits, CallWindow, ToolLimits

# Renders the limits of tools and agents.


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


# Renders the tables of the run time: operations and MCP tools.

_FIELD: Final = 8
"""The indentation of the fields of a table's entries."""
_USED: Final = frozenset({"tuple"})
"""Names that the modules use themselves and that a tool or a connector may also have."""


def operations(connector: str, tools: Sequence[ToolContract], package: str) -> Artifact:
    """`operations/<connector>.py`: the operations of one connector."""
    modules = _imported(tool.tool for tool in tools)
    body = "\n".join(
        (
            docstring(f"The operations of {connector}."),
            "",
            "from typing import Final",
            "",
            *_limits_import(tools),
            f"from gateway.contract.operation import {', '.join(_records(tools))}",
            f"from {package}.bindings.{connector} import ({modules})",
            "",
            "OPERATIONS: Final[tuple[Operation, ...]] = (",
            *(_operation(tool) for tool in tools),
            ")",
            "",
        )
    )
    return python(f"operations/{connector}.py", _tools_of(connector, tools), body)


def registrations(connector: str, tools: Sequence[ToolContract]) -> Artifact:
    """`tools/<connector>.py`: the MCP tools of one connector."""
    body = "\n".join(
        (
            docstring(f"The MCP tools of {connector}."),
            "",
            "from typing import Final",
            "",
            "from gateway.contract.operation import Tool",
            "",
            "TOOLS: Final[tuple[Tool, ...]] = (",
            *(_registration(tool) for tool in tools),
            ")",
            "",
        )
    )
    return python(f"tools/{connector}.py", _tools_of(connector, tools), body)


def joined(folder: str, name: str, kind: str, connectors: Sequence[str], package: str) -> Artifact:
    """`<folder>/__init__.py`: the tables of all connectors, joined."""
    modules = [identifier(connector, taken=_USED) for connector in connectors]
    imports = [f"from {package}.{folder} import ({_imported(connectors)})"] if modules else []
    body = "\n".join(
        (
            docstring(f"The {folder} of every connector."),
            "",
            "from typing import Final",
            "",
            f"from gateway.contract.operation import {kind}",
            *imports,
            "",
            f"{name}: Final[tuple[{kind}, ...]] = (",
            *(f"    *{module}.{name}," for module in modules),
            ")",
            "",
        )
    )
    return python(f"{folder}/__init__.py", joint_source("openapi.yaml", (), *connectors), body)


def package_marker(folder: str, text: str, names: Iterable[str] = ()) -> Artifact:
    """An `__init__.py` with only a docstring."""
    path = f"{folder}/__init__.py" if folder else "__init__.py"
    source = joint_source("openapi.yaml", (), *names)
    return python(path, source, f"{docstring(text)}\n")


def _imported(modules: Iterable[str]) -> str:
    """The names of an import statement. A name that the importing module uses gets an alias."""
    names = ((module, identifier(module, taken=_USED)) for module in modules)
    return ", ".join(name if name == alias else f"{name} as {alias}" for name, alias in names)


def _tools_of(connector: str, tools: Iterable[ToolContract]) -> ContractSource:
    return joint_source(f"tools/{connector}/*.yaml", (tool.source for tool in tools))


def _operation(tool: ToolContract) -> str:
    fields = {
        "id": quoted(tool.id),
        "connector": quoted(tool.connector),
        "title": _field("title", tool.title),
        "description": _field("description", tool.description),
        "effect": f"Effect.{tool.effect.name}",
        "timeout_seconds": repr(tool.timeout_seconds),
        "errors": _tuple(_declared(error) for error in tool.errors),
        "binding": f"{identifier(tool.tool, taken=_USED)}.BINDING",
        "attempts": _attempts(tool.attempts) if tool.attempts != Attempts() else "",
        "cache_seconds": repr(tool.cache_seconds) if tool.cache_seconds else "",
        "stale_seconds": repr(tool.stale_seconds) if tool.stale_seconds else "",
        "is_cache_public": "True" if tool.is_cache_public else "",
        "escalation": _escalation(tool.escalation) if tool.escalation else "",
        "limits": limits_text(tool.limits) if tool.limits else "",
        "task": quoted(tool.task) if tool.task != "never" else "",
        "selects_fields": "True" if tool.selects_fields else "",
        "file_types": _tuple(quoted(each) for each in tool.file_types) if tool.file_types else "",
        "text_member": quoted(tool.text_member) if tool.text_member else "",
        "has_blocks": "True" if tool.has_blocks else "",
        "is_query": "True" if tool.is_query else "",
        "sensitive": _tuple(quoted(each) for each in tool.sensitive) if tool.sensitive else "",
        "route": quoted(tool.route),
        "deprecation": _deprecation(tool.deprecation) if tool.deprecation else "",
        "replaces": _tuple(quoted(each) for each in tool.replaces) if tool.replaces else "",
    }
    return _entry("Operation", {name: text for name, text in fields.items() if text})


def _records(tools: Iterable[ToolContract]) -> list[str]:
    """The classes that the table uses."""
    used = {"DeclaredError", "Effect", "Operation"}
    for tool in tools:
        if tool.attempts != Attempts():
            used.add("Attempts")
        if tool.escalation is not None:
            used.add("Escalation")
        if tool.deprecation is not None:
            used.add("Deprecation")
    return sorted(used)


def _limits_import(tools: Iterable[ToolContract]) -> list[str]:
    names = limit_records(tool.limits for tool in tools)
    return [f"from gateway.contract.policies.limits import {', '.join(names)}"] if names else []


def _attempts(rule: Attempts) -> str:
    default = Attempts()
    facts = [
        f"{name}={value!r}"
        for name, value in msgspec.structs.asdict(rule).items()
        if value != getattr(default, name)
    ]
    return f"Attempts({', '.join(facts)})"


def _escalation(rule: Escalation) -> str:
    facts = [f"when={quoted(rule.when)}", f"grant={quoted(rule.grant)}"]
    if rule.requires:
        facts.append(f"requires={rule.requires!r}")
    return f"Escalation({', '.join(facts)})"


def _deprecation(facts: Deprecation) -> str:
    given = msgspec.structs.asdict(facts).items()
    return f"Deprecation({', '.join(f'{n}={quoted(v)}' for n, v in given if v is not None)})"


def _field(name: str, text: str) -> str:
    return literal(text, column=_FIELD + len(name) + 1, indent=_FIELD)


def _declared(error: DeclaredError) -> str:
    title = literal(error.title, column=_FIELD + 14, indent=_FIELD + 8)
    return f"DeclaredError(reason={quoted(error.reason)}, status={error.status}, title={title})"


def _registration(tool: ToolContract) -> str:
    fields = {
        "operation": quoted(tool.id),
        "name": quoted(tool.mcp_name),
        "bare_name": quoted(tool.tool),
        "aliases": _tuple(quoted(alias) for alias in tool.aliases),
        "read_only": str(tool.annotations.read_only),
        "destructive": str(tool.annotations.destructive),
        "idempotent": str(tool.annotations.idempotent),
        "open_world": str(tool.annotations.open_world),
        "requires": _tuple(quoted(each) for each in tool.requires),
    }
    left_out = {name for name in ("aliases", "requires") if not getattr(tool, name)}
    return _entry("Tool", {k: v for k, v in fields.items() if k not in left_out})


def _entry(record: str, fields: Mapping[str, str]) -> str:
    lines = (f"        {name}={value}," for name, value in fields.items())
    return f"    {record}(\n" + "\n".join(lines) + "\n    ),"


def _tuple(members: Iterable[str]) -> str:
    listed = list(members)
    return f"({', '.join(listed)},)" if listed else "()"


# Renders the table of agents: grants, views and limits.


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


# Renders REST routes: one Litestar handler per tool, with one statement.
