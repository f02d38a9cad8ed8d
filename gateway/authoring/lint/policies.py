"""Checks of policies, and of what tools promise: limits, errors, attempts, cache, waivers."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.authoring.contracts.document import Document
from gateway.authoring.contracts.finding import Finding
from gateway.authoring.contracts.policies import (
    grantable,
    is_auto_in_vain,
    unreached_limits,
    written_grants,
)
from gateway.authoring.contracts.refs import INPUT, OUTPUT
from gateway.authoring.contracts.tree import POLICIES, TOOLS, ToolSource
from gateway.authoring.lint.draft import Draft
from gateway.authoring.lint.upstreams import LocatedOperation, operations
from gateway.contract.operation import JOB_AFTER_SECONDS
from gateway.contract.schemas import keywords
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child
from gateway.profiles.clients import PROFILES

# Checks of policies: agents, limits and declared errors.

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


# Checks that what a tool promises besides its schemas is possible: attempts, cache, text, …

_HEADER: Final = "x-idempotency-header"
_SAFE_METHODS: Final = ("get", "head")


def check_attempts(draft: Draft) -> Iterator[Finding]:
    """policy/attempts"""
    for tool in draft.tools:
        policy = tool.operation["x-policy"]
        if "attempts" not in policy:
            continue
        pointer = "/post/x-policy/attempts"
        binding = tool.operation["x-binding"]
        if "upstream" not in binding and "upstreams" not in binding:
            message = "the binding has no upstream, so that no request can be sent again"
            yield draft.finding("policy/attempts", tool.document, pointer, message)
        elif policy["effect"] != "read" and not _may_repeat(draft, binding):
            message = "no request of this tool is safe to repeat"
            yield draft.finding("policy/attempts", tool.document, pointer, message)


def _may_repeat(draft: Draft, binding: dict[str, Any]) -> bool:
    """Whether a request is safe to repeat by its method or header. True if that is unknown."""
    names = binding.get("upstreams") or [binding["upstream"]]
    if not all(name in draft.upstreams for name in names):
        return True
    found = [each for name in names for each in operations(draft.upstreams[name])]
    if "python" in binding:
        return any(each.method in _SAFE_METHODS or _HEADER in each.value for each in found)
    maps = (binding, binding.get("fallback", {}))
    known = {each.value["operationId"] for each in found}
    if not all(rules["operationId"] in known for rules in maps if rules):
        return True
    return any(_is_repeatable(each, rules) for rules in maps for each in found)


def _is_repeatable(operation: LocatedOperation, rules: dict[str, Any]) -> bool:
    """Whether the field map's requests to `operation` are safe to repeat."""
    if operation.value["operationId"] != rules.get("operationId"):
        return False
    sent = {name.lower() for name in rules.get("request", {}).get("header", {})}
    header = operation.value.get(_HEADER)
    return operation.method in _SAFE_METHODS or (header is not None and header.lower() in sent)


def check_cache(draft: Draft) -> Iterator[Finding]:
    """policy/cached-write, policy/stale, policy/public-cache"""
    for tool in draft.tools:
        policy = tool.operation["x-policy"]
        if "cache" not in policy:
            continue
        pointer = "/post/x-policy/cache"
        if policy["effect"] != "read":
            message = f"the effect is {policy['effect']}, and a cached result would not have it"
            yield draft.finding("policy/cached-write", tool.document, pointer, message)
        binding = tool.operation["x-binding"]
        if "staleIfErrorSeconds" in policy["cache"] and not {"upstream", "upstreams"} & set(
            binding
        ):
            message = "the binding has no upstream that could fail"
            at = f"{pointer}/staleIfErrorSeconds"
            yield draft.finding("policy/stale", tool.document, at, message)
        if policy["cache"].get("scope") == "public":
            pointer = f"{pointer}/scope"
            if _has_sensitive(draft.expanded(tool.path, INPUT)):
                message = "an argument is sensitive, so the result may be too"
                yield draft.finding("policy/public-cache", tool.document, pointer, message)


def check_cached_facts(draft: Draft) -> Iterator[Finding]:
    """policy/cached-call"""
    for tool in draft.tools:
        is_cached = "cache" in tool.operation["x-policy"]
        for fact, at in _told_of_call(tool.operation["x-binding"]) if is_cached else ():
            message = f"all callers would get the {fact} of the first one's call"
            yield draft.finding("policy/cached-call", tool.document, at, message)


def _told_of_call(binding: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The facts of the call that results read (`$call.…`), each with its pointer."""
    for name in ("", "/fallback"):
        rules = binding.get("fallback", {}) if name else binding
        for member in ("response", "errors"):
            yield from _facts(rules.get(member), f"/post/x-binding{name}/{member}")


def _facts(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str) and value.startswith("$call."):
        yield value, pointer
    members = dict(enumerate(value)) if isinstance(value, list) else value
    for name, member in members.items() if isinstance(members, dict) else ():
        if name != "const":
            yield from _facts(member, child(pointer, str(name)))


def _has_sensitive(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    if schema.get("writeOnly") is True or schema.get("x-sensitive") is True:
        return True
    return any(_has_sensitive(member) for _, _, member in keywords.branches(schema, ""))


def check_task(draft: Draft) -> Iterator[Finding]:
    """policy/task"""
    for tool in draft.tools:
        policy = tool.operation["x-policy"]
        mode = policy.get("task", "never")
        if mode != "never" and "cache" in policy:
            message = "a result that is cached is there at once, and needs no job"
        elif is_auto_in_vain(mode, policy["timeoutSeconds"]):
            message = f"no call takes longer than {JOB_AFTER_SECONDS:g} s, so none becomes a job"
        else:
            continue
        yield draft.finding("policy/task", tool.document, "/post/x-policy/task", message)


def check_requires(draft: Draft) -> Iterator[Finding]:
    """tool/requires"""
    for tool in draft.tools:
        required = tool.operation["x-mcp"].get("requires", ())
        task = tool.operation["x-policy"].get("task", "never")
        asks = tool.operation["x-binding"].get("asks", ())
        unasked = [each for each in required if each != "tasks" and each not in asks]
        if "tasks" in required and task != "required":
            message = f"with task {task}, a call can be answered without a task"
            yield draft.finding("tool/requires", tool.document, "/post/x-mcp/requires", message)
        if "tasks" not in required and task == "required" and len(required) > len(unasked):
            message = "each call is a job, and only clients with tasks answer jobs: name tasks too"
            yield draft.finding("tool/requires", tool.document, "/post/x-mcp/requires", message)
        if unasked:
            message = f"x-binding.asks does not name {', '.join(unasked)}"
            yield draft.finding("tool/requires", tool.document, "/post/x-mcp/requires", message)


def check_asks(draft: Draft) -> Iterator[Finding]:
    """tool/asks"""
    for tool in draft.tools:
        operation = tool.operation
        if operation["x-binding"].get("asks") and "cache" in operation["x-policy"]:
            message = "a result that depends on answers of one client cannot be cached for others"
            yield draft.finding("tool/asks", tool.document, "/post/x-binding/asks", message)


def check_plain_text(draft: Draft) -> Iterator[Finding]:
    """tool/plain-text"""
    for tool in draft.tools:
        content = tool.operation["responses"]["200"]["content"]
        if "text/plain" in content and not _is_one_text(draft.expanded(tool.path, OUTPUT)):
            message = "the result has more or less than one text"
            where = "/post/responses/200/content/text~1plain"
            yield draft.finding("tool/plain-text", tool.document, where, message)


def _is_one_text(schema: Any) -> bool:
    if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict):
        return False
    names, members = [*schema["properties"]], [*schema["properties"].values()]
    return (
        len(members) == 1
        and isinstance(members[0], dict)
        and members[0].get("type") == "string"
        and schema.get("required") == names
        and schema.get("additionalProperties") is False
    )


def check_escalation(draft: Draft) -> Iterator[Finding]:
    """policy/escalation, policy/escalation-grant, policy/escalation-argument"""
    effects = {tool.id: tool.operation["x-policy"]["effect"] for tool in draft.tools}
    for tool in draft.tools:
        policy = tool.operation["x-policy"]
        if "escalation" not in policy:
            continue
        if policy["effect"] != "read":
            message = f"the effect is {policy['effect']}, and only a read has an escalation"
            where = "/post/x-policy/escalation"
            yield draft.finding("policy/escalation", tool.document, where, message)
        yield from _grant(draft, tool, policy["escalation"]["grant"], effects)
        yield from _arguments(draft, tool, policy["escalation"])


def _grant(
    draft: Draft, tool: ToolSource, grant: str, effects: dict[str, str]
) -> Iterator[Finding]:
    path = PurePosixPath(TOOLS, *f"{grant}.yaml".split(".", 1))
    fix = None
    if grant not in effects:
        if draft.tree.find(path) is not None or draft.tree.is_unread(path):
            return
        message, fix = f"there is no tool {grant}", did_you_mean(grant, effects)
    elif effects[grant] == "read":
        message = f"{grant} only reads"
    else:
        return
    pointer = "/post/x-policy/escalation/grant"
    yield draft.finding("policy/escalation-grant", tool.document, pointer, message, fix)


def _arguments(draft: Draft, tool: ToolSource, rule: dict[str, Any]) -> Iterator[Finding]:
    schema = draft.expanded(tool.path, INPUT)
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(properties, dict):
        return
    named = [("when", rule["when"])]
    named += [(f"requires/{index}", name) for index, name in enumerate(rule.get("requires", ()))]
    for member, name in named:
        fix = None
        if name not in properties:
            message, fix = f"there is no argument {name}", did_you_mean(name, properties)
        elif member == "when" and not _is_boolean(properties[name]):
            message = f"{name} is not a boolean"
        elif member == "when" and properties[name].get("default"):
            message = f"{name} is true by default: a call without it would write"
        elif member != "when" and name in schema.get("required", ()):
            message = f"{name} is already required in every call"
        elif member != "when" and name == rule["when"]:
            message = f"{name} is the argument of `when`"
        else:
            continue
        pointer = f"/post/x-policy/escalation/{member}"
        yield draft.finding("policy/escalation-argument", tool.document, pointer, message, fix)


def _is_boolean(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "boolean"


# Lint rules of publication that single tools break on purpose (`x-mcp.waive`).


def without_waived(draft: Draft, found: Iterable[Finding]) -> Iterator[Finding]:
    """`found` without what tools waive in their own files, and tool/waiver for idle waivers.

    Files of `common/` are of all tools, so no tool waives what they break.
    """
    waivers = {
        (path, waiver["rule"]): (tool.id, index)
        for tool in draft.tools
        for index, waiver in enumerate(_waivers(tool))
        for path in _files(tool)
    }
    used = set()
    for finding in found:
        place = waivers.get((PurePosixPath(finding.path), finding.rule))
        if place is None:
            yield finding
        used.add(place)
    for tool in draft.tools:
        for index, waiver in enumerate(_waivers(tool)):
            if (tool.id, index) not in used:
                message = f"{waiver['rule']} has no finding in the files of this tool"
                pointer = f"/post/x-mcp/waive/{index}"
                yield draft.finding("tool/waiver", tool.document, pointer, message)


def _waivers(tool: ToolSource) -> Iterable[Mapping[str, str]]:
    found: Iterable[Mapping[str, str]] = tool.operation["x-mcp"].get("waive", ())
    return found


def _files(tool: ToolSource) -> Iterator[PurePosixPath]:
    yield tool.path
    for half in ("input", "output"):
        yield tool.path.with_name(f"{tool.tool}.{half}.json")
