"""Lists, objects and header fields in a request: the styles of OpenAPI 3.2 and RFC 6570."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from msgspec import Struct

from gateway.contract.imported import ImportedParameter, Style
from gateway.contract.values.pointers import child
from gateway.encoding.shapes import Names, Schema, Shapes
from gateway.encoding.texts import (
    COOKIE,
    FORM_COOKIE,
    HEADER,
    PART,
    Escapes,
    ascii_json,
    content_text,
    header_text,
    is_json,
    percent,
    refusal,
    refuse_empty,
    text_of,
)

# Lists and objects as one text (OpenAPI 3.2, Style Examples).


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


# Nested values as names with brackets: the style `deepObject`.
#
# OpenAPI defines `deepObject` for objects of primitives: `color[R]=100&color[G]=200`. What is
# more, no standard defines. Here it is:
#
#     nested object     a[b][c]=1
#     list              a[0]=x&a[1]=y        with the index of each item
#     list in an object, in a query          a[b]=1&a[b]=2
#     list of lists or objects               a[b][0][c]=1
#
# Servers that read brackets at all (PHP, Node's qs, Stripe) read the first, the second and the
# last. The third is how OpenAPI tools write lists of primitives in a `deepObject` parameter.


def bracketed(
    name: str, value: Any, pointer: str, *, repeats: bool
) -> Iterator[tuple[str, str, str]]:
    """The name, text and pointer of each primitive in `value`.

    `repeats`: lists of primitives inside an object repeat their name. Raises `InvalidArguments`.
    """
    if type(value) is list:
        refuse_empty(value, pointer)
        for index, item in enumerate(value):
            place = child(pointer, index)
            yield from bracketed(f"{name}[{index}]", item, place, repeats=repeats)
    elif type(value) is dict:
        yield from _members(name, value, pointer, repeats=repeats)
    else:
        yield name, text_of(value, pointer), pointer


def _members(
    name: str, value: dict[str, Any], pointer: str, *, repeats: bool
) -> Iterator[tuple[str, str, str]]:
    refuse_empty(value, pointer)
    for key, item in value.items():
        place = child(pointer, key)
        if not key or "[" in key or "]" in key:
            raise refusal(place, "a name that is empty or contains a bracket cannot be sent here")
        own = f"{name}[{key}]"
        if repeats and type(item) is list and _is_flat(item):
            refuse_empty(item, place)
            for index, each in enumerate(item):
                inner = child(place, index)
                yield own, text_of(each, inner), inner
        else:
            yield from bracketed(own, item, place, repeats=repeats)


def _is_flat(items: list[Any]) -> bool:
    return all(type(item) is not dict and type(item) is not list for item in items)


# Values that are sent as pairs of a name and a text: in queries, cookies, forms and multiparts.

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


# Which names exploded objects may have, so that they are not taken for other values.


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


# The header fields of a request that arguments make: `header` and `cookie` parameters.


class HeaderValue(Struct, frozen=True):
    """One `header` parameter, in the style `simple`. Nothing is percent-encoded or quoted."""

    parameter: ImportedParameter
    joint: Joint
    pointer: str

    @classmethod
    def of(cls, parameter: ImportedParameter) -> "HeaderValue":
        """The compiled parameter."""
        joint = Joint(HEADER, between="=" if parameter.explode else ",")
        return cls(parameter, joint, child("", parameter.member))

    def text(self, value: Any) -> str:
        """The header's value. Raises `InvalidArguments` and `MalformedRequest`."""
        media_type = self.parameter.media_type
        if media_type is None:
            return self.joint.joined(value, self.pointer)
        if is_json(media_type):
            return header_text(ascii_json(value), self.pointer)
        return header_text(content_text(value, media_type, self.pointer), self.pointer)


class CookieValue(Struct, frozen=True):
    """One `cookie` parameter."""

    parameter: ImportedParameter
    named: NamedValue
    pointer: str

    def pairs(self, value: Any) -> list[tuple[str, str]]:
        """Its names and texts. Raises `InvalidArguments` and `MalformedRequest`."""
        media_type = self.parameter.media_type
        if media_type is None:
            return self.named.pairs(value, self.pointer)
        text = content_text(value, media_type, self.pointer)
        return [(self.parameter.name, percent(text, self.pointer))]


class HeaderFields:
    """The compiled header and cookie parameters of an operation.

    All cookies are one field (RFC 6265 §5.4). The items of an exploded list or object are cookies
    of their own, also in the style `form`, because `&` separates no cookies (OpenAPI 3.2,
    Appendix D).
    """

    def __init__(
        self,
        parameters: tuple[ImportedParameter, ...],
        schemas: Mapping[str, Schema],
        shapes: Shapes,
    ) -> None:
        """`schemas` has the schema of each member of the arguments."""
        self._headers = tuple(
            HeaderValue.of(each) for each in parameters if each.location == "header"
        )
        self._cookies = _cookie_values(parameters, schemas, shapes)

    def fields(self, arguments: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """Names and values. Raises `InvalidArguments` and `MalformedRequest`."""
        found = [
            (each.parameter.name, each.text(arguments[each.parameter.member]))
            for each in self._headers
            if each.parameter.member in arguments
        ]
        cookies = [
            f"{name}={text}"
            for each in self._cookies
            if each.parameter.member in arguments
            for name, text in each.pairs(arguments[each.parameter.member])
        ]
        if cookies:
            found.append(("Cookie", "; ".join(cookies)))
        return tuple(found)


def _cookie_values(
    parameters: tuple[ImportedParameter, ...], schemas: Mapping[str, Schema], shapes: Shapes
) -> tuple[CookieValue, ...]:
    own = tuple(each for each in parameters if each.location == "cookie")
    by_name = {each.name: schemas.get(each.member, True) for each in own}
    beside = neighbours_of(own, by_name, shapes)
    values = []
    for each in own:
        named = NamedValue(
            name=each.name,
            style=each.style,
            explode=each.explode,
            joint=joint_of("form", COOKIE if each.style == "cookie" else FORM_COOKIE),
            neighbours=beside.get(each.name, ALONE),
        )
        values.append(CookieValue(each, named, child("", each.member)))
    return tuple(values)
