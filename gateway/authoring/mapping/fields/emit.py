"""Generates the Python expressions that read, map and send the values of a field map."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from gateway.authoring.mapping.fields.images import CONVERT
from gateway.authoring.mapping.fields.nodes import (
    Constant,
    Conversion,
    Count,
    Each,
    Fallback,
    FieldFunction,
    ItemFilter,
    Items,
    Members,
    Read,
    ReadExpression,
    Reference,
    Value,
)
from gateway.authoring.mapping.fields.pycode import Module, literal, tuple_text
from gateway.authoring.mapping.fields.scope import (
    PathStep,
    Scope,
    SourceValues,
    inner_scope,
    is_droppable,
    is_needed,
    may_be_absent,
    sources_of,
)
from gateway.authoring.mapping.fields.walk import DEEP, Parameter, parameter_key, template_parts
from gateway.contract.fields.fieldmap import text as text_of
from gateway.contract.schemas.algebra import Schema, bare, kinds
from gateway.contract.schemas.shapes import element, items_of, member
from gateway.contract.upstream import UpstreamOperation

# The context in which the Python expression of a value is generated.


class EmitContext(Struct, frozen=True, kw_only=True):
    """The module, the scope, the target schema and the path of a value."""

    module: Module
    scope: Scope
    target: Schema
    """The target schema of the value."""
    path: tuple[str, ...] = ()
    """The names of the members that lead to the value. Constants are named after them."""

    def inside(self, value: Value) -> "EmitContext":
        """The context inside `value`."""
        return replace(self, scope=inner_scope(value, self.scope))

    def at(self, name: str) -> "EmitContext":
        """The context of the member `name`."""
        found = member(self.target, name)
        return replace(self, target=found.schema if found else {}, path=(*self.path, name))

    def among_items(self) -> "EmitContext":
        """The context of any element of the array."""
        return replace(self, target=items_of(self.target))

    def at_index(self, index: int) -> "EmitContext":
        """The context of one element of the array."""
        return replace(self, target=element(self.target, index))


# Generates the Python expressions that read values.

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
    found = kinds(values.schema)
    if found >= {"boolean", "number"} or found & {"array", "object"}:
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


# Generates the Python expressions of mapped values, and the functions that map list items.
#
# Generates the Python expression of `{value: EXPR, …}`.
#
# The order is: read, map or convert, check (`onGap`), default.


def emit_read(value: Read, context: EmitContext) -> str:
    """The expression of `value` without its `when`."""
    values = context.scope.find(value.source)
    text = read(context.module, values)
    if value.table is not None:
        text = _mapped(value, context, values, text)
    elif value.conversion is not None:
        text = _converted(value, value.conversion, context, values, text)
    if value.gap is not None:
        # Also where a proof says that it is never needed: the author asked for it.
        text = _guarded(value.gap, context, values, text)
    if values.may_be_absent and is_needed(value):
        # After mapping and conversion, so that the fallback is neither mapped nor converted.
        last = _fallback_code(value.gap, context.module)
        text = f"{context.module.word('needed')}({text}, {literal(values.pointer)}{last})"
    return _defaulted(value, context, text)


def _defaulted(value: Read, context: EmitContext, text: str) -> str:
    """`text` with the contract's default instead of `ABSENT`."""
    default = value.presence.default
    if default is UNSET or not _may_yield_absent(value, context):
        return text
    return f"{context.module.word('or_default')}({text}, {literal(default)})"


def _may_yield_absent(value: Read, context: EmitContext) -> bool:
    is_dropped = any(
        fallback and fallback.kind == "omit" for fallback in (value.unmapped, value.gap)
    )
    return is_dropped or context.scope.find(value.source).may_be_absent


def _mapped(value: Read, context: EmitContext, values: SourceValues, text: str) -> str:
    mapping = context.module.use("collections.abc", "Mapping")
    anything = context.module.use("typing", "Any")
    kind = f"[{mapping}[str, {anything}]]"
    table = context.module.constant(context.path or ("item",), literal(value.table), kind)
    last = _fallback_code(value.unmapped or value.gap, context.module)
    return f"{context.module.word('mapped')}({text}, {table}, {literal(values.pointer)}{last})"


def _converted(
    value: Read, conversion: Conversion, context: EmitContext, values: SourceValues, text: str
) -> str:
    kind = kinds(values.schema)
    if conversion == "string" and not kind & {"null", "array", "object"}:
        return text if kind == {"string"} else f"{context.module.word('text')}({text})"
    convert = context.module.word(CONVERT[conversion].__name__)
    last = _fallback_code(value.gap, context.module)
    word = context.module.word("converted")
    return f"{word}({text}, {convert}, {literal(values.pointer)}{last})"


def _guarded(gap: Fallback, context: EmitContext, values: SourceValues, text: str) -> str:
    gate = context.module.use("gateway.contract.values.schema", "Validator")
    *parents, name = context.path or ("item",)
    path = (*parents, f"{name}_gate")
    guard = context.module.constant(path, f"{gate}({literal(bare(context.target))})")
    last = _fallback_code(gap, context.module)
    word = context.module.word("guarded")
    return f"{word}({text}, {guard}, {literal(values.pointer)}{last})"


def _fallback_code(fallback: Fallback | None, module: Module) -> str:
    """The argument for the fallback. Empty for the default fallback, which refuses the value."""
    match fallback:
        case None | Fallback(kind="error"):
            return ""
        case Fallback(kind="omit"):
            return f", {module.word('ABSENT')}"
        case Fallback(kind="skip-item"):
            return f", {module.word('SKIP')}"
        case Fallback(constant=constant):
            return f", {literal(constant)}"


def emit(value: Value, context: EmitContext) -> str:
    """The expression of `value`. It gives `ABSENT` if the source of `when` is absent."""
    text = _emit(value, context.inside(value))
    when = value.presence.when
    condition = is_present(context.module, context.scope.find(when)) if when is not None else ""
    return f"({text} if {condition} else {context.module.word('ABSENT')})" if condition else text


def emit_members(value: Members, context: EmitContext) -> str:
    """The expression of an object with the members of `value` in the order of the contract."""
    if value.presence.is_omitted_if_absent:
        return _emit_whole(value, context)
    body = _braces(value, list(value.values), context)
    if any(may_be_absent(member, context.scope) for member in value.values.values()):
        return f"{context.module.word('present')}({body})"
    return body


def _emit(value: Value, context: EmitContext) -> str:
    match value:
        case Read():
            return emit_read(value, context)
        case Constant():
            return literal(value.value)
        case Members():
            return emit_members(value, context)
        case Items():
            return _emit_items(value, context)
        case Each() | Count():
            return _emit_list(value, context)
        case FieldFunction() | Reference():
            return _emit_made(value, context)


def _emit_whole(value: Members, context: EmitContext) -> str:
    optional = [
        name
        for name, member in value.values.items()
        if is_droppable(member) and may_be_absent(member, context.scope)
    ]
    needed = [name for name in value.values if name not in optional]
    rest = f", {_braces(value, optional, context)}" if optional else ""
    return f"{context.module.word('whole')}({_braces(value, needed, context)}{rest})"


def _braces(value: Members, names: list[str], context: EmitContext) -> str:
    parts = (f"{literal(name)}: {emit(value.values[name], context.at(name))}" for name in names)
    return "{" + ", ".join(parts) + "}"


def _emit_items(value: Items, context: EmitContext) -> str:
    parts = enumerate(value.values)
    texts = ", ".join(emit(part, context.at_index(index)) for index, part in parts)
    if any(may_be_absent(member, context.scope) for member in value.values):
        return f"{context.module.word('listed')}({texts})"
    return f"[{texts}]"


def _emit_list(value: Each | Count, context: EmitContext) -> str:
    text = _emit_each(value, context) if isinstance(value, Each) else _emit_count(value, context)
    default = value.presence.default
    if default is UNSET or not context.scope.find(value.source).may_be_absent:
        return text
    return f"{context.module.word('or_default')}({text}, {literal(default)})"


def _emit_each(value: Each, context: EmitContext) -> str:
    items = context.scope.find(value.source)
    scope = context.scope.entering(items, value.keep)
    inner = replace(context.among_items(), scope=scope)
    arguments = [read(context.module, items), _emit_item(value.item, inner)]
    if value.limit is not None:
        arguments.append(f"limit={value.limit}")
    if keep := keep_text(context.module, value.keep, context.scope.entering_any(items)):
        arguments.append(f"keep={keep}")
    return f"{context.module.word('each')}({', '.join(arguments)})"


def _emit_item(value: Value, context: EmitContext) -> str:
    """The function that maps one item: a named function for an object, else a lambda."""
    if not isinstance(value, Members) or value.presence.when is not None:
        return f"lambda item: {emit(value, context)}"
    name = context.module.function(context.path or ("item",))
    needed = ["item", *(root for root in parameters(sources_of(value)) if root != "item")]
    context.module.define(name, needed, "dict[str, Any]", [emit_members(value, context)])
    return name if needed == ["item"] else f"lambda item: {name}({', '.join(needed)})"


def _emit_count(value: Count, context: EmitContext) -> str:
    items = context.scope.find(value.source)
    text = read(context.module, items)
    keep = keep_text(context.module, value.keep, context.scope.entering_any(items))
    if not keep and not items.may_be_absent:
        return f"len({text})"
    return f"{context.module.word('count')}({text}{', ' + keep if keep else ''})"


def _emit_made(value: FieldFunction | Reference, context: EmitContext) -> str:
    if isinstance(value, FieldFunction):
        return _emit_function(value, context)
    inner = replace(context, target=context.scope.entities[value.kind])
    key = emit_members(value.key, inner)
    return f"{context.module.word('reference')}({literal(value.kind)}, {key})"


def _emit_function(value: FieldFunction, context: EmitContext) -> str:
    function = context.module.use(value.module, value.function)
    arguments = map(context.scope.find, value.arguments)
    texts = (read_or_none(context.module, argument) for argument in arguments)
    text = f"{function}({', '.join(texts)})"
    if value.presence.is_omitted_if_absent:
        return f"{context.module.word('not_null')}({text})"
    if value.presence.default is not UNSET:
        known = f"{context.module.word('not_null')}({text})"
        return f"{context.module.word('or_default')}({known}, {literal(value.presence.default)})"
    return text


# Generates the Python expressions of values sent as text: path segments, queries and headers.

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
