"""Times for delayed actions, spread so that they are not all due at the same moment."""


class Spread:
    """Delays actions by `delay_seconds`, and keeps them `apart_seconds` from each other.

    Without this, requests that arrive together would be answered together after the delay, and all
    other requests would wait for that. Times are readings of a monotonic clock in seconds.
    """

    def __init__(self, delay_seconds: float, apart_seconds: float, longest_seconds: float) -> None:
        """No action is delayed by more than `longest_seconds`."""
        self._delay = delay_seconds
        self._apart = apart_seconds
        self._longest = longest_seconds
        self._last = 0.0

    def next(self, now: float) -> float:
        """The time for an action that arrives at `now`."""
        due = max(now + self._delay, self._last + self._apart)
        self._last = min(due, now + self._longest)
        return self._last
