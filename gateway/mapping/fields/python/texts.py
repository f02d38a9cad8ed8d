"""Generates the Python expressions of values sent as text: path segments, queries and headers."""

from gateway.contract.fields.fieldmap import text as text_of
from gateway.contract.schemas.algebra import kinds
from gateway.contract.upstream import UpstreamOperation
from gateway.mapping.fields.analysis.presence import inner_scope, may_be_absent
from gateway.mapping.fields.analysis.scope import Scope
from gateway.mapping.fields.analysis.sources import sources_of
from gateway.mapping.fields.analysis.targets import (
    DEEP,
    Parameter,
    parameter_key,
    template_parts,
)
from gateway.mapping.fields.language.nodes import Constant, Each, Items, Members, Read, Value
from gateway.mapping.fields.python.emit import emit
from gateway.mapping.fields.python.emit_context import EmitContext
from gateway.mapping.fields.python.pycode import literal, tuple_text

_TEXT_CONVERSIONS = frozenset({"string", "decimal-2", "date", "time", "date-time"})


def emit_path(group: Members, operation: UpstreamOperation, context: EmitContext) -> str:
    """The expression of the segments of the operation's path."""
    segments = [
        " + ".join(
            emit_scalar(group.values[part], context.at(part)) if is_name else literal(part)
            for is_name, part in parts
        )
        for parts in template_parts(operation.path)
    ]
    return tuple_text(segments)


def emit_path_arguments(group: Members, operation: UpstreamOperation) -> str:
    """The expression of `UpstreamRequest.path_arguments`. Empty if the path has no arguments."""
    found = [
        ", ".join(pointer for is_name, part in parts if is_name for pointer in _read(group, part))
        for parts in template_parts(operation.path)
    ]
    return tuple_text([literal(text) for text in found]) if any(found) else ""


def _read(group: Members, name: str) -> list[str]:
    sources = sources_of(group.values[name])
    return [each.json_pointer for each in sources if each.root == "inputs"]


def emit_pairs(
    group: Members, parameters: dict[str, Parameter], kind: str, context: EmitContext
) -> str:
    """The expression of the query or the headers, in the order of the contract."""
    written = [
        _Pairs(name, value, parameters[parameter_key(kind, name)], context.at(name))
        for name, value in group.values.items()
    ]
    if any(pair.is_repeated for pair in written):
        return tuple_text([pair.starred() for pair in written])
    texts = [pair.single() for pair in written]
    if any(pair.may_be_absent for pair in written):
        return f"{context.module.word('pairs')}({', '.join(texts)})"
    return tuple_text(texts)


class _Pairs:
    """One parameter, which becomes pairs of name and text."""

    def __init__(self, name: str, value: Value, parameter: Parameter, context: EmitContext) -> None:
        self._name, self._value, self._context = name, value, context
        self.may_be_absent = may_be_absent(value, context.scope)
        self._is_list = is_list(value, context.scope)
        self._is_deep = parameter.style == DEEP
        self.is_repeated = self._is_list and parameter.style == "form" and parameter.is_exploded

    def single(self) -> str:
        if self._is_deep:
            text = emit(self._value, self._context)
        else:
            text = self._joined() if self._is_list else emit_scalar(self._value, self._context)
        return f"({literal(self._name)}, {text})"

    def starred(self) -> str:
        if self.is_repeated:
            word = self._context.module.word("repeated")
            return f"*{word}({literal(self._name)}, {emit(self._value, self._context)})"
        if self.may_be_absent:
            return f"*{self._context.module.word('pairs')}({self.single()})"
        return self.single()

    def _joined(self) -> str:
        pointer = self._value.source.json_pointer if isinstance(self._value, Read | Each) else ""
        word = self._context.module.word("joined")
        return f"{word}({emit(self._value, self._context)}, {literal(pointer)})"


def is_list(value: Value, scope: Scope) -> bool:
    """Whether the result of `value` is an array."""
    match value:
        case Each() | Items():
            return True
        case Constant(value=constant):
            return isinstance(constant, list)
        case Read(source=source, conversion=None, table=None):
            return kinds(inner_scope(value, scope).find(source).schema) == {"array"}
        case _:
            return False


def emit_scalar(value: Value, context: EmitContext) -> str:
    """The expression of a value that is not a list, as text."""
    text = emit(value, context)
    match value:
        case Constant(value=constant, presence=presence) if presence.when is None:
            return literal(text_of(constant))
        case Read() if is_text(value, context):
            return text
        case _:
            return f"{context.module.word('text')}({text})"


def is_text(value: Read, context: EmitContext) -> bool:
    """Whether the result of the read is always a text."""
    if value.table is not None:
        return False
    if value.conversion is not None:
        return value.conversion in _TEXT_CONVERSIONS
    return kinds(context.inside(value).scope.find(value.source).schema) == {"string"}
