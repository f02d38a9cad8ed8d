"""Checks of the read tools that entities declare."""

from collections.abc import Iterator
from typing import Final

from gateway.contract.values.pointers import child
from gateway.contracts.finding import Finding
from gateway.contracts.sources.entity_tools import (
    TOOLS,
    declared_tools,
    tool_path,
    tool_problems,
)
from gateway.lint.draft import Draft

_RENAME: Final = "Give the tool another name."


def check_tools(draft: Draft) -> Iterator[Finding]:
    """entity/tool"""
    for document in draft.entities.values():
        for which, tool in declared_tools(document).items():
            problems = tuple(tool_problems(document, which))
            for pointer, message in problems:
                yield draft.finding("entity/tool", document, pointer, message)
            place = child(TOOLS, which)
            found = draft.tree.find(tool_path(tool))
            if not problems and (found is None or found.declared != (document, place)):
                message = f"there is already a file of {tool}, or another entity has this tool"
                yield draft.finding("entity/tool", document, place, message, _RENAME)
