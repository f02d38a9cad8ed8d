"""The header fields of a request that arguments make: `header` and `cookie` parameters."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from gateway.contract.imported import ImportedParameter
from gateway.contract.values.pointers import child
from gateway.encoding.escapes import COOKIE, FORM_COOKIE, HEADER, header_text, percent
from gateway.encoding.joining import Joint
from gateway.encoding.named import ALONE, NamedValue, joint_of
from gateway.encoding.neighbours import neighbours_of
from gateway.encoding.shapes import Schema, Shapes
from gateway.encoding.texts import ascii_json, content_text, is_json


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
