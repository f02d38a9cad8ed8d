"""Which names exploded objects may have, so that they are not taken for other values."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from gateway.contract.imported import Style
from gateway.encoding.named import Neighbours
from gateway.encoding.shapes import Names, Schema, Shapes


class NamedField(Protocol):
    """A value with a name on the wire: a parameter, or a field of a form."""

    @property
    def name(self) -> str: ...
    @property
    def style(self) -> Style | None: ...
    @property
    def explode(self) -> bool: ...
    @property
    def media_type(self) -> str | None: ...


def neighbours_of(
    values: Sequence[NamedField], schemas: Mapping[str, Schema], shapes: Shapes
) -> dict[str, Neighbours]:
    """The neighbours of each exploded object among `values`, by its name.

    `schemas` has the schema of each value by its name. Only the first object may have names that
    its schema does not declare, because those of two objects could not be distinguished.
    """
    spread = _spread_names(values, schemas, shapes)
    prefixes = frozenset(each.name for each in values if each.style == "deepObject")
    found: dict[str, Neighbours] = {}
    is_taken = False
    for name, own in spread.items():
        others = {each.name for each in values if each.name != name}
        for other, names in spread.items():
            others |= names.declared if other != name else frozenset()
        found[name] = Neighbours(others, prefixes, own.declared if is_taken else None)
        is_taken |= own.is_open
    return found


def _spread_names(
    values: Sequence[NamedField], schemas: Mapping[str, Schema], shapes: Shapes
) -> dict[str, Names]:
    """The names of the objects that are sent member by member, by the name of the value."""
    found = {}
    for each in values:
        is_spread = each.explode and each.style not in {None, "deepObject"}
        schema = schemas.get(each.name, True)
        if is_spread and each.media_type is None and "object" in shapes.types(schema):
            found[each.name] = shapes.names(schema)
    return found
