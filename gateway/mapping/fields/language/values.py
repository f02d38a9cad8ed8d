"""Parses a VALUE of a field map: an expression, or a mapping with exactly one kind of value."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, get_args

from msgspec import UNSET
from msgspec.structs import replace

from gateway.contract.values.pointers import child
from gateway.mapping.fields.language.nodes import (
    Constant,
    Conversion,
    Count,
    Each,
    Fallback,
    FieldFunction,
    ItemFilter,
    Items,
    Members,
    Presence,
    Read,
    ReadExpression,
    Reference,
    Value,
)
from gateway.mapping.fields.language.reader import Reader

_REFERENCE: Final = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)", re.ASCII)
_ABSENCE: Final = frozenset({"when", "omitIfAbsent", "default"})
_MODIFIERS: Final[Mapping[str, frozenset[str]]] = {
    "value": _ABSENCE | {"as", "map", "else", "onGap"},
    "const": frozenset({"when"}),
    "object": frozenset({"when", "omitIfAbsent"}),
    "array": frozenset({"when"}),
    "each": _ABSENCE | {"item", "limit", "where"},
    "count": _ABSENCE | {"where"},
    "python": _ABSENCE | {"with"},
    "ref": frozenset({"when", "omitIfAbsent", "key"}),
}
_MAP_FIX: Final = "write each text of the source's values with its result"


def read_value(reader: Reader, value: Any, pointer: str) -> Value:
    """The parsed `value`. Problems are added to `reader`."""
    if isinstance(value, str):
        return Read(pointer=pointer, source=reader.expression(value, pointer))
    kinds = [kind for kind in _KINDS if isinstance(value, dict) and kind in value]
    if len(kinds) != 1:
        reader.refuse(
            pointer,
            "must be an expression or a mapping with exactly one kind of value",
            f"use exactly one of {', '.join(_KINDS)}",
        )
        return Constant(pointer=pointer, value=None)
    kind = kinds[0]
    reader.mapping(value, pointer, _MODIFIERS[kind] | {kind})
    return _KINDS[kind](reader, value, pointer)


def read_members(reader: Reader, value: Any, pointer: str) -> Members:
    """The parsed mapping of member names to VALUEs."""
    members = reader.mapping(value, pointer)
    return Members(
        pointer=pointer,
        values={
            name: read_value(reader, member, child(pointer, name))
            for name, member in members.items()
        },
    )


def read_reference(reader: Reader, value: Any, pointer: str) -> tuple[str, str]:
    """The module and the function of a `python:` reference."""
    found = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        reader.refuse(
            pointer, "is not a function", "write package.module:function", "python-reference"
        )
        return "", ""
    return found[1], found[2]


def _read(reader: Reader, value: dict[str, Any], pointer: str) -> Read:
    conversion = value.get("as")
    if conversion is not None and conversion not in get_args(Conversion):
        reader.refuse(
            f"{pointer}/as",
            "is not a conversion",
            f"use one of {', '.join(get_args(Conversion))}",
            "unknown-as",
        )
        conversion = None
    return Read(
        pointer=pointer,
        source=reader.expression(value["value"], f"{pointer}/value"),
        conversion=conversion,
        table=_table(reader, value, pointer),
        unmapped=_fallback(reader, value, "else", pointer),
        gap=_fallback(reader, value, "onGap", pointer),
        presence=_presence(reader, value, pointer),
    )


def _table(reader: Reader, value: dict[str, Any], pointer: str) -> dict[str, Any] | None:
    if "map" not in value:
        if "else" in value:
            reader.refuse(f"{pointer}/else", "is used without map", "remove it, or add a map")
        return None
    if "as" in value:
        reader.refuse(
            f"{pointer}/as", "cannot be used with map", "write the converted values in map"
        )
    if value.get("else") == "omit" and value.get("onGap", "omit") != "omit":
        reader.refuse(
            f"{pointer}/onGap", "contradicts else: omit", "write omit in both, or only one of them"
        )
    table: dict[str, Any] = reader.mapping(value["map"], f"{pointer}/map")
    if not table:
        reader.refuse(f"{pointer}/map", "must map texts", _MAP_FIX)
    return table


def _fallback(reader: Reader, value: dict[str, Any], name: str, pointer: str) -> Fallback | None:
    match value.get(name):
        case None:
            return None
        case "error" | "omit" | "skip-item" as kind:
            return Fallback(kind)
        case {"const": constant, **others} if not others:
            return Fallback("const", constant)
        case _:
            reader.refuse(
                f"{pointer}/{name}",
                "is not a fallback",
                "use error, omit, skip-item or {const: …}",
            )
            return None


def _presence(reader: Reader, value: dict[str, Any], pointer: str) -> Presence:
    is_omitted = value.get("omitIfAbsent", False)
    if not isinstance(is_omitted, bool):
        reader.refuse(f"{pointer}/omitIfAbsent", "must be true or false", "write true or false")
    if is_omitted and "default" in value:
        reader.refuse(
            f"{pointer}/default", "contradicts omitIfAbsent", "keep default or omitIfAbsent"
        )
    return Presence(
        when=reader.optional_expression(value, "when", pointer),
        is_omitted_if_absent=is_omitted is True,
        default=value.get("default", UNSET),
    )


def _constant(reader: Reader, value: dict[str, Any], pointer: str) -> Constant:
    presence = _presence(reader, value, pointer)
    return Constant(pointer=pointer, value=value["const"], presence=presence)


def _object(reader: Reader, value: dict[str, Any], pointer: str) -> Members:
    return Members(
        pointer=pointer,
        values=read_members(reader, value["object"], f"{pointer}/object").values,
        presence=_presence(reader, value, pointer),
    )


def _array(reader: Reader, value: dict[str, Any], pointer: str) -> Items:
    values = value["array"]
    if not isinstance(values, list):
        reader.refuse(f"{pointer}/array", "must be a list", "write a list of values")
        values = []
    return Items(
        pointer=pointer,
        values=tuple(
            read_value(reader, member, f"{pointer}/array/{index}")
            for index, member in enumerate(values)
        ),
        presence=_presence(reader, value, pointer),
    )


def _each(reader: Reader, value: dict[str, Any], pointer: str) -> Each:
    limit = value.get("limit")
    if limit is not None and (type(limit) is not int or limit < 1):
        reader.refuse(f"{pointer}/limit", "must be an integer from 1", "write the most items")
        limit = None
    return Each(
        pointer=pointer,
        source=reader.expression(value["each"], f"{pointer}/each"),
        item=_item(reader, value.get("item"), f"{pointer}/item"),
        limit=limit,
        keep=read_filter(reader, value, pointer),
        presence=_list_presence(reader, value, pointer),
    )


def _item(reader: Reader, value: Any, pointer: str) -> Value:
    """The parsed item. A mapping that is not a valid VALUE is read as members of an object.

    `{object: …}` is for an object whose members have the names of a VALUE.
    """
    if isinstance(value, dict) and not any(
        kind in value and value.keys() <= _MODIFIERS[kind] | {kind} for kind in _KINDS
    ):
        return read_members(reader, value, pointer)
    return read_value(reader, value, pointer)


def _count(reader: Reader, value: dict[str, Any], pointer: str) -> Count:
    return Count(
        pointer=pointer,
        source=reader.expression(value["count"], f"{pointer}/count"),
        keep=read_filter(reader, value, pointer),
        presence=_list_presence(reader, value, pointer),
    )


def _list_presence(reader: Reader, value: dict[str, Any], pointer: str) -> Presence:
    """The presence of a list, without `when`: that is a filter of the items."""
    rest = {name: modifier for name, modifier in value.items() if name != "when"}
    return _presence(reader, rest, pointer)


def read_filter(reader: Reader, value: dict[str, Any], pointer: str) -> ItemFilter:
    """The filter of `where` and `when` of a list."""
    allowed: dict[ReadExpression, tuple[Any, ...]] = {}
    where = reader.mapping(value.get("where", {}), f"{pointer}/where")
    for text, values in where.items():
        at = child(f"{pointer}/where", text)
        source = _of_item(reader, reader.expression(text, at), at)
        if not isinstance(values, list) or not values:
            reader.refuse(at, "must be a list of the values to keep", "write a list of values")
            continue
        allowed[source] = tuple(values)
    needed = reader.optional_expression(value, "when", pointer)
    if needed is not None:
        _of_item(reader, needed, f"{pointer}/when")
    return ItemFilter(allowed=allowed, needed=needed)


def _of_item(reader: Reader, source: ReadExpression, pointer: str) -> ReadExpression:
    if source.root != "item":
        reader.refuse(pointer, "does not read the item", "write @ or @/pointer", "expression")
    return source


def _python(reader: Reader, value: dict[str, Any], pointer: str) -> FieldFunction:
    module, function = read_reference(reader, value["python"], f"{pointer}/python")
    arguments = value.get("with", [])
    if not isinstance(arguments, list):
        reader.refuse(f"{pointer}/with", "must be a list", "write a list of expressions")
        arguments = []
    return FieldFunction(
        pointer=pointer,
        module=module,
        function=function,
        arguments=tuple(
            reader.expression(argument, f"{pointer}/with/{index}")
            for index, argument in enumerate(arguments)
        ),
        presence=_presence(reader, value, pointer),
    )


def _reference(reader: Reader, value: dict[str, Any], pointer: str) -> Reference:
    presence = _presence(reader, value, pointer)
    key = read_members(reader, value.get("key"), f"{pointer}/key")
    return Reference(
        pointer=pointer,
        kind=reader.text(value, "ref", pointer),
        key=replace(key, presence=Presence(is_omitted_if_absent=presence.is_omitted_if_absent)),
        presence=presence,
    )


_KINDS: Final[Mapping[str, Callable[[Reader, dict[str, Any], str], Value]]] = {
    "value": _read,
    "const": _constant,
    "object": _object,
    "array": _array,
    "each": _each,
    "count": _count,
    "python": _python,
    "ref": _reference,
}
