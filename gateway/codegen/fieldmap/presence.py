"""Whether a mapped value may be missing from what it belongs to."""

from msgspec import UNSET

from gateway.codegen.fieldmap.nodes import (
    Constant,
    Count,
    Each,
    FieldFunction,
    Items,
    Members,
    Read,
    Value,
)
from gateway.codegen.fieldmap.places import Scope


def inner_scope(value: Value, scope: Scope) -> Scope:
    """The scope of what `value` holds: whatever its `when` names is present there."""
    return scope.assuming(value.presence.when)


def may_be_absent(value: Value, scope: Scope) -> bool:
    """Whether the compiled expression may yield `ABSENT`."""
    when = value.presence.when
    if when is not None and scope.find(when).may_be_absent:
        return True
    scope = inner_scope(value, scope)
    match value:
        case Read(presence=presence) | Each(presence=presence) | Count(presence=presence):
            is_dropped = isinstance(value, Read) and _is_dropped(value)
            is_missing = is_dropped or scope.find(value.source).may_be_absent
            return is_missing and presence.default is UNSET
        case Members(presence=presence):
            return presence.is_omitted_if_absent and any(
                may_be_absent(member, scope) and not is_droppable(member)
                for member in value.values.values()
            )
        case FieldFunction(presence=presence):
            return presence.is_omitted_if_absent
        case Constant() | Items():
            return False


def is_droppable(value: Value) -> bool:
    """Whether the author said that the rest is whole without this value."""
    presence = value.presence
    is_dropped = isinstance(value, Read) and _is_dropped(value)
    return presence.is_omitted_if_absent or presence.when is not None or is_dropped


def _is_dropped(value: Read) -> bool:
    """Whether a value without a place on the other side is left out."""
    return any(resort and resort.kind == "omit" for resort in (value.unmapped, value.gap))
