"""Input schemas that are listed as their authors wrote them."""

from typing import Any, Final

from gateway.codegen.lowering.clients import for_clients
from gateway.contract.values.pointers import follow
from gateway.contracts.sources.refs import resolve
from gateway.contracts.sources.tree import SourceTree, ToolSource

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_WRITTEN: Final = frozenset({"publish/root", "publish/anchor"})
"""The waived rules with which the keywords of a schema matter to its clients."""


def written_input(tree: SourceTree, tool: ToolSource, pointer: str) -> dict[str, Any] | None:
    """The schema at `pointer` with its definitions, if the tool waives a rule about its form.

    None if it does not, and for a schema that refers to other files.
    """
    waived = {each["rule"] for each in tool.operation["x-mcp"].get("waive", ())}
    if waived.isdisjoint(_WRITTEN):
        return None
    reference = follow(tool.document.value, f"{pointer}/$ref")
    target = resolve(tree, tool.path, reference, pointer)
    refs = [holder["$ref"] for _, holder in tree.references(target.document.path)]
    if target.pointer or not all(each.startswith("#") for each in refs):
        return None
    return {"$schema": _DIALECT, **for_clients(target.value)}
