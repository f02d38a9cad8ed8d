"""Reads how long to wait from HTTP's `Retry-After` (RFC 9110 §10.2.3)."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

MAX_SECONDS: Final = 3600.0
"""The longest wait that an upstream can ask for. Longer ones are shortened to this."""


def retry_after_seconds(value: str | None, now: datetime | None = None) -> float | None:
    """The seconds of a `Retry-After` value: a number or an HTTP date. None for anything else."""
    if not value:
        return None
    if value.isascii() and value.isdigit():
        return min(float(value[:9]), MAX_SECONDS)
    try:
        at = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    seconds = (at - (now or datetime.now(UTC))).total_seconds() if at.tzinfo else 0.0
    return min(max(seconds, 0.0), MAX_SECONDS)
