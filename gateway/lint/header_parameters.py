"""Checks of `x-mcp-header`: arguments that clients also send as HTTP headers (SEP-2243)."""

import re
from collections.abc import Iterator
from typing import Any, Final

from gateway.contract.values.pointers import child
from gateway.contracts.finding import Finding
from gateway.lint.draft import Draft

_KEYWORD: Final = "x-mcp-header"
_TYPES: Final = ("string", "integer", "boolean")
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}")
_SECRET: Final = ("x-sensitive", "writeOnly")
_INPUT: Final = "/post/requestBody/content/application~1json/schema"


def check_header_parameters(draft: Draft) -> Iterator[Finding]:
    """schema/header-parameter"""
    allowed: set[int] = set()
    for tool in draft.tools:
        target = draft.file_of(tool, _INPUT)
        members = target.value.get("properties") if isinstance(target.value, dict) else None
        seen: set[str] = set()
        for name, member in members.items() if isinstance(members, dict) else ():
            if not isinstance(member, dict) or _KEYWORD not in member:
                continue
            allowed.add(id(member))
            where = child(child(target.pointer, "properties"), name)
            problem = _problem(member, seen)
            if problem is not None:
                pointer = child(where, _KEYWORD)
                yield draft.finding("schema/header-parameter", target.document, pointer, problem)
    for node in draft.schemas:
        if node.is_ours and _KEYWORD in node.schema and id(node.schema) not in allowed:
            pointer = child(node.pointer, _KEYWORD)
            message = "this is not an argument at the root of a tool's input"
            yield draft.finding("schema/header-parameter", node.document, pointer, message)


def _problem(member: dict[str, Any], seen: set[str]) -> str | None:
    """Why the keyword of `member` cannot be honoured. Adds its header to `seen`."""
    header = member[_KEYWORD]
    if not isinstance(header, str) or not _TOKEN.fullmatch(header):
        return "the name is no token of RFC 9110 with at most 64 characters"
    if member.get("type") not in _TYPES:
        return f"the argument's own type is none of {', '.join(_TYPES)}"
    if any(member.get(mark) is True for mark in _SECRET):
        return "headers stand in the logs of proxies, and the argument is sensitive"
    if header.lower() in seen:
        return f"another argument has the header {header} too"
    seen.add(header.lower())
    return None
