"""Lists and objects as one text (OpenAPI 3.2, Style Examples)."""

from typing import Any

from msgspec import Struct

from gateway.contract.values.pointers import child
from gateway.encoding.escapes import Escapes, refusal
from gateway.encoding.texts import refuse_empty, text_of


class Joint(Struct, frozen=True):
    """What is written between the members of a list or an object."""

    escapes: Escapes
    delimiter: str = ","
    between: str = ","
    """Between the name and the value of an object's member."""

    def joined(self, value: Any, pointer: str) -> str:
        """The text of `value`. Raises `InvalidArguments` and `MalformedRequest`.

        Whatever contains the delimiter after it is escaped is refused, because nothing could be
        decoded from the text again.
        """
        if type(value) is list:
            return self.delimiter.join(self.items(value, pointer))
        if type(value) is dict:
            members = self.members(value, pointer)
            return self.delimiter.join(f"{name}{self.between}{text}" for name, text in members)
        return self.escapes.value(text_of(value, pointer), pointer)

    def items(self, value: list[Any], pointer: str) -> list[str]:
        """The escaped items of a list that is not empty."""
        refuse_empty(value, pointer)
        places = [child(pointer, index) for index in range(len(value))]
        return [
            self._piece(text_of(item, place), place)
            for item, place in zip(value, places, strict=True)
        ]

    def members(self, value: dict[str, Any], pointer: str) -> list[tuple[str, str]]:
        """The escaped names and values of an object that is not empty."""
        refuse_empty(value, pointer)
        pairs = []
        for key, item in value.items():
            place = child(pointer, key)
            name = self._piece(key, place)
            if self.between in name:
                raise refusal(place, f"a name that contains {self.between!r} cannot be sent here")
            pairs.append((name, self._piece(text_of(item, place), place)))
        return pairs

    def _piece(self, text: str, pointer: str) -> str:
        escaped = self.escapes.item(text, pointer)
        if self.delimiter in escaped:
            raise refusal(pointer, "it contains the character that separates the items here")
        return escaped
