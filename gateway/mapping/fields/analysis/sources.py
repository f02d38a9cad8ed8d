"""Finds the expressions and the parts of a value."""

from collections.abc import Iterator

from gateway.mapping.fields.language.nodes import (
    Constant,
    Count,
    Each,
    FieldFunction,
    Items,
    Members,
    Read,
    ReadExpression,
    Reference,
    Value,
)


def sources_of(value: Value) -> tuple[ReadExpression, ...]:
    """The expressions in `value`, except those that read items of a list inside it."""
    own = () if value.presence.when is None else (value.presence.when,)
    match value:
        case Read(source=source) | Count(source=source):
            return (*own, source)
        case FieldFunction(arguments=arguments):
            return (*own, *arguments)
        case Members(values=members) | Reference(key=Members(values=members)):
            return (*own, *_all(iter(members.values())))
        case Items(values=values):
            return (*own, *_all(iter(values)))
        case Each(source=source, item=item):
            inner = (found for found in sources_of(item) if found.root != "item")
            return (*own, source, *inner)
        case Constant():
            return own


def _all(values: Iterator[Value]) -> Iterator[ReadExpression]:
    return (source for value in values for source in sources_of(value))


def reads_of(value: Value) -> Iterator[Read]:
    """All reads inside `value`."""
    return (leaf for leaf in leaves_of(value) if isinstance(leaf, Read))


def leaves_of(value: Value) -> Iterator[Value]:
    """All values inside `value` that contain no other values."""
    match value:
        case Members(values=members) | Reference(key=Members(values=members)):
            for member in members.values():
                yield from leaves_of(member)
        case Items(values=values):
            for part in values:
                yield from leaves_of(part)
        case Each(item=item):
            yield from leaves_of(item)
        case _:
            yield value


def may_skip(value: Value) -> bool:
    """Whether a fallback in `value` may leave out the list item that contains it."""
    fallbacks = (fallback for read in reads_of(value) for fallback in (read.unmapped, read.gap))
    return any(fallback is not None and fallback.kind == "skip-item" for fallback in fallbacks)
