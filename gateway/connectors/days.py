"""The first day that mocks accept, in any time zone."""

from datetime import datetime, timedelta
from typing import Final

_LAST_ZONE: Final = timedelta(hours=-12)
"""The UTC offset at which a day ends last."""


def first_day(now: datetime) -> str:
    """The first day that has not ended in every time zone, as YYYY-MM-DD, which sorts as text."""
    return (now + _LAST_ZONE).date().isoformat()
