"""The Python text that reads a place."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from gateway.mapping.fields.analysis.algebra import kinds
from gateway.mapping.fields.analysis.places import PathStep, Scope, SourceValues
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
_CALL_FACTS = {"id": "call.id", "now": "call.now", "elapsed_ms": "reply.elapsed_ms"}


def read(module: Module, place: SourceValues) -> str:
    """The value at `place`, or `ABSENT` where it may be absent."""
    if place.source.root == "call":
        return _CALL_FACTS[place.source.steps[0]]
    if place.source.root == "settings" and place.may_be_absent:
        return f"{module.word('stated')}(call.settings, {literal(place.source.steps[0])})"
    base, rest = _certain(place)
    return _read_rest(module, place, base, rest) if rest else _not_null(module, place, base)


def _read_rest(module: Module, place: SourceValues, base: str, rest: Sequence[PathStep]) -> str:
    """What is left to read of `place` when `base` is there for certain."""
    if len(rest) == 1 and rest[0].is_in_object:
        default = module.word("ABSENT") if place.default is UNSET else literal(place.default)
        if place.is_null_absent:
            return f"{module.word('not_null')}({base}.get({literal(rest[0].key)}))"
        return f"{base}.get({literal(rest[0].key)}, {default})"
    keys = ", ".join(literal(step.key) for step in rest)
    dug = _not_null(module, place, f"{module.word('dig')}({base}, {keys})")
    if place.default is UNSET:
        return dug
    return f"{module.word('or_default')}({dug}, {literal(place.default)})"


def read_or_none(module: Module, place: SourceValues) -> str:
    """The value at `place`, or None where it may be absent."""
    if place.source.root == "call" or not place.may_be_absent:
        return read(module, place)
    if place.source.root == "settings":
        return f"{module.word('or_none')}({read(module, place)})"
    base, rest = _certain(place)
    if not rest:
        return base
    if len(rest) == 1 and rest[0].is_in_object:
        return f"{base}.get({literal(rest[0].key)})"
    return f"{module.word('or_none')}({read(module, place)})"


def is_present(module: Module, place: SourceValues) -> str:
    """A condition that holds when there is a value at `place`; empty when there always is."""
    if not place.may_be_absent:
        return ""
    base, rest = _certain(place)
    is_member = place.source.root != "settings" and len(rest) == 1 and rest[0].is_in_object
    if is_member and not place.is_null_absent:
        return f"{literal(rest[0].key)} in {base}"
    return f"{read(module, place)} is not {module.word('ABSENT')}"


def keep_text(module: Module, keep: ItemFilter, scope: Scope) -> str:
    """A predicate on `item` for `keep`, in the scope of any item; empty when all are kept."""
    needed = "" if keep.needed is None else is_present(module, scope.find(keep.needed))
    inner = scope.assuming(keep.needed)
    allowed = (
        _is_one_of(module, inner.find(source), values) for source, values in keep.allowed.items()
    )
    text = " and ".join(filter(None, (needed, *allowed)))
    return f"lambda item: {text}" if text else ""


def _is_one_of(module: Module, place: SourceValues, values: tuple[Any, ...]) -> str:
    text = read(module, place)
    if kinds(place.schema) >= {"boolean", "number"}:
        return f"{module.word('is_one_of')}({text}, {literal(values)})"
    if len(values) == 1 and isinstance(values[0], str):
        return f"{text} == {literal(values[0])}"
    return f"{text} in {literal(values)}"


def parameters(sources: Sequence[ReadExpression]) -> list[str]:
    """The parameters that reading `sources` takes, in the order in which they are always passed."""
    needed = {_parameter(source) for source in sources}
    return [
        name for name in ("item", "arguments", "payload", "call", "body", "reply") if name in needed
    ]


def _parameter(source: ReadExpression) -> str:
    text = _CALL_FACTS[source.steps[0]] if source.root == "call" else _ROOTS[source.root]
    return text.partition(".")[0]


def _certain(place: SourceValues) -> tuple[str, Sequence[PathStep]]:
    """The text that reads the steps that are always there, and the steps that are left."""
    text = _ROOTS.get(place.source.root, "")
    for index, step in enumerate(place.steps):
        if not step.is_certain:
            return text, place.steps[index:]
        text += f"[{literal(step.key)}]"
    return text, ()


def _not_null(module: Module, place: SourceValues, text: str) -> str:
    return f"{module.word('not_null')}({text})" if place.is_null_absent else text
