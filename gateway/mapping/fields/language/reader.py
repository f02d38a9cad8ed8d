"""Reads plain JSON values and collects all problems, so that one run reports all of them."""

import re
from collections.abc import Collection
from typing import Any, Final

from gateway.contract.values.pointers import child, steps
from gateway.mapping.fields.language.nodes import MappingError, ReadExpression, Root

_POINTER: Final = r"(?P<steps>(?:/(?:[^~/]|~[01])*)*)"
_FORMS: Final[tuple[tuple[Root, re.Pattern[str]], ...]] = (
    ("inputs", re.compile(r"\$inputs(?P<names>(?:\.[A-Za-z0-9_-]+)*)")),
    ("inputs", re.compile(rf"\$inputs#{_POINTER}")),
    ("payload", re.compile(rf"\$request\.body(?:#{_POINTER})?")),
    ("body", re.compile(rf"\$response\.body(?:#{_POINTER})?")),
    ("header", re.compile(r"\$response\.header(?P<names>\.[!#$%&'*+^_`|~0-9A-Za-z-]+)")),
    ("settings", re.compile(r"\$settings(?P<names>\.[a-z][a-z0-9_]*)")),
    ("call", re.compile(r"\$call(?P<names>\.(?:id|now|tenant|elapsed_ms|may_escalate))")),
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


_EXPRESSIONS = (
    "write one of $inputs.name, $inputs#/pointer, $response.body#/pointer, $response.header.Name, "
    "$settings.name, $call.id, $call.now, $call.elapsed_ms, $call.may_escalate, @ and @/pointer, "
    "or $request.body#/pointer and $call.tenant of a webhook; "
    "a constant is {const: …}"
)


class Reader:
    """Collects problems. A part with a problem is read as an empty one, and reading continues."""

    def __init__(self) -> None:
        self.problems: list[MappingError] = []

    def refuse(self, pointer: str, message: str, fix: str, rule: str = "shape") -> None:
        problem = MappingError(pointer=pointer, rule=f"binding/{rule}", message=message, fix=fix)
        self.problems.append(problem)

    def mapping(self, value: Any, pointer: str, known: Collection[str] | None = None) -> Any:
        """`value` as a mapping. A name that is not in `known` is a problem."""
        if not isinstance(value, dict):
            self.refuse(pointer, "must be a mapping", "write names with their values")
            return {}
        if not all(isinstance(name, str) for name in value):
            self.refuse(pointer, "contains a name that is not text", "put the name in quotes")
            return {}
        for name in value:
            if known is not None and name not in known:
                fix = f"use only {', '.join(sorted(known))}"
                self.refuse(child(pointer, name), "is not known here", fix)
        return value

    def text(self, holder: dict[str, Any], name: str, pointer: str) -> str:
        value = holder.get(name)
        if not isinstance(value, str) or not value:
            self.refuse(f"{pointer}/{name}", "must be a text", f"write the {name}")
            return ""
        return value

    def expression(self, value: Any, pointer: str) -> ReadExpression:
        source = parse_expression(value) if isinstance(value, str) else None
        if source is None:
            self.refuse(pointer, "is not an expression", _EXPRESSIONS, "expression")
            return ReadExpression("inputs")
        return source

    def optional_expression(
        self, holder: dict[str, Any], name: str, pointer: str
    ) -> ReadExpression | None:
        return self.expression(holder[name], f"{pointer}/{name}") if name in holder else None
