"""The conversions of field maps (`as`), and the outcomes that are no values."""

import re
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from enum import Enum
from typing import Any, Final

from msgspec import DecodeError

from gateway.contract.values.jsontext import number_of

# The outcomes of a field map that are not values: absence, a skipped item, a refusal.


class Marker(Enum):
    """Outcomes that are not JSON values."""

    ABSENT = "absent"
    """There is no value. The object or list around it leaves it out."""
    SKIP = "skip"
    """A fallback: leave out the whole item of the list."""
    REFUSE = "refuse"
    """A fallback, and the default: refuse the value."""


ABSENT: Final = Marker.ABSENT
SKIP: Final = Marker.SKIP
REFUSE: Final = Marker.REFUSE


class Unmappable(ValueError):
    """A value has no counterpart in the other contract.

    `pointer` is the value's place in the reply's body or the arguments, with `*` for any index, or
    `/header/<name>`. `detail` is the reason. Neither contains the value.
    """

    def __init__(self, pointer: str, detail: str) -> None:
        super().__init__(f"{pointer or '/'}: {detail}")
        self.pointer = pointer
        self.detail = detail


class SkipItem(Exception):
    """The item that is being mapped must be left out of its list."""


# The conversions of field maps (`as`): from one JSON value to another.
#
# A conversion that is not possible raises `ValueError`, whose message never contains the value.

_INTEGER: Final = re.compile(r"-?[0-9]{1,18}")
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_A_DATE: Final = "a date, such as 2026-12-01"
_A_DATE_TIME: Final = "a date-time with a time zone, such as 2026-12-01T15:00:00Z"
_DATE_TIME: Final = re.compile(
    r"([0-9]{4})(-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:)"
    r"([0-9]{2})(\.[0-9]+)?([Zz]|[+-][0-9:]{5})"
)
_FIRST: Final = datetime.min.replace(tzinfo=UTC)
_LAST: Final = datetime.max.replace(tzinfo=UTC)
_MOVED_YEARS: Final = {"0000": 400, "0001": 400, "9999": -400}
_MOST_DIGITS: Final = 1e21
_CENT: Final = Decimal("0.01")
_ROUNDING: Final = Context(prec=400, rounding=ROUND_HALF_EVEN)
"""Enough digits for every double, so that every JSON number can be an amount."""


def text(value: Any) -> Any:
    """A scalar as it is written in a URL, a header or the left side of `map`.

    These are `true`, `false`, `null`, integers in decimal, and other numbers as the shortest text
    that parses to an equal number. `20.0` is an integer, as in JSON Schema. Raises `Unmappable` for
    an array or an object.
    """
    if isinstance(value, str) or value is ABSENT:
        return value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        is_whole = value.is_integer() and abs(value) < _MOST_DIGITS
        return str(int(value)) if is_whole else repr(value)
    raise Unmappable("", "an array or object cannot be written as text")


def as_integer(value: Any) -> int:
    """An integer from a whole number or its decimal text. Raises `ValueError`."""
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise ValueError("is not an integer")
    return int(value)


def as_number(value: Any) -> int | float:
    """A number from a number or its JSON text. Raises `ValueError`."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        try:
            return int(value) if _INTEGER.fullmatch(value) else number_of(value)
        except DecodeError:
            raise ValueError("is too large for a JSON number") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("is not a number")  # noqa: TRY004 - a wrong value, not a wrong program
    return value


def as_boolean(value: Any) -> bool:
    """A boolean from a boolean or the text `true` or `false`. Raises `ValueError`."""
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
    """Decimal text with two decimals, from a number or its text. Rounds half to even.

    Raises `ValueError`.
    """
    number = as_number(value) if not isinstance(value, str) else value
    if isinstance(number, str) and not _NUMBER.fullmatch(number):
        raise ValueError("is not a number")
    try:
        cents = Decimal(str(number)).quantize(_CENT, context=_ROUNDING)
    except InvalidOperation:
        raise ValueError("has too many digits for an amount") from None
    return f"{cents:f}" if cents else "0.00"


def as_date(value: Any) -> str:
    """A date from a date, or the UTC date of a date-time. Raises `ValueError`."""
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        return _within_years(*_instant(value, wanted=_A_DATE)).date().isoformat()
    return as_date(f"{value}T00:00:00Z")


def as_time(value: Any) -> str:
    """The UTC time of a date-time, `HH:MM`. Raises `ValueError`."""
    moment, _ = _instant(value)
    return moment.strftime("%H:%M")


def as_date_time(value: Any) -> str:
    """A date-time (RFC 3339) in UTC with `Z`, to the microsecond. Raises `ValueError`.

    What is before the year 1 or after 9999 becomes the first or the last moment of those years.
    """
    return _within_years(*_instant(value)).replace(tzinfo=None).isoformat() + "Z"


def _instant(value: Any, *, wanted: str = _A_DATE_TIME) -> tuple[datetime, int]:
    """The time in UTC of an RFC 3339 date-time, and the years that must be added to it.

    Python has no leap seconds: :60 becomes :59. It has no year 0 and none after 9999, so times near
    them are moved by 400 years, after which the calendar is the same.
    """
    found = _DATE_TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"is not {wanted}")
    year, minute, second, fraction, zone = found.groups(default="")
    moved = _MOVED_YEARS.get(year, 0)
    second = "59" if second == "60" else second
    text = f"{int(year) + moved:04}{minute}{second}{fraction[:7]}{zone.upper()}"
    try:
        return datetime.fromisoformat(text).astimezone(UTC), -moved
    except ValueError:
        raise ValueError(f"is not {wanted}") from None


def _within_years(moment: datetime, years: int) -> datetime:
    """`moment` with so many years added, or the nearest that Python has."""
    year = moment.year + years
    if year < MINYEAR:
        return _FIRST
    return _LAST if year > MAXYEAR else moment.replace(year=year)


_WITHOUT_OFFSET: Final = -len("+00:00")


def rfc3339(moment: datetime) -> str:
    """`moment` in UTC with millisecond precision, `2026-11-20T14:30:00.000Z`."""
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return f"{utc.isoformat(timespec='milliseconds')[:_WITHOUT_OFFSET]}Z"
