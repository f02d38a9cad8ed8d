"""Grants: every one of them names a tool that exists."""

from collections.abc import Iterator
from typing import Final

from gateway.codegen.finding import Finding
from gateway.codegen.lint.workspace import Workspace
from gateway.codegen.sources.tree import POLICIES
from gateway.contract.pointers import child

_EVERY_TOOL: Final = "*"


def check_grants(workspace: Workspace) -> Iterator[Finding]:
    """policy/unknown-tool, policy/redundant"""
    document = workspace.tree.policies
    if document is None or POLICIES in workspace.misshapen:
        return
    known = {tool.id for tool in workspace.tree.tools} | {_EVERY_TOOL}
    for agent, facts in document.value["agents"].items():
        grants = facts["grants"]
        pointer = child(child("/agents", agent), "grants")
        if _EVERY_TOOL in grants and len(grants) > 1:
            message = f"{agent} is granted every tool and some by name"
            yield workspace.finding("policy/redundant", document, pointer, message)
        for index, grant in enumerate(grants):
            if grant not in known:
                message = f"there is no tool {grant}"
                where = child(pointer, index)
                yield workspace.finding("policy/unknown-tool", document, where, message)
