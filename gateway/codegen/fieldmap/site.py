"""Where in a field map, and where in the generated module, a value is being written."""

from msgspec import Struct
from msgspec.structs import replace

from gateway.codegen.fieldmap.algebra import Schema
from gateway.codegen.fieldmap.nodes import Value
from gateway.codegen.fieldmap.places import Scope
from gateway.codegen.fieldmap.presence import inner_scope
from gateway.codegen.fieldmap.pycode import Module
from gateway.codegen.fieldmap.shapes import items_of, member


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
