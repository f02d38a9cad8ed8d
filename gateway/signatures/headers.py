"""Reads header fields of a message whose sender is not authenticated yet."""

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

Fields: TypeAlias = Sequence[tuple[bytes, bytes]]
"""Pairs of a lower-case name and a value, in the order of arrival."""

# Only ASCII digits: `int` and `float` also accept signs, spaces, underscores and other scripts.
_SECONDS: Final = re.compile(rb"[0-9]{1,12}")


def only_value(fields: Fields, name: str) -> bytes | None:
    """The value of the field `name` (in any case), or None if it is absent or repeated."""
    lowered = name.lower().encode("ascii")
    values = [value for key, value in fields if key == lowered]
    return values[0] if len(values) == 1 else None


def is_recent(timestamp: bytes, now: float, tolerance_seconds: int) -> bool:
    """Whether `timestamp`, in whole seconds since 1970, is within the tolerance of `now`."""
    if not _SECONDS.fullmatch(timestamp):
        return False
    return abs(int(now) - int(timestamp)) <= tolerance_seconds
