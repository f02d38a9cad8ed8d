"""Reads that GET asks as well: every argument can be a query parameter."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.codegen.finding import Finding
from gateway.codegen.lint.draft import Draft
from gateway.contract.pointers import child

_INPUT: Final = "/post/requestBody/content/application~1json/schema"
_SCALARS: Final = frozenset({"boolean", "integer", "number", "string"})


def check_queries(draft: Draft) -> Iterator[Finding]:
    """tool/query"""
    for tool in draft.tools:
        if "x-query" not in tool.operation:
            continue
        if (
            tool.operation["x-policy"]["effect"] != "read"
            or "escalation" in tool.operation["x-policy"]
        ):
            message = "GET must not change anything"
            yield draft.finding("tool/query", tool.document, "/post/x-query", message)
        target = draft.target(tool.document, _INPUT, draft.at(tool.document, _INPUT))
        if target is None:
            continue
        for name, schema in _properties(target.value).items():
            if not isinstance(schema, dict) or schema.get("type") not in _SCALARS:
                pointer = child("/properties", name)
                message = f"{name} cannot be written as a query parameter"
                yield draft.finding("tool/query", target.document, pointer, message)


def _properties(schema: Any) -> Mapping[str, Any]:
    found = schema.get("properties", {}) if isinstance(schema, dict) else {}
    return found if isinstance(found, dict) else {}
