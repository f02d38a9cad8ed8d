"""Computes the image of a schema under a conversion: the schema of the converted values."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.contract.fields.fieldmap import (
    as_boolean,
    as_date,
    as_date_time,
    as_decimal_2,
    as_integer,
    as_number,
    as_string,
    as_time,
    mapped,
)
from gateway.contract.schemas.algebra import Schema, both, covers, either, finite, kinds
from gateway.mapping.fields.language.nodes import Conversion, Read

CONVERT: Final[Mapping[Conversion, Callable[[Any], Any]]] = {
    "string": as_string,
    "integer": as_integer,
    "number": as_number,
    "boolean": as_boolean,
    "decimal-2": as_decimal_2,
    "date": as_date,
    "time": as_time,
    "date-time": as_date_time,
}
"""The function of each conversion `as`."""
_DATE: Final[Schema] = {"type": "string", "format": "date"}
_DATE_TIME: Final[Schema] = {"type": "string", "format": "date-time"}
_SCALAR: Final[Schema] = {"type": ["string", "number", "boolean"]}
_NUMBER: Final[Schema] = {"type": "number"}
_TOTAL: Final[Mapping[Conversion, tuple[Schema, ...]]] = {
    "string": (_SCALAR,),
    "integer": ({"type": "integer"},),
    "number": (_NUMBER,),
    "boolean": ({"type": "boolean"}, {"enum": ["true", "false"]}),
    "decimal-2": (_NUMBER, {"type": "string", "pattern": r"^-?[0-9]+\.[0-9]{2}$", "maxLength": 99}),
    "date": (_DATE, _DATE_TIME),
    "time": (_DATE_TIME,),
    "date-time": (_DATE_TIME,),
}
"""Values that each conversion accepts. One exception: RFC 3339 allows the year 0, but Python does
not, so it is refused at run time."""
_IMAGES: Final[Mapping[Conversion, Schema]] = {
    "integer": {"type": "integer"},
    "number": _NUMBER,
    "boolean": {"type": "boolean"},
    "decimal-2": {"type": "string", "pattern": r"^-?[0-9]+\.[0-9]{2}$"},
    "date": {
        "type": "string",
        "format": "date",
        "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
        "minLength": 10,
        "maxLength": 10,
    },
    "time": {
        "type": "string",
        "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$",
        "minLength": 5,
        "maxLength": 5,
    },
    "date-time": {"type": "string", "format": "date-time", "minLength": 20, "maxLength": 27},
}


class Image(Struct, frozen=True):
    """The values that a read may give, without those of `else`, `onGap` and `default`."""

    schema: Schema
    is_total: bool | None
    """Whether every value can be converted. None if that cannot be decided."""
    is_exact: bool
    """Whether every value of `schema` can occur."""


def image_of(value: Read, source: Schema) -> Image:
    """The image of the schema `source` under the read `value`."""
    listed = finite(source)
    if listed is not None:
        return _listed_image(value, listed)
    if value.table is not None:
        return Image({"enum": _distinct(list(value.table.values()))}, False, False)
    if value.conversion is None:
        return Image(source, True, True)
    is_total = covers(either(*_TOTAL[value.conversion]), source)
    return Image(_converted_schema(value.conversion, source), is_total, False)


def apply(value: Read, sample: Any) -> Any:
    """The result of the read `value` for one `sample`. Raises `ValueError` if it has none."""
    if value.table is not None:
        return mapped(sample, value.table, "")
    return CONVERT[value.conversion](sample) if value.conversion is not None else sample


def _listed_image(value: Read, listed: tuple[Any, ...]) -> Image:
    results: list[Any] = []
    is_total = True
    for sample in listed:
        try:
            results.append(apply(value, sample))
        except ValueError:
            is_total = False
    return Image({"enum": _distinct(results)} if results else {"not": {}}, is_total, True)


def _distinct(values: list[Any]) -> list[Any]:
    """`values` without repetitions, for `enum`. By `repr`, because Python's 1 equals True."""
    return [v for i, v in enumerate(values) if repr(v) not in map(repr, values[:i])]


def _converted_schema(conversion: Conversion, source: Schema) -> Schema:
    if conversion == "string":
        return _text_schema(source)
    if conversion in ("integer", "number") and covers(_IMAGES[conversion], source):
        return source
    if conversion == "decimal-2" and covers({"type": "number", "minimum": 0}, source):
        return {"type": "string", "pattern": r"^[0-9]+\.[0-9]{2}$"}
    return _IMAGES[conversion]


def _text_schema(source: Schema) -> Schema:
    found = kinds(source)
    texts: list[Schema] = [both(source, {"type": "string"})] if "string" in found else []
    if "number" in found:
        is_whole = covers({"type": "integer"}, both(source, _NUMBER))
        texts.append(
            {"type": "string", "pattern": "^-?(0|[1-9][0-9]*)$"} if is_whole else {"type": "string"}
        )
    if "boolean" in found:
        texts.append({"enum": ["true", "false"]})
    return either(*texts) if texts else {"not": {}}
