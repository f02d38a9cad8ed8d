"""The query of a request: `query` parameters, or one `querystring` parameter."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from gateway.contract.imported import ImportedParameter
from gateway.contract.values.pointers import child
from gateway.encoding.escapes import QUERY, RESERVED_QUERY, percent
from gateway.encoding.forms import FORM, FormBody
from gateway.encoding.named import ALONE, NamedValue, Neighbours, joint_of
from gateway.encoding.neighbours import neighbours_of
from gateway.encoding.shapes import Schema, Shapes
from gateway.encoding.texts import content_text, essence_of, refuse_empty


class QueryValue(Struct, frozen=True):
    """One `query` parameter."""

    parameter: ImportedParameter
    named: NamedValue
    pointer: str

    def pairs(self, value: Any) -> list[tuple[str, str]]:
        """Its names and texts. Raises `InvalidArguments`."""
        if self.parameter.media_type is None:
            return self.named.pairs(value, self.pointer)
        text = content_text(value, self.parameter.media_type, self.pointer)
        return [(percent(self.parameter.name, self.pointer), percent(text, self.pointer))]


class Query:
    """The compiled query of an operation."""

    def __init__(
        self,
        parameters: tuple[ImportedParameter, ...],
        schemas: Mapping[str, Schema],
        shapes: Shapes,
        fixed: Iterable[tuple[str, str]] = (),
    ) -> None:
        """`schemas` has the schema of each member of the arguments. `fixed` is always sent."""
        self._fixed = [f"{percent(name, '')}={percent(text, '')}" for name, text in fixed]
        own = tuple(each for each in parameters if each.location == "query")
        by_name = {each.name: schemas.get(each.member, True) for each in own}
        beside = neighbours_of(own, by_name, shapes)
        self._values = tuple(_query_value(each, beside.get(each.name, ALONE)) for each in own)
        self._whole = next((each for each in parameters if each.location == "querystring"), None)
        self._form = FormBody(self._whole.fields if self._whole is not None else ())

    def text(self, arguments: Mapping[str, Any]) -> str:
        """The query with its question mark, or nothing. Raises `InvalidArguments`."""
        if self._whole is not None and self._whole.member in arguments:
            return self._whole_text(self._whole, arguments[self._whole.member])
        pairs = self._fixed + [
            f"{name}={text}"
            for value in self._values
            if value.parameter.member in arguments
            for name, text in value.pairs(arguments[value.parameter.member])
        ]
        return f"?{'&'.join(pairs)}" if pairs else ""

    def _whole_text(self, parameter: ImportedParameter, value: Any) -> str:
        pointer = child("", parameter.member)
        media_type = parameter.media_type or FORM
        if essence_of(media_type) != FORM:
            return f"?{percent(content_text(value, media_type, pointer), pointer)}"
        refuse_empty(value, pointer)
        entries = [(name, item, child(pointer, name)) for name, item in value.items()]
        return f"?{self._form.text(entries)}"


def _query_value(parameter: ImportedParameter, beside: Neighbours) -> QueryValue:
    escapes = RESERVED_QUERY if parameter.allow_reserved else QUERY
    named = NamedValue(
        name=parameter.name,
        style=parameter.style,
        explode=parameter.explode,
        joint=joint_of(parameter.style, escapes),
        neighbours=beside,
        repeats_lists=True,
    )
    return QueryValue(parameter, named, child("", parameter.member))
