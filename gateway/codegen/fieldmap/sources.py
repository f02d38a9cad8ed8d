"""Which expressions a value reads."""

from collections.abc import Iterator

from gateway.codegen.fieldmap.nodes import (
    Constant,
    Count,
    Each,
    FieldFunction,
    Items,
    Members,
    Read,
    Source,
    Value,
)


def sources_of(value: Value) -> tuple[Source, ...]:
    """The expressions in `value`, without those that speak of the items of a list inside it."""
    own = () if value.presence.when is None else (value.presence.when,)
    match value:
        case Read(source=source) | Count(source=source):
            return (*own, source)
        case FieldFunction(arguments=arguments):
            return (*own, *arguments)
        case Members(values=members):
            return (*own, *_all(iter(members.values())))
        case Items(values=values):
            return (*own, *_all(iter(values)))
        case Each(source=source, item=item):
            inner = (found for found in sources_of(item) if found.root != "item")
            return (*own, source, *inner)
        case Constant():
            return own


def _all(values: Iterator[Value]) -> Iterator[Source]:
    return (source for value in values for source in sources_of(value))
