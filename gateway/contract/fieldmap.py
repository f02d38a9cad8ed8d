"""The words of generated field maps: how a value is read, converted, guarded and left out.

A field map is straight-line code, so what an author may ask of a value (`as`, `map`, `else`,
`onGap`, `omitIfAbsent`, …) is a call of one of these functions. Every function that is handed
`ABSENT` answers `ABSENT`: absence travels until `present` or `listed` drops it.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from enum import Enum
from math import isfinite
from typing import Any, Final

from gateway.contract.schema import Gate

_INTEGER: Final = re.compile(r"-?[0-9]{1,18}")
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:)([0-9]{2})(\.[0-9]+)?([Zz]|[+-][0-9:]{5})"
)
_CENT: Final = Decimal("0.01")
_ROUNDING: Final = Context(prec=400, rounding=ROUND_HALF_EVEN)
"""Wide enough for every double, so that no JSON number is refused as an amount."""


class Marker(Enum):
    """Outcomes that are not JSON values."""

    ABSENT = "absent"
    """There is no value; whatever holds it leaves it out."""
    SKIP = "skip"
    """As a last resort: leave out the whole item of the list."""
    REFUSE = "refuse"
    """As a last resort: refuse the value (the default)."""


ABSENT: Final = Marker.ABSENT
SKIP: Final = Marker.SKIP
REFUSE: Final = Marker.REFUSE


class Unmappable(ValueError):
    """A value has no place in the other contract.

    `pointer` says where it came from, in the reply's body or the arguments, with `*` for any index;
    `detail` says why. Neither repeats the value.
    """

    def __init__(self, pointer: str, detail: str) -> None:
        super().__init__(f"{pointer or '/'}: {detail}")
        self.pointer = pointer
        self.detail = detail


class SkipItem(Exception):
    """The item being mapped is to be left out of its list."""


# Reading


def dig(value: Any, *steps: str | int) -> Any:
    """The value found by following `steps`, `ABSENT` where a step leads nowhere or through null."""
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step, ABSENT)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return ABSENT
    return value


def not_null(value: Any) -> Any:
    """`value`, or `ABSENT` for null: a reply's null says no more than a missing member."""
    return ABSENT if value is None else value


def or_default(value: Any, default: Any) -> Any:
    """`value`, or `default` in its absence."""
    return default if value is ABSENT else value


def or_none(value: Any) -> Any:
    """`value`, or None in its absence: how absence is told to a field function."""
    return None if value is ABSENT else value


# Building


def present(members: dict[str, Any]) -> dict[str, Any]:
    """`members` without those that are absent."""
    if ABSENT in members.values():
        return {name: value for name, value in members.items() if value is not ABSENT}
    return members


def whole(members: dict[str, Any], optional: dict[str, Any] | None = None) -> Any:
    """An object of all `members` and what is present of `optional`, or `ABSENT` if one is missing.

    This is `omitIfAbsent` on an object: half a price is no price.
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
    """The results of the items that `keep` holds for and `to_result` does not skip.

    At most `limit` results. Raises `Unmappable` from `to_result`.
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
    """How many items `keep` holds for."""
    if items is ABSENT:
        return ABSENT
    return len(items) if keep is None else sum(map(keep, items))


# Converting


def text(value: Any) -> Any:
    """A scalar as it is written in a URL, a header or the left side of `map`.

    `true`, `false`, `null`, integers in decimal (also `20.0`, which JSON Schema holds for an
    integer), other numbers as the shortest text that reads back equal. Raises `Unmappable`.
    """
    if isinstance(value, str) or value is ABSENT:
        return value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    if isinstance(value, int | float):
        return repr(value)
    raise Unmappable("", "an array or object cannot be written as text")


def joined(values: Any, pointer: str) -> Any:
    """Texts joined with commas, `style: form` with `explode: false`.

    Raises `Unmappable` for a text that holds a comma itself: it would read as two.
    """
    if values is ABSENT:
        return ABSENT
    texts = [text(value) for value in values]
    if any("," in part for part in texts):
        raise Unmappable(pointer, "holds a comma, and the upstream separates values by commas")
    return ",".join(texts)


def pairs(*members: tuple[str, Any]) -> tuple[tuple[str, str], ...]:
    """Names with their texts, without those that are absent."""
    return tuple((name, value) for name, value in members if value is not ABSENT)


def repeated(name: str, values: Any) -> tuple[tuple[str, str], ...]:
    """`name` once per value, `style: form` with `explode: true`."""
    return () if values is ABSENT else tuple((name, text(value)) for value in values)


def as_integer(value: Any) -> int:
    """A number without a fraction, or the decimal text of one. Raises `ValueError`."""
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise ValueError("is not an integer")
    return int(value)


def as_number(value: Any) -> int | float:
    """A number, or the JSON text of one. Raises `ValueError`."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        number = int(value) if _INTEGER.fullmatch(value) else float(value)
        if isinstance(number, float) and not isfinite(number):
            raise ValueError("is not a number that JSON can hold")
        return number
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("is not a number")  # noqa: TRY004 - a wrong value, not a wrong program
    return value


def as_boolean(value: Any) -> bool:
    """A boolean, or one of the texts `true` and `false`. Raises `ValueError`."""
    if isinstance(value, bool):
        return value
    if value not in ("true", "false"):
        raise ValueError("is not a boolean")
    return bool(value == "true")


def as_string(value: Any) -> str:
    """The text of a scalar. Raises `ValueError` for null, arrays and objects."""
    if value is None or isinstance(value, dict | list):
        raise ValueError("is not a scalar")
    return str(text(value))


def as_decimal_2(value: Any) -> str:
    """A number or its text with exactly two decimals, half to even. Raises `ValueError`."""
    number = as_number(value) if not isinstance(value, str) else value
    if isinstance(number, str) and not _NUMBER.fullmatch(number):
        raise ValueError("is not a number")
    try:
        cents = Decimal(str(number)).quantize(_CENT, context=_ROUNDING)
    except InvalidOperation:
        raise ValueError("has too many digits for an amount") from None
    return f"{cents:f}" if cents else "0.00"


def as_date(value: Any) -> str:
    """The date of a date, or the UTC date of a date-time. Raises `ValueError`."""
    if isinstance(value, str) and _DATE.fullmatch(value):
        return date.fromisoformat(value).isoformat()
    return _instant(value).date().isoformat()


def as_time(value: Any) -> str:
    """The UTC time of a date-time, `HH:MM`. Raises `ValueError`."""
    return _instant(value).strftime("%H:%M")


def as_date_time(value: Any) -> str:
    """A date-time (RFC 3339) in UTC with `Z`, to the microsecond. Raises `ValueError`."""
    return _instant(value).replace(tzinfo=None).isoformat() + "Z"


def _instant(value: Any) -> datetime:
    """A leap second counts as the second before it, for the calendar here has none."""
    found = _DATE_TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError("is not a date-time with a time zone")
    minute, second, fraction, zone = found.groups(default="")
    second = "59" if second == "60" else second
    try:
        return datetime.fromisoformat(minute + second + fraction[:7] + zone.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("is not a date-time of the years 1 to 9999") from None


# Guarding


def converted(
    value: Any, convert: Callable[[Any], Any], pointer: str, otherwise: Any = REFUSE
) -> Any:
    """`convert(value)`, or the last resort when that cannot be done. Raises `Unmappable`."""
    if value is ABSENT:
        return ABSENT
    try:
        return convert(value)
    except ValueError as error:
        return _resort(otherwise, pointer, str(error))


def mapped(value: Any, table: Mapping[str, Any], pointer: str, otherwise: Any = REFUSE) -> Any:
    """What `table` makes of the text of `value`, or the last resort. Raises `Unmappable`."""
    if value is ABSENT:
        return ABSENT
    found = table.get(value if isinstance(value, str) else text(value), ABSENT)
    if found is ABSENT:
        return _resort(otherwise, pointer, "is not a value that the map knows")
    return found


def guarded(value: Any, gate: Gate, pointer: str, otherwise: Any = REFUSE) -> Any:
    """`value` if `gate` admits it, or the last resort. Raises `Unmappable`.

    This is `onGap`. The gate is the output schema of the very member that is mapped, so that the
    guard lets pass exactly what the check of the whole result will.
    """
    if value is ABSENT or gate.admits(value):
        return value
    return _resort(otherwise, pointer, "is not a value that the result may hold")


def needed(value: Any, pointer: str, otherwise: Any = REFUSE) -> Any:
    """`value`, or the last resort in its absence. Raises `Unmappable`.

    This is `onGap` where nothing else says what absence means.
    """
    return _resort(otherwise, pointer, "is absent") if value is ABSENT else value


def _resort(otherwise: Any, pointer: str, detail: str) -> Any:
    if otherwise is REFUSE:
        raise Unmappable(pointer, detail)
    if otherwise is SKIP:
        raise SkipItem
    return otherwise
