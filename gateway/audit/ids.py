"""Ids that sort by time."""

import os
from datetime import datetime
from typing import Final

_VERSION_AND_VARIANT: Final = (7 << 76) | (0b10 << 62)
_RANDOM_BITS: Final = (1 << 62) - 1


def uuid7(moment: datetime) -> str:
    """A UUIDv7 of `moment` (RFC 9562 §5.7), with microseconds in `rand_a` (§6.2, method 3)."""
    milliseconds = int(moment.timestamp()) * 1000 + moment.microsecond // 1000
    fraction = moment.microsecond % 1000 * 4096 // 1000
    chance = int.from_bytes(os.urandom(8), "big") & _RANDOM_BITS
    digits = f"{milliseconds << 80 | fraction << 64 | _VERSION_AND_VARIANT | chance:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
