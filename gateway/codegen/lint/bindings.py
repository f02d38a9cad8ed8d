"""Bindings: the upstream and the operation they name exist."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from gateway.codegen.finding import Finding
from gateway.codegen.lint.upstreams import operations
from gateway.codegen.lint.workspace import Workspace
from gateway.codegen.nearest import did_you_mean
from gateway.codegen.sources.document import Document
from gateway.codegen.sources.tree import UPSTREAMS


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
        elif name not in workspace.tree.upstreams and not workspace.tree.is_unread(
            PurePosixPath(UPSTREAMS, name, "openapi.yaml")
        ):
            pointer = "/post/x-binding/upstream"
            message = f"there is no upstreams/{name}/openapi.yaml"
            fix = did_you_mean(name, workspace.tree.upstreams)
            yield workspace.finding(
                "binding/unknown-upstream", tool.document, pointer, message, fix
            )


def _operations(
    workspace: Workspace, document: Document, binding: dict[str, Any], known: set[str]
) -> Iterator[Finding]:
    named = [("/post/x-binding/operationId", binding["operationId"])]
    if "fallback" in binding:
        named.append(("/post/x-binding/fallback/operationId", binding["fallback"]["operationId"]))
    for pointer, operation_id in named:
        if operation_id not in known:
            message = f"{binding['upstream']} has no operation {operation_id}"
            fix = did_you_mean(operation_id, sorted(known))
            yield workspace.finding("binding/unknown-operation", document, pointer, message, fix)
