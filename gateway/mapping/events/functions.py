"""Finds the Python functions that an event of a webhook names."""

from collections.abc import Iterator
from typing import Any

from gateway.mapping.events.nodes import EventMap
from gateway.mapping.events.parse import parse
from gateway.mapping.fields.analysis.sources import leaves_of
from gateway.mapping.fields.language.nodes import FieldFunction, Value


def functions(rules: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Pointer inside the event, module and name of each function, in the order of the contract."""
    written, _ = parse(rules)
    for value in _values(written) if written else ():
        for leaf in leaves_of(value):
            if isinstance(leaf, FieldFunction):
                yield f"{leaf.pointer}/python", leaf.module, leaf.function


def _values(written: EventMap) -> Iterator[Value]:
    yield from (effect.row for effect in written.effects)
    if written.emission is not None:
        yield from (written.emission.subject, written.emission.data)
    yield from (each.arguments for each in written.notifications)
    if written.fetch is not None:
        yield from (written.fetch.path, written.fetch.query)
    yield from (each.payloads for each in written.derives)
