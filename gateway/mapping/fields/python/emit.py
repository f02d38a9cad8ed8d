"""The Python text of mapped values of every kind, and the functions that lists are mapped by."""

from msgspec import UNSET
from msgspec.structs import replace

from gateway.mapping.fields.analysis.presence import is_droppable, may_be_absent
from gateway.mapping.fields.analysis.sources import sources_of
from gateway.mapping.fields.language.nodes import (
    Constant,
    Count,
    Each,
    FieldFunction,
    Items,
    Members,
    Read,
    Reference,
    Value,
)
from gateway.mapping.fields.python.emit_read import emit_read
from gateway.mapping.fields.python.pycode import literal
from gateway.mapping.fields.python.reading import (
    is_present,
    keep_text,
    parameters,
    read,
    read_or_none,
)
from gateway.mapping.fields.python.site import EmitContext


def emit(value: Value, site: EmitContext) -> str:
    """An expression for `value`, which is `ABSENT` where its `when` does not hold."""
    text = _emit(value, site.inside(value))
    when = value.presence.when
    condition = is_present(site.module, site.scope.find(when)) if when is not None else ""
    return f"({text} if {condition} else {site.module.word('ABSENT')})" if condition else text


def emit_members(value: Members, site: EmitContext) -> str:
    """An expression for an object, with `value`'s members in the order of the contract."""
    if value.presence.is_omitted_if_absent:
        return _emit_whole(value, site)
    body = _braces(value, list(value.values), site)
    if any(may_be_absent(member, site.scope) for member in value.values.values()):
        return f"{site.module.word('present')}({body})"
    return body


def _emit(value: Value, site: EmitContext) -> str:
    match value:
        case Read():
            return emit_read(value, site)
        case Constant():
            return literal(value.value)
        case Members():
            return emit_members(value, site)
        case Items():
            return _emit_items(value, site)
        case Each() | Count():
            return _emit_list(value, site)
        case FieldFunction() | Reference():
            return _emit_made(value, site)


def _emit_whole(value: Members, site: EmitContext) -> str:
    optional = [
        name
        for name, member in value.values.items()
        if is_droppable(member) and may_be_absent(member, site.scope)
    ]
    needed = [name for name in value.values if name not in optional]
    rest = f", {_braces(value, optional, site)}" if optional else ""
    return f"{site.module.word('whole')}({_braces(value, needed, site)}{rest})"


def _braces(value: Members, names: list[str], site: EmitContext) -> str:
    parts = (f"{literal(name)}: {emit(value.values[name], site.at(name))}" for name in names)
    return "{" + ", ".join(parts) + "}"


def _emit_items(value: Items, site: EmitContext) -> str:
    inner = site.among_items()
    texts = ", ".join(emit(member, inner) for member in value.values)
    if any(may_be_absent(member, site.scope) for member in value.values):
        return f"{site.module.word('listed')}({texts})"
    return f"[{texts}]"


def _emit_list(value: Each | Count, site: EmitContext) -> str:
    text = _emit_each(value, site) if isinstance(value, Each) else _emit_count(value, site)
    default = value.presence.default
    if default is UNSET or not site.scope.find(value.source).may_be_absent:
        return text
    return f"{site.module.word('or_default')}({text}, {literal(default)})"


def _emit_each(value: Each, site: EmitContext) -> str:
    items = site.scope.find(value.source)
    scope = site.scope.entering(items, value.keep)
    inner = replace(site.among_items(), scope=scope)
    arguments = [read(site.module, items), _emit_item(value.item, inner)]
    if value.limit is not None:
        arguments.append(f"limit={value.limit}")
    if keep := keep_text(site.module, value.keep, site.scope.entering_any(items)):
        arguments.append(f"keep={keep}")
    return f"{site.module.word('each')}({', '.join(arguments)})"


def _emit_item(value: Value, site: EmitContext) -> str:
    """The function that maps one item: a name for objects, a lambda for anything smaller."""
    if not isinstance(value, Members) or value.presence.when is not None:
        return f"lambda item: {emit(value, site)}"
    name = site.module.function(site.path or ("item",))
    needed = ["item", *(root for root in parameters(sources_of(value)) if root != "item")]
    site.module.define(name, needed, "dict[str, Any]", [emit_members(value, site)])
    return name if needed == ["item"] else f"lambda item: {name}({', '.join(needed)})"


def _emit_count(value: Count, site: EmitContext) -> str:
    items = site.scope.find(value.source)
    text = read(site.module, items)
    keep = keep_text(site.module, value.keep, site.scope.entering_any(items))
    if not keep and not items.may_be_absent:
        return f"len({text})"
    return f"{site.module.word('count')}({text}{', ' + keep if keep else ''})"


def _emit_made(value: FieldFunction | Reference, site: EmitContext) -> str:
    if isinstance(value, FieldFunction):
        return _emit_function(value, site)
    inner = replace(site, target=site.scope.entities[value.kind])
    key = emit_members(value.key, inner)
    return f"{site.module.word('reference')}({literal(value.kind)}, {key})"


def _emit_function(value: FieldFunction, site: EmitContext) -> str:
    function = site.module.use(value.module, value.function)
    places = map(site.scope.find, value.arguments)
    text = f"{function}({', '.join(read_or_none(site.module, place) for place in places)})"
    if value.presence.is_omitted_if_absent:
        return f"{site.module.word('not_null')}({text})"
    if value.presence.default is not UNSET:
        known = f"{site.module.word('not_null')}({text})"
        return f"{site.module.word('or_default')}({known}, {literal(value.presence.default)})"
    return text
