"""When to do what is put off on purpose, so that it does not all fall due at one moment."""


class Spread:
    """Times for what is put off: each so long after it came, and no two of them close together.

    What a flood sends in one moment would otherwise be answered in one moment, a second later, and
    everybody else would wait for that. Times are readings of a monotonic clock in seconds.
    """

    def __init__(self, delay_seconds: float, apart_seconds: float, longest_seconds: float) -> None:
        """`longest_seconds` is the most that anything is put off, however much there is."""
        self._delay = delay_seconds
        self._apart = apart_seconds
        self._longest = longest_seconds
        self._last = 0.0

    def next(self, now: float) -> float:
        """When what has come at `now` is due."""
        due = max(now + self._delay, self._last + self._apart)
        self._last = min(due, now + self._longest)
        return self._last
