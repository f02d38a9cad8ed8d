"""Checks of bindings: their upstreams, operations, error codes and fallbacks."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.contract.operation import NOT_FOUND
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child
from gateway.contracts.finding import Finding
from gateway.contracts.sources.document import Document
from gateway.contracts.sources.tree import UPSTREAMS
from gateway.lint.draft import Draft
from gateway.lint.tools.upstreams import operations
from gateway.mapping.fields import has_map

_SAFE_METHODS: Final = frozenset({"get", "head"})


def check_upstreams(draft: Draft) -> Iterator[Finding]:
    """binding/unknown-upstream, binding/unknown-operation, binding/field-map"""
    known = {
        name: {operation.value["operationId"] for operation in operations(document)}
        for name, document in draft.upstreams.items()
    }
    for tool in draft.tools:
        binding = tool.operation["x-binding"]
        for pointer, name in _named(binding):
            if not _is_there(draft, name):
                message = f"there is no upstreams/{name}/openapi.yaml"
                fix = did_you_mean(name, [*draft.tree.upstreams, *draft.tree.imports])
                yield draft.finding(
                    "binding/unknown-upstream", tool.document, pointer, message, fix
                )
        if binding.get("upstream") in draft.tree.imports and has_map(binding):
            message = f"{binding['upstream']} is an import, whose operations have no field map"
            fix = "Remove request, response and fallback, or write a contract of the upstream."
            yield draft.finding("binding/field-map", tool.document, "/post/x-binding", message, fix)
        if binding.get("upstream") in known:
            yield from _operations(draft, tool.document, binding, known[binding["upstream"]])


def check_error_codes(draft: Draft) -> Iterator[Finding]:
    """binding/error-code"""
    for tool in draft.tools:
        binding = tool.operation["x-binding"]
        upstream = draft.upstreams.get(binding.get("upstream", ""))
        if upstream is None:
            continue
        facts = upstream.value["x-upstream"]
        has_codes = "softErrors" in facts
        knows_not_found = any(each["means"] == NOT_FOUND for each in facts.get("refusals", ()))
        for prefix, rules in (("", binding), ("/fallback", binding.get("fallback", {}))):
            for name in rules.get("errors", {}):
                is_known = knows_not_found if name == NOT_FOUND else has_codes
                if not (name[0].isdigit() or is_known):
                    pointer = child(f"/post/x-binding{prefix}/errors", name)
                    lacks = "refusal that means not_found" if name == NOT_FOUND else "softErrors"
                    message = f"{binding['upstream']} has no x-upstream.{lacks}"
                    yield draft.finding("binding/error-code", tool.document, pointer, message)


def check_fallbacks(draft: Draft) -> Iterator[Finding]:
    """binding/fallback-effect"""
    for tool in draft.tools:
        policy, binding = tool.operation["x-policy"], tool.operation["x-binding"]
        fallback = binding.get("fallback")
        upstream = draft.upstreams.get(binding.get("upstream", ""))
        if fallback is None or upstream is None or policy["effect"] != "read":
            continue
        problem = None
        if fallback.get("effect") == "write" and "escalation" not in policy:
            problem = "the fallback writes, but the tool reads and has no escalation"
        elif "effect" not in fallback and not _is_safe(upstream, fallback["operationId"]):
            problem = f"{fallback['operationId']} is not a GET and may change something"
        if problem is not None:
            pointer = "/post/x-binding/fallback"
            yield draft.finding("binding/fallback-effect", tool.document, pointer, problem)


def _is_safe(upstream: Document, operation_id: str) -> bool:
    """Whether the operation's method only reads. True if there is no such operation."""
    methods = [e.method for e in operations(upstream) if e.value["operationId"] == operation_id]
    return all(method in _SAFE_METHODS for method in methods)


def _named(binding: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The upstreams that a binding names, with the pointers to the names."""
    if "upstream" in binding:
        yield "/post/x-binding/upstream", binding["upstream"]
    for index, name in enumerate(binding.get("upstreams", ())):
        yield f"/post/x-binding/upstreams/{index}", name


def _is_there(draft: Draft, name: str) -> bool:
    """Whether the upstream is an import or has a contract, also if that cannot be read."""
    path = PurePosixPath(UPSTREAMS, name, "openapi.yaml")
    known = {*draft.tree.upstreams, *draft.tree.imports}
    return name in known or draft.tree.is_unread(path)


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
