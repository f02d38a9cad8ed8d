"""The Python text of `{value: EXPR, …}`: read, then map or convert, then guard, then default."""

from msgspec import UNSET

from gateway.mapping.fields.analysis.algebra import bare, covers, kinds
from gateway.mapping.fields.analysis.images import CONVERT, image_of
from gateway.mapping.fields.analysis.places import SourceValues
from gateway.mapping.fields.analysis.presence import is_needed
from gateway.mapping.fields.language.nodes import Conversion, Fallback, Read
from gateway.mapping.fields.python.pycode import Module, literal
from gateway.mapping.fields.python.reading import read
from gateway.mapping.fields.python.site import EmitContext


def emit_read(value: Read, site: EmitContext) -> str:
    """An expression for `value`, whatever its `when` says."""
    place = site.scope.find(value.source)
    text = read(site.module, place)
    if value.table is not None:
        text = _mapped(value, site, place, text)
    elif value.conversion is not None:
        text = _converted(value, value.conversion, site, place, text)
    if value.gap is not None and not _is_always_admitted(value, site, place):
        text = _guarded(value.gap, site, place, text)
    if place.may_be_absent and is_needed(value):
        # Last, so that what stands for an absent value is neither converted nor mapped.
        last = _fallback_code(value.gap, site.module)
        text = f"{site.module.word('needed')}({text}, {literal(place.pointer)}{last})"
    return _defaulted(value, site, text)


def _is_always_admitted(value: Read, site: EmitContext, place: SourceValues) -> bool:
    """Whether the gap is only that a value is absent or has no counterpart: no gate is asked then.

    What a map yields is fixed, and was checked with the contract.
    """
    return (
        value.table is not None or covers(site.target, image_of(value, place.schema).schema) is True
    )


def _defaulted(value: Read, site: EmitContext, text: str) -> str:
    """`text` with the author's default in place of `ABSENT`."""
    default = value.presence.default
    if default is UNSET or not _may_yield_absent(value, site):
        return text
    return f"{site.module.word('or_default')}({text}, {literal(default)})"


def _may_yield_absent(value: Read, site: EmitContext) -> bool:
    is_dropped = any(
        fallback and fallback.kind == "omit" for fallback in (value.unmapped, value.gap)
    )
    return is_dropped or site.scope.find(value.source).may_be_absent


def _mapped(value: Read, site: EmitContext, place: SourceValues, text: str) -> str:
    mapping = site.module.use("collections.abc", "Mapping")
    anything = site.module.use("typing", "Any")
    kind = f"[{mapping}[str, {anything}]]"
    table = site.module.constant(site.path or ("item",), literal(value.table), kind)
    last = _fallback_code(value.unmapped or value.gap, site.module)
    return f"{site.module.word('mapped')}({text}, {table}, {literal(place.pointer)}{last})"


def _converted(
    value: Read, conversion: Conversion, site: EmitContext, place: SourceValues, text: str
) -> str:
    kind = kinds(place.schema)
    if conversion == "string" and not kind & {"null", "array", "object"}:
        return text if kind == {"string"} else f"{site.module.word('text')}({text})"
    convert = site.module.word(CONVERT[conversion].__name__)
    last = _fallback_code(value.gap, site.module)
    word = site.module.word("converted")
    return f"{word}({text}, {convert}, {literal(place.pointer)}{last})"


def _guarded(gap: Fallback, site: EmitContext, place: SourceValues, text: str) -> str:
    gate = site.module.use("gateway.contract.values.schema", "Validator")
    *parents, name = site.path or ("item",)
    path = (*parents, f"{name}_gate")
    guard = site.module.constant(path, f"{gate}({literal(bare(site.target))})")
    last = _fallback_code(gap, site.module)
    word = site.module.word("guarded")
    return f"{word}({text}, {guard}, {literal(place.pointer)}{last})"


def _fallback_code(fallback: Fallback | None, module: Module) -> str:
    """The argument that says what replaces a value that has no place."""
    match fallback:
        case None | Fallback(kind="error"):
            return ""
        case Fallback(kind="omit"):
            return f", {module.word('ABSENT')}"
        case Fallback(kind="skip-item"):
            return f", {module.word('SKIP')}"
        case Fallback(constant=constant):
            return f", {literal(constant)}"
