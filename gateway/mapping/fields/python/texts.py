"""The Python text of values that travel as text: path segments, query values, headers."""

from gateway.contract.fields.fieldmap import text as text_of
from gateway.contract.upstream import UpstreamOperation
from gateway.mapping.fields.analysis.algebra import kinds
from gateway.mapping.fields.analysis.places import Scope
from gateway.mapping.fields.analysis.presence import inner_scope, may_be_absent
from gateway.mapping.fields.analysis.targets import Parameter, parameter_key, template_parts
from gateway.mapping.fields.language.nodes import Constant, Each, Items, Members, Read, Value
from gateway.mapping.fields.python.emit import emit
from gateway.mapping.fields.python.pycode import literal, tuple_text
from gateway.mapping.fields.python.site import EmitContext

_TEXT_CONVERSIONS = frozenset({"string", "decimal-2", "date", "time", "date-time"})


def emit_path(group: Members, operation: UpstreamOperation, site: EmitContext) -> str:
    """The segments of the operation's path template, filled in."""
    segments = [
        " + ".join(
            emit_scalar(group.values[part], site.at(part)) if is_name else literal(part)
            for is_name, part in parts
        )
        for parts in template_parts(operation.path)
    ]
    return tuple_text(segments)


def emit_pairs(
    group: Members, parameters: dict[str, Parameter], kind: str, site: EmitContext
) -> str:
    """The query or the headers, in the order of the contract."""
    written = [
        _Pairs(name, value, parameters[parameter_key(kind, name)], site.at(name))
        for name, value in group.values.items()
    ]
    if any(pair.is_repeated for pair in written):
        return tuple_text([pair.starred() for pair in written])
    texts = [pair.single() for pair in written]
    if any(pair.may_be_absent for pair in written):
        return f"{site.module.word('pairs')}({', '.join(texts)})"
    return tuple_text(texts)


class _Pairs:
    """One parameter as the pairs of name and text that it becomes."""

    def __init__(self, name: str, value: Value, parameter: Parameter, site: EmitContext) -> None:
        self._name, self._value, self._site = name, value, site
        self.may_be_absent = may_be_absent(value, site.scope)
        self._is_list = is_list(value, site.scope)
        self.is_repeated = self._is_list and parameter.style == "form" and parameter.is_exploded

    def single(self) -> str:
        text = self._joined() if self._is_list else emit_scalar(self._value, self._site)
        return f"({literal(self._name)}, {text})"

    def starred(self) -> str:
        if self.is_repeated:
            word = self._site.module.word("repeated")
            return f"*{word}({literal(self._name)}, {emit(self._value, self._site)})"
        if self.may_be_absent:
            return f"*{self._site.module.word('pairs')}({self.single()})"
        return self.single()

    def _joined(self) -> str:
        pointer = self._value.source.json_pointer if isinstance(self._value, Read | Each) else ""
        word = self._site.module.word("joined")
        return f"{word}({emit(self._value, self._site)}, {literal(pointer)})"


def is_list(value: Value, scope: Scope) -> bool:
    """Whether `value` becomes an array."""
    match value:
        case Each() | Items():
            return True
        case Constant(value=constant):
            return isinstance(constant, list)
        case Read(source=source, conversion=None, table=None):
            return kinds(inner_scope(value, scope).find(source).schema) == {"array"}
        case _:
            return False


def emit_scalar(value: Value, site: EmitContext) -> str:
    """The text of a value that is no list."""
    text = emit(value, site)
    match value:
        case Constant(value=constant, presence=presence) if presence.when is None:
            return literal(text_of(constant))
        case Read() if is_text(value, site):
            return text
        case _:
            return f"{site.module.word('text')}({text})"


def is_text(value: Read, site: EmitContext) -> bool:
    """Whether every value is a text already."""
    if value.table is not None:
        return False
    if value.conversion is not None:
        return value.conversion in _TEXT_CONVERSIONS
    return kinds(site.inside(value).scope.find(value.source).schema) == {"string"}
