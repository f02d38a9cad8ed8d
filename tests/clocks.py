"""The clock of tests that own time."""

from datetime import UTC, datetime, timedelta

NOW = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)


class ManualClock:
    """Stands still until it is moved."""

    def __init__(self, moment: datetime = NOW) -> None:
        self.moment = moment
        self.seconds = 1000.0

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return self.seconds

    def advance(self, passed: float | timedelta) -> None:
        """Let so much time pass, or so many seconds."""
        by = passed if isinstance(passed, timedelta) else timedelta(seconds=passed)
        self.moment += by
        self.seconds += by.total_seconds()
