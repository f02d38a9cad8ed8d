"""The functions that generated field maps call, and the ids of the rows that they name."""

from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import UUID, uuid5

import msgspec

from gateway.contract.fields.conversion import (
    ABSENT,
    REFUSE,
    SKIP,
    SkipItem,
    Unmappable,
    as_boolean,
    as_date,
    as_date_time,
    as_decimal_2,
    as_integer,
    as_number,
    as_string,
    as_time,
    text,
)
from gateway.contract.values.equality import are_equal
from gateway.contract.values.schema import Validator

# Ids of entity rows, derived from the rows' external keys.

_NAMESPACE: Final = UUID("6f4f0a52-5d0c-5b0e-9b6e-0c1d2f7a3e84")
"""Must never change: every stored id is derived from it."""
_encode: Final = msgspec.json.Encoder(order="sorted").encode


def entity_id(kind: str, key: Mapping[str, Any]) -> str:
    """The UUIDv5 (RFC 9562 §5.5) of the row of `kind` with the external key `key`.

    The order of the key's members does not matter, because a reference and its row may list them
    differently. Raises `ValueError` for an empty key or a null member.
    """
    if not key or any(value is None for value in key.values()):
        raise ValueError(f"the key of {kind} has no value")
    return str(uuid5(_NAMESPACE, f"{kind}\n{_encode(key).decode()}"))


# The functions that generated field maps call.
#
# A compiled field map has no branches: each modifier of a value (`as`, `map`, `else`, `onGap`,
# `omitIfAbsent`, …) becomes a call of one of these functions. Functions return `ABSENT` for
# `ABSENT`, until `present` or `listed` drops it, or a default replaces it.

__all__ = [
    "ABSENT",
    "REFUSE",
    "SKIP",
    "SkipItem",
    "Unmappable",
    "as_boolean",
    "as_date",
    "as_date_time",
    "as_decimal_2",
    "as_integer",
    "as_number",
    "as_string",
    "as_time",
    "converted",
    "count",
    "dig",
    "each",
    "guarded",
    "is_one_of",
    "joined",
    "listed",
    "mapped",
    "needed",
    "not_null",
    "or_default",
    "or_none",
    "pairs",
    "present",
    "reference",
    "repeated",
    "stated",
    "text",
    "whole",
]


def dig(value: Any, *steps: str | int) -> Any:
    """The value at `steps` in `value`. `ABSENT` if a step does not exist or leads through null."""
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step, ABSENT)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return ABSENT
    return value


def not_null(value: Any) -> Any:
    """`value`, or `ABSENT` for null: in a reply, null means the same as a missing member."""
    return ABSENT if value is None else value


def or_default(value: Any, default: Any) -> Any:
    """`value`, or `default` if it is absent."""
    return default if value is ABSENT else value


def or_none(value: Any) -> Any:
    """`value`, or None if it is absent. Field functions get None for an absent argument."""
    return None if value is ABSENT else value


def present(members: dict[str, Any]) -> dict[str, Any]:
    """`members` without those that are absent."""
    for value in members.values():  # `in` would compare, and maps build many objects per call
        if value is ABSENT:
            return {name: value for name, value in members.items() if value is not ABSENT}
    return members


def whole(members: dict[str, Any], optional: dict[str, Any] | None = None) -> Any:
    """An object of `members` and the present ones of `optional`. `ABSENT` if a member is absent.

    It implements `omitIfAbsent` on an object: a part of a price is not a price.
    """
    if ABSENT in members.values():
        return ABSENT
    return members | present(optional) if optional else members


def listed(*values: Any) -> list[Any]:
    """`values` without those that are absent."""
    return [value for value in values if value is not ABSENT]


def each(
    items: Any,
    to_result: Callable[[Any], Any],
    *,
    limit: int | None = None,
    keep: Callable[[Any], bool] | None = None,
) -> Any:
    """The results of `to_result` for the items that `keep` accepts, at most `limit`.

    Leaves out items for which `to_result` raises `SkipItem`. Raises `Unmappable` from `to_result`.
    """
    if items is ABSENT:
        return ABSENT
    results: list[Any] = []
    for item in items if keep is None else filter(keep, items):
        if len(results) == limit:
            break
        try:
            results.append(to_result(item))
        except SkipItem:
            continue
    return results


def count(items: Any, keep: Callable[[Any], bool] | None = None) -> Any:
    """The number of items that `keep` accepts."""
    if items is ABSENT:
        return ABSENT
    return len(items) if keep is None else sum(map(keep, items))


def is_one_of(value: Any, allowed: tuple[Any, ...]) -> bool:
    """Whether the JSON value `value` is one of `allowed`. Python's `in` would treat true as 1."""
    return any(are_equal(value, one) for one in allowed)


def stated(settings: Mapping[str, str], name: str) -> Any:
    """The setting `name`. `ABSENT` if it is not set or empty."""
    return settings.get(name) or ABSENT


def reference(kind: str, key: Any) -> Any:
    """The id of the row of `kind` with this key. The row need not exist yet."""
    return ABSENT if key is ABSENT else entity_id(kind, key)


def joined(values: Any, pointer: str) -> Any:
    """Texts joined with commas: OpenAPI `style: form` with `explode: false`.

    Raises `Unmappable` for a text that contains a comma, because it would be read as two.
    """
    if values is ABSENT:
        return ABSENT
    texts = [text(value) for value in values]
    if any("," in part for part in texts):
        raise Unmappable(pointer, "holds a comma, and the upstream separates values by commas")
    return ",".join(texts)


def pairs(*members: tuple[str, Any]) -> tuple[tuple[str, str], ...]:
    """The pairs of name and text whose text is not absent."""
    return tuple((name, value) for name, value in members if value is not ABSENT)


def repeated(name: str, values: Any) -> tuple[tuple[str, str], ...]:
    """A pair of `name` and text for each value: OpenAPI `style: form` with `explode: true`."""
    return () if values is ABSENT else tuple((name, text(value)) for value in values)


def converted(
    value: Any, convert: Callable[[Any], Any], pointer: str, otherwise: Any = REFUSE
) -> Any:
    """`convert(value)`. If that fails, the fallback `otherwise`. Raises `Unmappable`."""
    if value is ABSENT:
        return ABSENT
    try:
        return convert(value)
    except ValueError as error:
        return _fallback(otherwise, pointer, str(error))


def mapped(value: Any, table: Mapping[str, Any], pointer: str, otherwise: Any = REFUSE) -> Any:
    """The entry of `table` for the text of `value`, else the fallback. Raises `Unmappable`."""
    if isinstance(value, str):
        found = table.get(value, ABSENT)
    elif value is ABSENT:
        return ABSENT
    else:
        found = ABSENT if isinstance(value, dict | list) else table.get(text(value), ABSENT)
    if found is ABSENT:
        return _fallback(otherwise, pointer, "is not a value of the map")
    return found


def guarded(value: Any, validator: Validator, pointer: str, otherwise: Any = REFUSE) -> Any:
    """`value` if it is valid, else the fallback `otherwise`. Raises `Unmappable`.

    It implements `onGap`. `validator` is the output schema of the mapped member, so it accepts
    exactly the values that the validation of the whole result accepts.
    """
    if value is ABSENT or validator.admits(value):
        return value
    return _fallback(otherwise, pointer, "is not a value that the result may hold")


def needed(value: Any, pointer: str, otherwise: Any = REFUSE) -> Any:
    """`value`, or the fallback `otherwise` if it is absent. Raises `Unmappable`.

    It implements `onGap` for absence, if no other modifier handles absence.
    """
    return _fallback(otherwise, pointer, "is absent") if value is ABSENT else value


def _fallback(otherwise: Any, pointer: str, detail: str) -> Any:
    if otherwise is REFUSE:
        raise Unmappable(pointer, detail)
    if otherwise is SKIP:
        raise SkipItem
    return otherwise
