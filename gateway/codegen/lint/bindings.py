"""Bindings: the upstream and the operation they name exist."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from gateway.codegen.finding import Finding
from gateway.codegen.lint.draft import Draft
from gateway.codegen.lint.upstreams import operations
from gateway.codegen.nearest import did_you_mean
from gateway.codegen.sources.document import Document
from gateway.codegen.sources.tree import UPSTREAMS


def check_upstreams(draft: Draft) -> Iterator[Finding]:
    """binding/unknown-upstream, binding/unknown-operation"""
    known = {
        name: {operation.value["operationId"] for operation in operations(document)}
        for name, document in draft.upstreams.items()
    }
    for tool in draft.tools:
        binding = tool.operation["x-binding"]
        for pointer, name in _named(binding):
            if not _is_there(draft, name):
                message = f"there is no upstreams/{name}/openapi.yaml"
                fix = did_you_mean(name, draft.tree.upstreams)
                yield draft.finding(
                    "binding/unknown-upstream", tool.document, pointer, message, fix
                )
        if binding.get("upstream") in known:
            yield from _operations(draft, tool.document, binding, known[binding["upstream"]])


def _named(binding: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The upstreams of a binding."""
    if "upstream" in binding:
        yield "/post/x-binding/upstream", binding["upstream"]
    for index, name in enumerate(binding.get("upstreams", ())):
        yield f"/post/x-binding/upstreams/{index}", name


def _is_there(draft: Draft, name: str) -> bool:
    """Whether the upstream has a contract, be it one that cannot be read."""
    path = PurePosixPath(UPSTREAMS, name, "openapi.yaml")
    return name in draft.tree.upstreams or draft.tree.is_unread(path)


def _operations(
    draft: Draft, document: Document, binding: dict[str, Any], known: set[str]
) -> Iterator[Finding]:
    named = [("/post/x-binding/operationId", binding["operationId"])]
    if "fallback" in binding:
        named.append(("/post/x-binding/fallback/operationId", binding["fallback"]["operationId"]))
    for pointer, operation_id in named:
        if operation_id not in known:
            message = f"{binding['upstream']} has no operation {operation_id}"
            fix = did_you_mean(operation_id, sorted(known))
            yield draft.finding("binding/unknown-operation", document, pointer, message, fix)
