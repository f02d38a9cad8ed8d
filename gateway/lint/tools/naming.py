"""Checks of tools: names, schema files, tags, summaries, descriptions and hints."""

import keyword
import re
from collections.abc import Iterator
from typing import Any, Final

from gateway.contract.agent_view import OWN_TOOLS
from gateway.contract.operation import JOBS
from gateway.contract.values.pointers import child
from gateway.contracts.finding import Finding
from gateway.contracts.sources.document import Document
from gateway.contracts.sources.tree import ToolSource
from gateway.lint.draft import Draft

_FIRST_WORD: Final = re.compile(r"[A-Z][a-z]+(?=[ ,.])")
_NO_VERBS: Final = frozenset(
    {"This", "The", "A", "An", "It", "Its", "Tool", "Function", "Use", "When", "With", "For", "By"}
)
_HINTS: Final[dict[str, dict[str, bool]]] = {
    "read": {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True},
    "write": {"readOnlyHint": False},
    "destroy": {"readOnlyHint": False, "destructiveHint": True},
}


def check_names(draft: Draft) -> Iterator[Finding]:
    """tool/name, tool/operation-id, tool/mcp-name"""
    for tool in draft.tools:
        if keyword.iskeyword(tool.connector) or keyword.iskeyword(tool.tool):
            message = "a Python keyword cannot be the name of the generated module"
            yield draft.finding("tool/name", tool.document, "", message)
        if tool.connector == JOBS:
            message = f"/v1/{JOBS} is where callers find their jobs"
            yield draft.finding("tool/name", tool.document, "", message)
        mcp_name = f"{tool.connector}_{tool.tool}"
        for rule, pointer, wanted in (
            ("tool/operation-id", "/post/operationId", tool.id),
            ("tool/mcp-name", "/post/x-mcp/name", mcp_name),
        ):
            found = draft.at(tool.document, pointer)
            if found != wanted:
                message = f"{found} does not match the file's path"
                yield draft.finding(rule, tool.document, pointer, message, f"Write {wanted}.")


def check_collisions(draft: Draft) -> Iterator[Finding]:
    """tool/name-collision"""
    owners: dict[tuple[str | None, str], str] = {}
    for tool in draft.tools:
        owners.setdefault((None, tool.operation["x-mcp"]["name"]), tool.id)
        owners.setdefault((tool.connector, tool.tool), tool.id)
    for tool in draft.tools:
        if tool.tool in OWN_TOOLS:
            yield _own(draft, tool, "/post/operationId", tool.tool)
        for pointer, name in _names(tool):
            if name in OWN_TOOLS:
                yield _own(draft, tool, pointer, name)
            for scope in (None, tool.connector):
                owner = owners.setdefault((scope, name), tool.id)
                if owner != tool.id:
                    message = f"{name} is already a name of {owner}"
                    yield draft.finding("tool/name-collision", tool.document, pointer, message)


def _own(draft: Draft, tool: ToolSource, pointer: str, name: str) -> Finding:
    message = f"{name} is the name of a tool of the gateway itself"
    return draft.finding("tool/name-collision", tool.document, pointer, message)


def _names(tool: ToolSource) -> Iterator[tuple[str, str]]:
    mcp = tool.operation["x-mcp"]
    yield "/post/x-mcp/name", mcp["name"]
    for index, alias in enumerate(mcp.get("aliases", ())):
        yield f"/post/x-mcp/aliases/{index}", alias


def check_schema_files(draft: Draft) -> Iterator[Finding]:
    """tool/schema-file"""
    for tool in draft.tools:
        sides = ("requestBody", "input"), ("responses/200", "output")
        for member, side in sides:
            pointer = f"/post/{member}/content/application~1json/schema"
            wanted = tool.path.with_name(f"{tool.tool}.{side}.json")
            holder = draft.at(tool.document, pointer)
            target = draft.target(tool.document, pointer, holder)
            if target and (target.document.path, target.pointer) != (wanted, ""):
                message = f"the {side} schema of this tool must be in {wanted.name}"
                fix = f"Write {{$ref: ./{wanted.name}}}."
                yield draft.finding("tool/schema-file", tool.document, pointer, message, fix)


def check_tags(draft: Draft) -> Iterator[Finding]:
    """tool/tag, tool/unknown-tag"""
    index = draft.index
    if index is None:
        return
    for tool in draft.tools:
        if tool.connector not in tool.operation["tags"]:
            message = f"the tags do not include {tool.connector}"
            yield draft.finding("tool/tag", tool.document, "/post/tags", message)
    known = {tag["name"] for tag in index.value.get("tags", ())}
    for document in _tagged(draft):
        for position, tag in enumerate(document.value["post"]["tags"]):
            if tag not in known:
                pointer = f"/post/tags/{position}"
                message = f"openapi.yaml does not describe the tag {tag}"
                yield draft.finding("tool/unknown-tag", document, pointer, message)


def _tagged(draft: Draft) -> Iterator[Document]:
    yield from (tool.document for tool in draft.tools)
    yield from (webhook.document for webhook in draft.webhooks)
    yield from (event.document for event in draft.events)


def check_words(draft: Draft) -> Iterator[Finding]:
    """tool/summary, tool/description"""
    for tool in draft.tools:
        summary, description = tool.operation["summary"], tool.operation["description"]
        if not summary[0].isupper() or summary.endswith("."):
            message = "the summary does not begin with a capital, or ends with a full stop"
            yield draft.finding("tool/summary", tool.document, "/post/summary", message)
        problem = _problem_of(description.strip())
        if problem:
            yield draft.finding("tool/description", tool.document, "/post/description", problem)


def _problem_of(description: str) -> str | None:
    first = _FIRST_WORD.match(description)
    if first is None or first[0] in _NO_VERBS or _is_third_person(first[0]):
        return "the description does not begin with a verb in the imperative"
    if not description.endswith("."):
        return "the description does not end with a full stop"
    return None


def _is_third_person(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us"))


def check_annotations(draft: Draft) -> Iterator[Finding]:
    """tool/annotations"""
    for tool in draft.tools:
        policy = tool.operation["x-policy"]
        name = "escalation" if "escalation" in policy else "effect"
        wanted = _escalated(policy) if name == "escalation" else _HINTS[policy["effect"]]
        hints: dict[str, Any] = tool.operation["x-mcp"]["annotations"]
        for hint, value in wanted.items():
            if hints[hint] is not value:
                pointer = child("/post/x-mcp/annotations", hint)
                what = (
                    "the escalation" if name == "escalation" else f"the effect {policy['effect']}"
                )
                message = f"{hint} contradicts {what}"
                fix = f"Write {hint}: {str(value).lower()}, or correct x-policy.{name}."
                yield draft.finding("tool/annotations", tool.document, pointer, message, fix)


def _escalated(policy: dict[str, Any]) -> dict[str, bool]:
    """The hints of a read that may write. It is idempotent only with an idempotency key."""
    has_key = any("idempotency" in name for name in policy["escalation"].get("requires", ()))
    return {"readOnlyHint": False} if has_key else {"readOnlyHint": False, "idempotentHint": False}
