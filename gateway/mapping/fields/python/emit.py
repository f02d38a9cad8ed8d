"""Generates the Python expressions of mapped values, and the functions that map list items.

Generates the Python expression of `{value: EXPR, …}`.

The order is: read, map or convert, check (`onGap`), default.
"""

from msgspec import UNSET
from msgspec.structs import replace

from gateway.contract.schemas.algebra import bare, covers, kinds
from gateway.mapping.fields.analysis.images import CONVERT, image_of
from gateway.mapping.fields.analysis.presence import is_droppable, is_needed, may_be_absent
from gateway.mapping.fields.analysis.scope import SourceValues
from gateway.mapping.fields.analysis.sources import sources_of
from gateway.mapping.fields.language.nodes import (
    Constant,
    Conversion,
    Count,
    Each,
    Fallback,
    FieldFunction,
    Items,
    Members,
    Read,
    Reference,
    Value,
)
from gateway.mapping.fields.python.emit_context import EmitContext
from gateway.mapping.fields.python.pycode import Module, literal
from gateway.mapping.fields.python.reading import (
    is_present,
    keep_text,
    parameters,
    read,
    read_or_none,
)


def emit_read(value: Read, context: EmitContext) -> str:
    """The expression of `value` without its `when`."""
    values = context.scope.find(value.source)
    text = read(context.module, values)
    if value.table is not None:
        text = _mapped(value, context, values, text)
    elif value.conversion is not None:
        text = _converted(value, value.conversion, context, values, text)
    if value.gap is not None and not _is_always_admitted(value, context, values):
        text = _guarded(value.gap, context, values, text)
    if values.may_be_absent and is_needed(value):
        # After mapping and conversion, so that the fallback is neither mapped nor converted.
        last = _fallback_code(value.gap, context.module)
        text = f"{context.module.word('needed')}({text}, {literal(values.pointer)}{last})"
    return _defaulted(value, context, text)


def _is_always_admitted(value: Read, context: EmitContext, values: SourceValues) -> bool:
    """Whether the target allows every converted value, so that no validator is needed.

    The results of a map are constants, which were checked with the contract.
    """
    return (
        value.table is not None
        or covers(context.target, image_of(value, values.schema).schema) is True
    )


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
    inner = context.among_items()
    texts = ", ".join(emit(member, inner) for member in value.values)
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
