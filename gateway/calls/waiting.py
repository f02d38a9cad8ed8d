"""How long to wait, as HTTP says it (RFC 9110 §10.2.3)."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

MAX_SECONDS: Final = 3600.0
"""An upstream's wish is honoured up to here."""


def retry_after_seconds(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds from a `Retry-After` value, a number or an HTTP date; None when it says neither."""
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
