"""Checks of policies: agents, limits and declared errors."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child
from gateway.contracts.finding import Finding
from gateway.contracts.grants import grantable, written_grants
from gateway.contracts.limits import unreached_limits
from gateway.contracts.sources.document import Document
from gateway.contracts.sources.tree import POLICIES
from gateway.lint.draft import Draft
from gateway.profiles.clients import PROFILES

_ADMINISTRATOR: Final = "administrator"
_OF_TOOL: Final = "/post/x-policy/limits"


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
    costs = [
        (grantable(tool), tool.operation["x-policy"].get("limits", {}).get("cost", 1))
        for tool in draft.tools
    ]
    for document, pointer, agent, limits in _of_agents(draft):
        budget = limits.get("budget")
        if budget is None:
            continue
        grants = written_grants("", agent)
        for tool, cost in costs:
            if cost > budget and any(each.has(tool) for each in grants):
                message = f"one call of {tool.id} costs {cost}, and the budget of a day is {budget}"
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


def _contradictions(
    draft: Draft, document: Document, pointer: str, limits: Mapping[str, Any]
) -> Iterator[Finding]:
    for place, message in unreached_limits(limits):
        yield draft.finding("policy/limits", document, f"{pointer}{place}", message)
