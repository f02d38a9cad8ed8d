"""Generates the Python expressions that read values."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from gateway.contract.schemas.algebra import kinds
from gateway.mapping.fields.analysis.scope import PathStep, Scope, SourceValues
from gateway.mapping.fields.language.nodes import ItemFilter, ReadExpression
from gateway.mapping.fields.python.pycode import Module, literal

_ROOTS = {
    "inputs": "arguments",
    "payload": "payload",
    "body": "body",
    "header": "reply.headers",
    "settings": "call.settings",
    "item": "item",
}
_CALL_FACTS = {
    "id": "call.id",
    "now": "call.now",
    "tenant": "call.tenant",
    "elapsed_ms": "reply.elapsed_ms",
    "may_escalate": "call.may_escalate",
}

_STATED = frozenset({"call", "settings"})
"""Roots whose values are absent if they are empty."""


def read(module: Module, values: SourceValues) -> str:
    """The expression that reads the value, or `ABSENT` if it is absent."""
    if values.source.root == "call":
        fact = _CALL_FACTS[values.source.steps[0]]
        return f"({fact} or {module.word('ABSENT')})" if values.may_be_absent else fact
    if values.source.root == "settings" and values.may_be_absent:
        return f"{module.word('stated')}(call.settings, {literal(values.source.steps[0])})"
    base, rest = _certain(values)
    return _read_rest(module, values, base, rest) if rest else _not_null(module, values, base)


def _read_rest(module: Module, values: SourceValues, base: str, rest: Sequence[PathStep]) -> str:
    """The expression that reads the steps `rest` of `base`, which is always present."""
    if len(rest) == 1 and rest[0].is_in_object:
        default = module.word("ABSENT") if values.default is UNSET else literal(values.default)
        if values.is_null_absent:
            return f"{module.word('not_null')}({base}.get({literal(rest[0].key)}))"
        return f"{base}.get({literal(rest[0].key)}, {default})"
    keys = ", ".join(literal(step.key) for step in rest)
    dug = _not_null(module, values, f"{module.word('dig')}({base}, {keys})")
    if values.default is UNSET:
        return dug
    return f"{module.word('or_default')}({dug}, {literal(values.default)})"


def read_or_none(module: Module, values: SourceValues) -> str:
    """The expression that reads the value, or None if it is absent."""
    if not values.may_be_absent:
        return read(module, values)
    if values.source.root in _STATED:
        return f"{module.word('or_none')}({read(module, values)})"
    base, rest = _certain(values)
    if not rest:
        return base
    if len(rest) == 1 and rest[0].is_in_object:
        return f"{base}.get({literal(rest[0].key)})"
    return f"{module.word('or_none')}({read(module, values)})"


def is_present(module: Module, values: SourceValues) -> str:
    """The condition that the value is present. Empty if it is always present."""
    if not values.may_be_absent:
        return ""
    base, rest = _certain(values)
    is_member = values.source.root not in _STATED and len(rest) == 1 and rest[0].is_in_object
    if is_member and not values.is_null_absent:
        return f"{literal(rest[0].key)} in {base}"
    return f"{read(module, values)} is not {module.word('ABSENT')}"


def keep_text(module: Module, keep: ItemFilter, scope: Scope) -> str:
    """A predicate on `item` for `keep`, in the scope of any item. Empty if all items are kept."""
    needed = "" if keep.needed is None else is_present(module, scope.find(keep.needed))
    inner = scope.assuming(keep.needed)
    allowed = (
        _is_one_of(module, inner.find(source), constants)
        for source, constants in keep.allowed.items()
    )
    text = " and ".join(filter(None, (needed, *allowed)))
    return f"lambda item: {text}" if text else ""


def _is_one_of(module: Module, values: SourceValues, constants: tuple[Any, ...]) -> str:
    text = read(module, values)
    if kinds(values.schema) >= {"boolean", "number"}:
        return f"{module.word('is_one_of')}({text}, {literal(constants)})"
    if len(constants) == 1 and isinstance(constants[0], str):
        return f"{text} == {literal(constants[0])}"
    return f"{text} in {literal(constants)}"


def parameters(sources: Sequence[ReadExpression]) -> list[str]:
    """The parameters that a function needs to read `sources`, in their fixed order."""
    needed = {_parameter(source) for source in sources}
    return [
        name for name in ("item", "arguments", "payload", "call", "body", "reply") if name in needed
    ]


def _parameter(source: ReadExpression) -> str:
    text = _CALL_FACTS[source.steps[0]] if source.root == "call" else _ROOTS[source.root]
    return text.partition(".")[0]


def _certain(values: SourceValues) -> tuple[str, Sequence[PathStep]]:
    """The expression that reads the steps that are always present, and the other steps."""
    text = _ROOTS.get(values.source.root, "")
    for index, step in enumerate(values.steps):
        if not step.is_certain:
            return text, values.steps[index:]
        text += f"[{literal(step.key)}]"
    return text, ()


def _not_null(module: Module, values: SourceValues, text: str) -> str:
    return f"{module.word('not_null')}({text})" if values.is_null_absent else text
