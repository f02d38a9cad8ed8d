"""Values that are sent as pairs of a name and a text: in queries, cookies, forms and multiparts."""

from collections.abc import Collection
from typing import Any, Final

from msgspec import Struct

from gateway.contract.imported import Style
from gateway.contract.values.pointers import child
from gateway.encoding.brackets import bracketed
from gateway.encoding.escapes import PART, Escapes, refusal
from gateway.encoding.joining import Joint
from gateway.encoding.texts import refuse_empty, text_of

Pairs = list[tuple[str, str]]


class Neighbours(Struct, frozen=True):
    """The names that other values beside an exploded object have on the wire.

    The members of an exploded object are sent under their own names, so they must not be taken for
    something else.
    """

    names: Collection[str] = ()
    prefixes: Collection[str] = ()
    """Names before a bracket."""
    own: Collection[str] | None = None
    """The only names that the object may have. None: any other name is the object's."""

    def refuse(self, name: str, pointer: str) -> None:
        """Raise `InvalidArguments` if `name` would be taken for another value."""
        is_foreign = name in self.names or name.partition("[")[0] in self.prefixes
        if is_foreign or (self.own is not None and name not in self.own):
            raise refusal(pointer, "this name is sent for another argument")


ALONE: Final = Neighbours()


class NamedValue(Struct, frozen=True, kw_only=True):
    """How one value becomes pairs: its style, and the escapes of the place."""

    name: str
    style: Style
    explode: bool
    joint: Joint
    neighbours: Neighbours = ALONE
    repeats_lists: bool = False
    """Whether lists inside a `deepObject` repeat their name."""

    def pairs(self, value: Any, pointer: str) -> Pairs:
        """The escaped names and texts of `value`.

        Raises `InvalidArguments` and `MalformedRequest`.
        """
        if self.style == "deepObject":
            return self._deep(value, pointer)
        if self.explode and type(value) is list:
            return self._repeated(value, pointer)
        if self.explode and type(value) is dict:
            return self._spread(value, pointer)
        return [(self._own_name(pointer), self.joint.joined(value, pointer))]

    def _own_name(self, pointer: str) -> str:
        return self.joint.escapes.name(self.name, pointer)

    def _deep(self, value: Any, pointer: str) -> Pairs:
        escapes = self.joint.escapes
        found = bracketed(self.name, value, pointer, repeats=self.repeats_lists)
        return [(escapes.name(name, at), escapes.value(text, at)) for name, text, at in found]

    def _repeated(self, value: list[Any], pointer: str) -> Pairs:
        refuse_empty(value, pointer)
        name = self._own_name(pointer)
        escape = self.joint.escapes.value
        places = [child(pointer, index) for index in range(len(value))]
        return [
            (name, escape(text_of(item, place), place))
            for item, place in zip(value, places, strict=True)
        ]

    def _spread(self, value: dict[str, Any], pointer: str) -> Pairs:
        refuse_empty(value, pointer)
        escapes = self.joint.escapes
        pairs = []
        for key, item in value.items():
            place = child(pointer, key)
            self.neighbours.refuse(key, place)
            pairs.append((escapes.name(key, place), escapes.value(text_of(item, place), place)))
        return pairs


def joint_of(style: Style, escapes: Escapes) -> Joint:
    """How `style` joins the items of a value that is not exploded."""
    delimiter = {"spaceDelimited": " ", "pipeDelimited": "|"}.get(style, ",")
    if escapes is not PART and delimiter != ",":
        # The delimiters of these styles must be percent-encoded (OpenAPI 3.2, Style Examples).
        delimiter = "%20" if delimiter == " " else "%7C"
    return Joint(escapes, delimiter, delimiter)
