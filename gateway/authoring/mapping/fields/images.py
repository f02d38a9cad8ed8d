"""The schemas of all values that a map may make: of one value, of an object, of a list."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import UNSET, Struct

from gateway.authoring.mapping.fields.nodes import (
    Constant,
    Conversion,
    Count,
    Each,
    FieldFunction,
    Items,
    Members,
    Read,
    ReadExpression,
    Reference,
)
from gateway.authoring.mapping.fields.scope import (
    ROW_ID,
    SourceValues,
    is_droppable,
    may_be_absent,
    may_skip,
)
from gateway.authoring.mapping.fields.walk import FieldContext, parts_of
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
from gateway.contract.schemas.algebra import (
    Schema,
    bare,
    both,
    covers,
    either,
    finite,
    kinds,
)
from gateway.contract.schemas.references import gathered, written_out
from gateway.contract.values import jsontext

# Computes the image of a schema under a conversion: the schema of the converted values.

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
_DIGITS: Final[Schema] = {"type": "string", "pattern": "^-?(0|[1-9][0-9]*)$"}
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
"""Values that each conversion accepts."""
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
    sample = as_received(sample)
    if value.table is not None:
        return mapped(sample, value.table, "")
    return CONVERT[value.conversion](sample) if value.conversion is not None else sample


def as_received(value: Any) -> Any:
    """`value` as it is decoded from a message: large whole numbers are integers."""
    return jsontext.decode(jsontext.encode(value)) if isinstance(value, float) else value


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
    return list({repr(value): value for value in values}.values())


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
        texts.append(_DIGITS if is_whole else {"type": "string"})
    if "boolean" in found:
        texts.append({"enum": ["true", "false"]})
    return either(*texts) if texts else {"not": {}}


# Computes the image of whole values: of objects and lists, from the images of their parts.


def whole_image(context: FieldContext) -> Schema:
    """The values that the map may make here, if every value inside it is admitted.

    Each of those has a verdict of its own, so what one of them may do is not held against the
    whole. Raises `UnknownSource`.
    """
    match context.value:
        case Members() as value:
            return _object_image(value, context)
        case Items():
            return _items_image(context)
        case Each() as value:
            return _each_image(value, context)
        case value:
            return _single_image(value, context)


def _single_image(
    value: Read | Constant | Count | Reference | FieldFunction, context: FieldContext
) -> Schema:
    match value:
        case Read():
            return _read_image(value, context.inner.find(value.source))
        case Constant(value=constant):
            return {"const": constant}
        case Count():
            return count_image(value, context)
        case Reference():
            return ROW_ID
        case FieldFunction():
            return {}


def is_assembled(context: FieldContext) -> bool:
    """Whether the target has no rule but those of single members or items and their number.

    Then the verdicts of the members or items are all that is to be known.
    """
    match context.value:
        case Members():
            return _rules(context.target) <= {"properties", "required", "additionalProperties"}
        case Each():
            return _rules(context.target) <= {"items", "minItems", "maxItems"}
        case _:
            return False


def _rules(schema: Schema) -> frozenset[str]:
    """The keywords that may refuse an object or list, besides those that only name its type."""
    schema = bare(written_out(schema))
    is_tuple = schema.get("items", True) is False
    return frozenset(schema) - {"type", "$defs"} | ({"tuple"} if is_tuple else set())


def _admitted(context: FieldContext) -> Schema:
    """The values of a part that its own target admits."""
    made = whole_image(context)
    return made if covers(context.target, made) else both(made, context.target)


def _read_image(value: Read, values: SourceValues) -> Schema:
    found = image_of(value, values.schema).schema
    fallbacks = (each for each in (value.unmapped, value.gap) if each is not None)
    constants = [each.constant for each in fallbacks if each.kind == "const"]
    if value.presence.default is not UNSET:
        constants.append(value.presence.default)
    return either(found, {"enum": _distinct(constants)}) if constants else found


def _object_image(value: Members, context: FieldContext) -> Schema:
    parts = list(parts_of(context))
    names = list(value.values)
    images, definitions = gathered([_admitted(part) for part in parts])
    is_whole = value.presence.is_omitted_if_absent
    return {
        **definitions,
        "type": "object",
        "properties": dict(zip(names, images, strict=True)),
        "required": [
            name
            for name, part in zip(names, parts, strict=True)
            if not may_be_absent(part.value, part.scope)
            or (is_whole and not is_droppable(part.value))
        ],
        "additionalProperties": False,
    }


def _items_image(context: FieldContext) -> Schema:
    parts = list(parts_of(context))
    if not parts:
        return {"type": "array", "maxItems": 0}
    images, definitions = gathered([_admitted(part) for part in parts])
    missing = sum(may_be_absent(part.value, part.scope) for part in parts)
    least = {"minItems": len(parts) - missing, "maxItems": len(parts)}
    if missing:  # An absent value is left out, and those after it move up.
        return {**definitions, "type": "array", "items": {"anyOf": images}, **least}
    return {**definitions, "type": "array", "prefixItems": images, **least}


def _each_image(value: Each, context: FieldContext) -> Schema:
    source = context.inner.find(value.source).schema
    (items,), definitions = gathered([_admitted(part) for part in parts_of(context)])
    is_same = value.item == Read(pointer=value.item.pointer, source=_ITEM)
    unique = {"uniqueItems": True} if is_same and written_out(source).get("uniqueItems") else {}
    return {**definitions, **unique, **_lengths(value, source), "type": "array", "items": items}


_ITEM: Final = ReadExpression("item")


def count_image(value: Count, context: FieldContext) -> Schema:
    """The numbers that `count` may give."""
    least, most = _counts(value, context.inner.find(value.source).schema)
    return {"type": "integer", "minimum": least} | ({} if most is None else {"maximum": most})


def length_image(value: Each, context: FieldContext) -> Schema:
    """Lists of the lengths that `each` may give, of any items."""
    return {"type": "array", **_lengths(value, context.inner.find(value.source).schema)}


def _lengths(value: Each, source: Schema) -> Schema:
    least, most = _counts(value, source)
    return {"minItems": least} | ({} if most is None else {"maxItems": most})


def _counts(value: Each | Count, source: Schema) -> tuple[int, int | None]:
    """The least and the most items after filtering."""
    source = written_out(source)
    is_filtered = bool(value.keep.allowed) or value.keep.needed is not None
    limit = value.limit if isinstance(value, Each) else None
    is_filtered = is_filtered or (isinstance(value, Each) and may_skip(value.item))
    mosts = [most for most in (source.get("maxItems"), limit) if most is not None]
    most = min(mosts, default=None)
    least = 0 if is_filtered else source.get("minItems", 0)
    return (least if most is None else min(least, most)), most
