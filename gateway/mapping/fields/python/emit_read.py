"""Generates the Python expression of `{value: EXPR, …}`.

The order is: read, map or convert, check (`onGap`), default.
"""

from msgspec import UNSET

from gateway.mapping.fields.analysis.algebra import bare, covers, kinds
from gateway.mapping.fields.analysis.images import CONVERT, image_of
from gateway.mapping.fields.analysis.presence import is_needed
from gateway.mapping.fields.analysis.scope import SourceValues
from gateway.mapping.fields.language.nodes import Conversion, Fallback, Read
from gateway.mapping.fields.python.emit_context import EmitContext
from gateway.mapping.fields.python.pycode import Module, literal
from gateway.mapping.fields.python.reading import read


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
