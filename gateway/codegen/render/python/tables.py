"""Renders the tables of the run time: operations and MCP tools."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from gateway.codegen.ir import ContractSource, ToolContract
from gateway.codegen.render.artifact import (
    Artifact,
    docstring,
    joint_source,
    literal,
    python,
    quoted,
)
from gateway.codegen.render.python.policies import limit_records, limits_text
from gateway.contract.operation import Attempts, DeclaredError, Escalation
from gateway.contracts.names import identifier

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
