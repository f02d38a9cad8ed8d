"""Determines whether a mapped value may be absent from its object or list."""

from msgspec import UNSET

from gateway.mapping.fields.analysis.scope import Scope
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


def inner_scope(value: Value, scope: Scope) -> Scope:
    """The scope inside `value`, in which the source of its `when` is present."""
    return scope.assuming(value.presence.when)


def may_be_absent(value: Value, scope: Scope) -> bool:
    """Whether the compiled expression may yield `ABSENT`."""
    when = value.presence.when
    if when is not None and scope.find(when).may_be_absent:
        return True
    return _is_missing(value, inner_scope(value, scope))


def _is_missing(value: Value, scope: Scope) -> bool:
    """`may_be_absent` if the source of the value's own `when` is present."""
    match value:
        case Read() | Each() | Count():
            is_answered = value.presence.default is not UNSET or is_needed(value)
            is_lost = not is_answered and scope.find(value.source).may_be_absent
            return is_lost or (value.presence.default is UNSET and _is_dropped(value))
        case Members(presence=presence):
            return presence.is_omitted_if_absent and any(
                may_be_absent(member, scope) and not is_droppable(member)
                for member in value.values.values()
            )
        case Reference(key=key):
            return _is_missing(key, scope)
        case FieldFunction(presence=presence):
            return presence.is_omitted_if_absent
        case Constant() | Items():
            return False


def is_droppable(value: Value) -> bool:
    """Whether the author allows the object around it to exist without this value."""
    presence = value.presence
    return presence.is_omitted_if_absent or presence.when is not None or _is_dropped(value)


def is_needed(value: Value) -> bool:
    """Whether only `onGap` handles the absence of the value, with another fallback than omit."""
    presence = value.presence
    is_handled = presence.is_omitted_if_absent or presence.default is not UNSET
    has_fallback = isinstance(value, Read) and value.gap is not None and value.gap.kind != "omit"
    return has_fallback and not is_handled


def _is_dropped(value: Value) -> bool:
    """Whether a value that has no counterpart in the target is left out."""
    fallbacks = (value.unmapped, value.gap) if isinstance(value, Read) else ()
    return any(fallback is not None and fallback.kind == "omit" for fallback in fallbacks)
