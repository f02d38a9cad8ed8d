"""Bindings: the upstream and the operation they name exist."""

from collections.abc import Iterator
from typing import Any

from gateway.codegen.finding import Finding
from gateway.codegen.lint.upstreams import operations
from gateway.codegen.lint.workspace import Workspace
from gateway.codegen.sources.document import Document


def check_upstreams(workspace: Workspace) -> Iterator[Finding]:
    """binding/unknown-upstream, binding/unknown-operation"""
    known = {
        name: {operation.value["operationId"] for operation in operations(document)}
        for name, document in workspace.upstreams.items()
    }
    for tool in workspace.tools:
        binding = tool.operation["x-binding"]
        if "upstream" not in binding:
            continue
        name = binding["upstream"]
        if name in known:
            yield from _operations(workspace, tool.document, binding, known[name])
        elif name not in workspace.tree.upstreams:
            pointer = "/post/x-binding/upstream"
            message = f"there is no upstreams/{name}/openapi.yaml"
            yield workspace.finding("binding/unknown-upstream", tool.document, pointer, message)


def _operations(
    workspace: Workspace, document: Document, binding: dict[str, Any], known: set[str]
) -> Iterator[Finding]:
    named = [("/post/x-binding/operationId", binding["operationId"])]
    if "fallback" in binding:
        named.append(("/post/x-binding/fallback/operationId", binding["fallback"]["operationId"]))
    for pointer, operation_id in named:
        if operation_id not in known:
            message = f"{binding['upstream']} has no operation {operation_id}"
            yield workspace.finding("binding/unknown-operation", document, pointer, message)
