"""Checks of policies: grants, limits and declared errors."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.contract.credentials.scopes import SCOPES
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child
from gateway.contracts.finding import Finding
from gateway.contracts.limits import unreached_limits
from gateway.contracts.offered import needs_grant
from gateway.contracts.sources.document import Document
from gateway.contracts.sources.tree import POLICIES, TOOLS
from gateway.lint.draft import Draft
from gateway.profiles.clients import PROFILES

_EVERY_TOOL: Final = "*"
_ADMINISTRATOR: Final = "administrator"
_OF_TOOL: Final = "/post/x-policy/limits"
_DESTROY: Final = "destroy"
"""The effect that `*` does not grant. A tool with it must be granted by name."""


def check_grants(draft: Draft) -> Iterator[Finding]:
    """policy/unknown-tool, policy/redundant"""
    document = draft.tree.policies
    if document is None or POLICIES in draft.misshapen:
        return
    harmless = {
        tool.id for tool in draft.tools if tool.operation["x-policy"].get("effect") != _DESTROY
    }
    own = {each.grant for each in (*draft.resources, *draft.prompts) if needs_grant(each)}
    harmless |= own
    known = {tool.id for tool in draft.tree.tools} | {_EVERY_TOOL} | SCOPES | own
    for agent, facts in document.value["agents"].items():
        grants = facts["grants"]
        pointer = child(child("/agents", agent), "grants")
        named = {*grants} & harmless if _EVERY_TOOL in grants else set()
        if named:
            message = f"`*` already grants {', '.join(sorted(named))} to {agent}"
            yield draft.finding("policy/redundant", document, pointer, message)
        for index, grant in enumerate(grants):
            if grant.partition(".")[0] in draft.tree.imports:
                continue  # `gateway generate` knows the tools of imported documents
            file = _file_of(grant)
            is_readable = not draft.tree.is_unread(file) and file not in draft.misshapen
            if grant not in known and is_readable:
                message = _unknown(grant)
                where = child(pointer, index)
                yield draft.finding("policy/unknown-tool", document, where, message)


def _unknown(grant: str) -> str:
    kind, _, name = grant.rpartition("/")
    if not kind:
        return f"there is no tool {grant}"
    return f"there is no {kind.removesuffix('s')} {name} that needs a grant of its own"


def check_profiles(draft: Draft) -> Iterator[Finding]:
    """policy/unknown-profile"""
    document = draft.tree.policies
    if document is None or POLICIES in draft.misshapen:
        return
    for agent, facts in document.value["agents"].items():
        name = facts.get("profile")
        if name is not None and name not in PROFILES:
            pointer = child(child("/agents", agent), "profile")
            fix = did_you_mean(name, PROFILES) or f"The profiles are {', '.join(PROFILES)}."
            message = f"there is no client profile {name}"
            yield draft.finding("policy/unknown-profile", document, pointer, message, fix)


def check_administrator(draft: Draft) -> Iterator[Finding]:
    """policy/administrator"""
    document = draft.tree.policies
    if document is None or POLICIES in draft.misshapen:
        return
    if _ADMINISTRATOR not in document.value["agents"]:
        message = f"there is no agent {_ADMINISTRATOR}"
        yield draft.finding("policy/administrator", document, "/agents", message)


def _file_of(grant: str) -> PurePosixPath:
    kind, _, name = grant.rpartition("/")
    return PurePosixPath(kind or TOOLS, *f"{name}.yaml".split(".", 1))


def check_declared_errors(draft: Draft) -> Iterator[Finding]:
    """policy/unused-error"""
    for tool in draft.tools:
        binding = tool.operation["x-binding"]
        if _calls_python(binding) or "entity" in binding:
            continue
        used = {*_reasons(binding), *_reasons(binding.get("fallback", {}))}
        for name in tool.operation["x-policy"].get("errors", {}):
            if name not in used:
                pointer = child("/post/x-policy/errors", name)
                message = f"x-binding.errors does not use {name}"
                yield draft.finding("policy/unused-error", tool.document, pointer, message)


def _calls_python(part: Any) -> bool:
    """Whether the binding or one of its values is a Python function.

    Such a function may raise any declared error.
    """
    if isinstance(part, list):
        return any(map(_calls_python, part))
    return isinstance(part, dict) and ("python" in part or any(map(_calls_python, part.values())))


def _reasons(rules: dict[str, Any]) -> Iterator[str]:
    """The declared errors that `errors` of a binding or of its fallback names."""
    for meaning in rules.get("errors", {}).values():
        if "reason" in meaning:
            yield meaning["reason"]


def check_limits(draft: Draft) -> Iterator[Finding]:
    """policy/limits"""
    for tool in draft.tools:
        limits = tool.operation["x-policy"].get("limits")
        if limits is not None:
            yield from _contradictions(draft, tool.document, _OF_TOOL, limits)
    for document, pointer, _, limits in _of_agents(draft):
        yield from _contradictions(draft, document, pointer, limits)


def check_budgets(draft: Draft) -> Iterator[Finding]:
    """policy/budget"""
    costs = {
        tool.id: (tool.operation["x-policy"].get("limits", {}).get("cost", 1), tool.operation)
        for tool in draft.tools
    }
    for document, pointer, agent, limits in _of_agents(draft):
        budget = limits.get("budget")
        if budget is None:
            continue
        for name, (cost, operation) in costs.items():
            if cost > budget and _is_granted(agent["grants"], name, operation):
                message = f"one call of {name} costs {cost}, and the budget of a day is {budget}"
                yield draft.finding("policy/budget", document, f"{pointer}/budget", message)


def _of_agents(
    draft: Draft,
) -> Iterator[tuple[Document, str, Mapping[str, Any], Mapping[str, Any]]]:
    """The policies, a pointer to limits in them, their agent, and the limits."""
    document = draft.tree.policies
    if document is None or POLICIES in draft.misshapen:
        return
    for agent, facts in document.value["agents"].items():
        if "limits" in facts:
            yield document, child(child("/agents", agent), "limits"), facts, facts["limits"]


def _is_granted(grants: list[str], tool: str, operation: Mapping[str, Any]) -> bool:
    is_harmless = operation["x-policy"].get("effect") != _DESTROY
    return tool in grants or (is_harmless and _EVERY_TOOL in grants)


def _contradictions(
    draft: Draft, document: Document, pointer: str, limits: Mapping[str, Any]
) -> Iterator[Finding]:
    for place, message in unreached_limits(limits):
        yield draft.finding("policy/limits", document, f"{pointer}{place}", message)
