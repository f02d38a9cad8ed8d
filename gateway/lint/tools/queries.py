"""Checks of x-query: the tool is a read, and every argument can be a query parameter."""

from collections.abc import Iterator
from typing import Any, Final

from gateway.contract.values.pointers import child
from gateway.contracts.finding import ContractRefused, Finding
from gateway.contracts.sources.expanding import dereference
from gateway.contracts.sources.tree import ToolSource
from gateway.lint.draft import Draft

_INPUT: Final = "/post/requestBody/content/application~1json/schema"
_SCALARS: Final = ("boolean", "integer", "number", "string")


def check_queries(draft: Draft) -> Iterator[Finding]:
    """tool/query"""
    for tool in draft.tools:
        if "x-query" not in tool.operation:
            continue
        policy = tool.operation["x-policy"]
        if policy["effect"] != "read" or "escalation" in policy:
            message = "a tool with x-query must not change anything"
            yield draft.finding("tool/query", tool.document, "/post/x-query", message)
        for name in _unwritable(draft, tool):
            document = draft.file_of(tool, _INPUT).document
            message = f"{name} cannot be written as a query parameter"
            yield draft.finding("tool/query", document, child("/properties", name), message)


def _unwritable(draft: Draft, tool: ToolSource) -> Iterator[str]:
    """The arguments that are not scalars. Empty if that is unknown."""
    try:
        schema: Any = dereference(draft.tree, tool.path, _INPUT)
    except ContractRefused:
        return
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, member in properties.items() if isinstance(properties, dict) else ():
        if not isinstance(member, dict) or member.get("type") not in _SCALARS:
            yield name
