"""Ids that sort by time."""

import random
import secrets
from datetime import UTC, datetime
from typing import Final

_VERSION_AND_VARIANT: Final = (7 << 76) | (0b10 << 62)
_RANDOM_BITS: Final = 62
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def uuid7(moment: datetime) -> str:
    """A UUIDv7 of `moment` (RFC 9562 §5.7), with microseconds in `rand_a` (§6.2, method 3).

    It is unique, but it can be guessed, so it must not be used as a secret. To read random bytes
    of the operating system releases the interpreter lock in the middle of a call.
    """
    return _uuid7(moment, random.getrandbits(_RANDOM_BITS))


def private_id(moment: datetime) -> str:
    """A UUIDv7 of `moment` that cannot be guessed, at a higher cost."""
    return _uuid7(moment, secrets.randbits(_RANDOM_BITS))


def first_id(moment: datetime) -> str:
    """The smallest UUIDv7 of `moment`. Every UUIDv7 of an earlier moment is smaller.

    Moments before 1970 have no UUIDv7. For them this is the smallest one of 1970.
    """
    return _uuid7(max(moment, _EPOCH), 0)


def _uuid7(moment: datetime, random_bits: int) -> str:
    milliseconds = int(moment.timestamp()) * 1000 + moment.microsecond // 1000
    fraction = moment.microsecond % 1000 * 4096 // 1000
    digits = f"{milliseconds << 80 | fraction << 64 | _VERSION_AND_VARIANT | random_bits:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
