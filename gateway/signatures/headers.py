"""Header fields of a message whose sender is not yet known."""

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

Fields: TypeAlias = Sequence[tuple[bytes, bytes]]
"""Names in lower case and values, as they arrived."""

# ASCII digits alone: `int` and `float` also read signs, blanks, underscores and other scripts.
_SECONDS: Final = re.compile(rb"[0-9]{1,12}")


def only_value(fields: Fields, name: str) -> bytes | None:
    """The value of the field `name`, in any case; None where it is absent or occurs twice."""
    wanted = name.lower().encode("ascii")
    values = [value for key, value in fields if key == wanted]
    return values[0] if len(values) == 1 else None


def is_recent(timestamp: bytes, now: float, tolerance_seconds: int) -> bool:
    """Whether `timestamp` (whole seconds since 1970) is as near to `now` as that, either way."""
    if not _SECONDS.fullmatch(timestamp):
        return False
    return abs(int(now) - int(timestamp)) <= tolerance_seconds
