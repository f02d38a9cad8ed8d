"""The first and the last day that mocks accept, in any time zone."""

from datetime import datetime, timedelta
from typing import Final

_LAST_ZONE: Final = timedelta(hours=-12)
"""The UTC offset at which a day ends last."""


_FIRST_ZONE: Final = timedelta(hours=14)
"""The UTC offset at which a day begins first."""


def last_day(now: datetime, days: int) -> str:
    """The day so many days after today, in the time zone where it is latest, as YYYY-MM-DD."""
    return (now + _FIRST_ZONE + timedelta(days=days)).date().isoformat()


def first_day(now: datetime) -> str:
    """The first day that has not ended in every time zone, as YYYY-MM-DD, which sorts as text."""
    return (now + _LAST_ZONE).date().isoformat()
