"""Days as mocks check them, wherever on earth a day is meant."""

from datetime import datetime, timedelta
from typing import Final

_LAST_ZONE: Final = timedelta(hours=-12)
"""Where a day ends last: twelve hours behind UTC."""


def first_day(now: datetime) -> str:
    """The first day that is not over everywhere, written YYYY-MM-DD, which sorts as text."""
    return (now + _LAST_ZONE).date().isoformat()
