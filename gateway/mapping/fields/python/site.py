"""Where in a field map, and where in the generated module, a value is being written."""

from msgspec import Struct
from msgspec.structs import replace

from gateway.mapping.fields.analysis.algebra import Schema
from gateway.mapping.fields.analysis.places import Scope
from gateway.mapping.fields.analysis.presence import inner_scope
from gateway.mapping.fields.analysis.shapes import items_of, member
from gateway.mapping.fields.language.nodes import Value
from gateway.mapping.fields.python.pycode import Module


class EmitContext(Struct, frozen=True, kw_only=True):
    """What a value may read, what it must become, and what its constants are named after."""

    module: Module
    scope: Scope
    target: Schema
    """The other side's schema for this value."""
    path: tuple[str, ...] = ()
    """Names of the members that lead here."""

    def inside(self, value: Value) -> "EmitContext":
        """The site of what `value` holds."""
        return replace(self, scope=inner_scope(value, self.scope))

    def at(self, name: str) -> "EmitContext":
        """The site of the member `name`."""
        found = member(self.target, name)
        return replace(self, target=found.schema if found else {}, path=(*self.path, name))

    def among_items(self) -> "EmitContext":
        """The site of an element of the array that is being written."""
        return replace(self, target=items_of(self.target))
