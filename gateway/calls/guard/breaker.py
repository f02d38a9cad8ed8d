"""Stops requests to an upstream that fails, and lets single ones try it again."""

from collections.abc import Mapping
from typing import Final, Literal

from gateway.clock import Clock

State = Literal["closed", "open", "half-open"]
Verdict = Literal["success", "failure", "none"]
"""What a request says about its upstream. `none`: nothing, for example because it was cancelled."""
_Event = Literal["limit", "due", "passed", "failed"]

WINDOW: Final = 40
"""The breaker opens when half of this many requests, the latest ones, have failed."""
SHORTEST_WAIT_SECONDS: Final = 2.0
LONGEST_WAIT_SECONDS: Final = 30.0

_NEXT: Final[Mapping[tuple[State, _Event], State]] = {
    ("closed", "limit"): "open",
    ("open", "due"): "half-open",
    ("half-open", "passed"): "closed",
    ("half-open", "failed"): "open",
}


class Breaker:
    """Closed: requests pass. Open: none passes. Half-open: one may try, and decides.

    It opens after so many failures in a row, or when half of the last `WINDOW` requests failed. It
    stays open for two seconds, and after each trial that fails for twice as long, up to 30 seconds.
    A trial that does not end within that time is followed by another one.
    """

    def __init__(self, clock: Clock, failures: int) -> None:
        """`failures`: how many in a row open it, from 1 to `WINDOW`."""
        self._clock = clock
        self._in_a_row = (1 << failures) - 1
        self._recent = 0
        """The latest results, one bit each, the last one lowest. 1 is a failure."""
        self._period = 0
        self._wait = SHORTEST_WAIT_SECONDS
        self._next_trial_at = 0.0
        self.state: State = "closed"

    def wait_seconds(self) -> float:
        """For how long no request may begin. 0: one may begin now."""
        if self.state == "closed":
            return 0.0
        return max(self._next_trial_at - self._clock.monotonic(), 0.0)

    def begin(self) -> int:
        """Note that a request begins, when `wait_seconds` is 0. Returns the period for `ended`."""
        if self.state != "closed":
            if self.state == "open":
                self._move("due")
            self._next_trial_at = self._clock.monotonic() + self._wait
        return self._period

    def ended(self, verdict: Verdict, period: int) -> None:
        """Note the result of a request.

        Only results of the current period count: requests that began before the breaker opened end
        while it is open, and must not close it.
        """
        if verdict == "none" or period != self._period:
            return
        has_failed = verdict == "failure"
        if self.state == "half-open":
            self._move("failed" if has_failed else "passed")
            return
        self._recent = (self._recent << 1 | has_failed) & ((1 << WINDOW) - 1)
        if has_failed and self._is_at_limit():
            self._move("limit")

    def _is_at_limit(self) -> bool:
        is_row = self._recent & self._in_a_row == self._in_a_row
        return is_row or 2 * self._recent.bit_count() >= WINDOW

    def _move(self, event: _Event) -> None:
        before, self.state = self.state, _NEXT[self.state, event]
        self._period += 1
        if self.state == "open":
            doubled = min(2 * self._wait, LONGEST_WAIT_SECONDS)
            self._wait = doubled if before == "half-open" else SHORTEST_WAIT_SECONDS
            self._next_trial_at = self._clock.monotonic() + self._wait
        elif self.state == "closed":
            self._recent = 0
