"""Finds the Python functions that a binding names."""

from collections.abc import Iterator

from gateway.mapping.fields.analysis.sources import leaves_of
from gateway.mapping.fields.analysis.targets import maps
from gateway.mapping.fields.language.nodes import (
    FieldFunction,
    HandlerMap,
    HttpMap,
    Value,
    WrittenBinding,
)


def functions(written: WrittenBinding) -> Iterator[tuple[str, str, str]]:
    """Pointer inside `x-binding`, module and name of each function, in contract order."""
    if isinstance(written, HandlerMap):
        yield written.pointer, written.module, written.function
    if not isinstance(written, HttpMap):
        return
    for part in maps(written):
        for members in _groups(part):
            for leaf in leaves_of(members):
                if isinstance(leaf, FieldFunction):
                    yield f"{leaf.pointer}/python", leaf.module, leaf.function


def _groups(written: HttpMap) -> Iterator[Value]:
    yield from (written.path, written.query, written.header)
    if written.body is not None:
        yield written.body
    yield from written.results.values()
    for meaning in written.errors.values():
        if meaning.result is not None:
            yield meaning.result
