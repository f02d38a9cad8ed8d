"""Ids that sort by time."""

import random
from datetime import UTC, datetime
from typing import Final

_VERSION_AND_VARIANT: Final = (7 << 76) | (0b10 << 62)
_RANDOM_BITS: Final = 62
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def uuid7(moment: datetime) -> str:
    """A UUIDv7 of `moment` (RFC 9562 §5.7), with microseconds in `rand_a` (§6.2, method 3).

    Unique, but not hard to guess: nothing is let in by it, and the operating system's own random
    bytes would let another thread take the interpreter in the middle of a call.
    """
    return _uuid7(moment, random.getrandbits(_RANDOM_BITS))


def first_id(moment: datetime) -> str:
    """What no UUIDv7 of `moment` or later is less than, and every earlier one is less than.

    Moments before 1970 have no UUIDv7; the first of 1970 stands for them.
    """
    return _uuid7(max(moment, _EPOCH), 0)


def _uuid7(moment: datetime, chance: int) -> str:
    milliseconds = int(moment.timestamp()) * 1000 + moment.microsecond // 1000
    fraction = moment.microsecond % 1000 * 4096 // 1000
    digits = f"{milliseconds << 80 | fraction << 64 | _VERSION_AND_VARIANT | chance:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
