"""Parses the expressions of a field map: `$inputs.x`, `$response.body#/p`, `@/p`, and others."""

import re
from typing import Final

from gateway.contract.values.pointers import steps
from gateway.mapping.fields.language.nodes import ReadExpression, Root

_POINTER: Final = r"(?P<steps>(?:/(?:[^~/]|~[01])*)*)"
_FORMS: Final[tuple[tuple[Root, re.Pattern[str]], ...]] = (
    ("inputs", re.compile(r"\$inputs(?P<names>(?:\.[A-Za-z0-9_-]+)*)")),
    ("inputs", re.compile(rf"\$inputs#{_POINTER}")),
    ("payload", re.compile(rf"\$request\.body(?:#{_POINTER})?")),
    ("body", re.compile(rf"\$response\.body(?:#{_POINTER})?")),
    ("header", re.compile(r"\$response\.header(?P<names>\.[!#$%&'*+^_`|~0-9A-Za-z-]+)")),
    ("settings", re.compile(r"\$settings(?P<names>\.[a-z][a-z0-9_]*)")),
    ("call", re.compile(r"\$call(?P<names>\.(?:id|now|elapsed_ms|may_escalate))")),
    ("item", re.compile(rf"@{_POINTER}")),
)


def parse_expression(text: str) -> ReadExpression | None:
    """The parsed expression. None if `text` is not an expression.

    `$inputs` is followed by names with dots, or by `#` and a JSON Pointer (RFC 6901).
    `$request.body`, `$response.body` and `@` are followed by a pointer. Header names (RFC 9110
    tokens) are converted to lower case, as in a reply.
    """
    for root, form in _FORMS:
        if found := form.fullmatch(text):
            parts = found.groupdict()
            if names := parts.get("names"):
                names = names.lower() if root == "header" else names
                return ReadExpression(root, tuple(names[1:].split(".")))
            return ReadExpression(root, tuple(steps(parts.get("steps") or "")))
    return None
