"""The context in which the Python expression of a value is generated."""

from msgspec import Struct
from msgspec.structs import replace

from gateway.contract.schemas.algebra import Schema
from gateway.contract.schemas.shapes import items_of, member
from gateway.mapping.fields.analysis.presence import inner_scope
from gateway.mapping.fields.analysis.scope import Scope
from gateway.mapping.fields.language.nodes import Value
from gateway.mapping.fields.python.pycode import Module


class EmitContext(Struct, frozen=True, kw_only=True):
    """The module, the scope, the target schema and the path of a value."""

    module: Module
    scope: Scope
    target: Schema
    """The target schema of the value."""
    path: tuple[str, ...] = ()
    """The names of the members that lead to the value. Constants are named after them."""

    def inside(self, value: Value) -> "EmitContext":
        """The context inside `value`."""
        return replace(self, scope=inner_scope(value, self.scope))

    def at(self, name: str) -> "EmitContext":
        """The context of the member `name`."""
        found = member(self.target, name)
        return replace(self, target=found.schema if found else {}, path=(*self.path, name))

    def among_items(self) -> "EmitContext":
        """The context of an element of the array."""
        return replace(self, target=items_of(self.target))
