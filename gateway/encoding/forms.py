"""Bodies and queries of the media type `application/x-www-form-urlencoded`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from gateway.contract.imported import BodyField, Style
from gateway.contract.values.pointers import child
from gateway.encoding.escapes import QUERY, RESERVED_QUERY, form_text
from gateway.encoding.named import ALONE, NamedValue, Neighbours, Pairs, joint_of
from gateway.encoding.texts import content_text, is_json, refuse_empty

Entry = tuple[str, Any, str]
"""The name, the value and the JSON Pointer of one member of a body."""
FORM: Final = "application/x-www-form-urlencoded"
STYLED: Final = frozenset({"style", "explode", "allowReserved"})
"""The members of an Encoding Object that say how a member is sent in a style."""


class FormBody:
    """A compiled form (OpenAPI 3.2, Encoding the `x-www-form-urlencoded` Media Type).

    Members with a style are percent-encoded by RFC 6570, as in a query; lists inside `deepObject`
    have indices. All others are content: each item of a list has the name of the list, objects are
    JSON, and the encoding is that of WHATWG URL §5.2.
    """

    def __init__(
        self, fields: Sequence[BodyField], beside: Mapping[str, Neighbours] | None = None
    ) -> None:
        # A pair of a form has no Content-Type, so that all its values have the first.
        self._media_types = {
            each.name: chosen_type(each.media_type, "") for each in fields if each.style is None
        }
        self._styled = {
            each.name: styled_value(each, (beside or {}).get(each.name, ALONE))
            for each in fields
            if each.style is not None
        }

    def text(self, entries: Iterable[Entry]) -> str:
        """The form. Raises `InvalidArguments`."""
        return "&".join([f"{name}={text}" for each in entries for name, text in self._pairs(*each)])

    def _pairs(self, name: str, value: Any, pointer: str) -> Pairs:
        styled = self._styled.get(name)
        if styled is not None:
            return styled.pairs(value, pointer)
        media_type = self._media_types.get(name)
        own = form_text(name, pointer)
        return [
            (own, form_text(content_text(item, media_type, place), place))
            for item, place in items_of(value, pointer)
        ]


def field_of(name: str, encoding: Mapping[str, Any]) -> BodyField:
    """The member `name` as its Encoding Object describes it (OpenAPI 3.2 §4.15)."""
    is_styled = bool(encoding.keys() & STYLED)
    style: Style | None = (encoding.get("style") or "form") if is_styled else None
    return BodyField(
        name=name,
        # §4.15.1.2: contentType has no effect beside style, explode or allowReserved.
        media_type=None if is_styled else _concrete(encoding.get("contentType")),
        style=style,
        explode=encoding.get("explode", style in {None, "form"}) is True,
        allow_reserved=encoding.get("allowReserved") is True,
    )


def _concrete(listed: Any) -> str | None:
    """The first media type of a contentType that is no range, and JSON if that is listed too."""
    if not isinstance(listed, str):
        return None
    names = [each.strip() for each in listed.split(",")]
    names = [each for each in names if each and "*" not in each]
    first = next(iter(names), None)
    json = next((each for each in names if is_json(each)), first)
    return first if first == json or (first and is_json(first)) else f"{first}, {json}"


def chosen_type(listed: str | None, value: Any) -> str | None:
    """Of the media types of a member, the one for `value`: JSON for lists and objects, if listed.

    Otherwise the first.
    """
    first, _, second = (listed or "").partition(", ")
    is_container = type(value) is dict or type(value) is list
    return (second if second and is_container else first) or None


def styled_value(field: BodyField, beside: Neighbours) -> NamedValue:
    """A member of a form that is sent in a style."""
    escapes = RESERVED_QUERY if field.allow_reserved else QUERY
    style = field.style or "form"
    return NamedValue(
        name=field.name,
        style=style,
        explode=field.explode,
        joint=joint_of(style, escapes),
        neighbours=beside,
    )


def items_of(value: Any, pointer: str) -> list[tuple[Any, str]]:
    """The values that are sent under one name, with their pointers: the items of a list."""
    if type(value) is not list:
        return [(value, pointer)]
    refuse_empty(value, pointer)
    return [(item, child(pointer, index)) for index, item in enumerate(value)]
