"""Stops requests to an upstream that fails, and lets single ones try it again."""

from collections.abc import Callable, Mapping
from typing import Final, Literal

from gateway.clock import Clock

State = Literal["closed", "open", "half-open"]
Verdict = Literal["success", "failure", "none"]
"""What a request says about its upstream. `none`: nothing, for example because it was cancelled."""
_Event = Literal["limit", "due", "passed", "failed", "answered"]

WINDOW: Final = 40
"""The breaker opens when half of this many requests, the latest ones, have failed."""
SHORTEST_WAIT_SECONDS: Final = 2.0
LONGEST_WAIT_SECONDS: Final = 30.0

_NEXT: Final[Mapping[tuple[State, _Event], State]] = {
    ("closed", "limit"): "open",
    ("open", "due"): "half-open",
    ("half-open", "passed"): "closed",
    ("half-open", "failed"): "open",
    ("open", "answered"): "closed",
    ("half-open", "answered"): "closed",
}


def _ignore() -> None:
    """Nobody shares this breaker."""


class Breaker:
    """Closed: requests pass. Open: none passes. Half-open: one may try, and decides.

    It opens after so many failures in a row, or when half of the last `WINDOW` requests failed. It
    stays open for two seconds, and after each trial that fails for twice as long, up to 30 seconds.
    A trial that does not end within that time is followed by another one.

    It also opens on the mere suspicion that the upstream hangs. Then the answer to a request that
    was suspected closes it at once.
    """

    def __init__(self, clock: Clock, failures: int) -> None:
        """`failures`: how many in a row open it, from 1 to `WINDOW`."""
        self._clock = clock
        self.failures = failures
        self._in_a_row = (1 << failures) - 1
        self._recent = 0
        """The latest results, one bit each, the last one lowest. 1 is a failure."""
        self._period = 0
        self.wait = SHORTEST_WAIT_SECONDS
        """The whole wait before the next trial."""
        self.on_change: Callable[[], None] = _ignore
        """Called when the results of this process open or close it, or a trial fails."""
        self._next_trial_at = 0.0
        self._is_suspicion = False
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
            self._next_trial_at = self._clock.monotonic() + self.wait
        return self._period

    def is_current(self, period: int) -> bool:
        """Whether the result of a request that began in `period` would count."""
        return period == self._period

    def adopt(self, wait_seconds: float, left_seconds: float) -> None:
        """Take over what another process decided: see `BreakerChange`.

        A trial of this process that is under way decides all the same.
        """
        if wait_seconds <= 0:
            if self.state != "closed":
                self._move("answered", is_own=False)
            return
        if self.state == "closed":
            self._move("limit", is_own=False)
        self.wait = min(max(wait_seconds, SHORTEST_WAIT_SECONDS), LONGEST_WAIT_SECONDS)
        self._next_trial_at = self._clock.monotonic() + min(max(left_seconds, 0.0), self.wait)

    def put_off(self, seconds: float) -> None:
        """Let no trial begin for this time, because another process has one."""
        if self.state != "closed":
            self._next_trial_at = self._clock.monotonic() + seconds

    def suspect(self) -> None:
        """Note that requests of this period, or the trial, wait for longer than is normal."""
        if self.state == "open":
            return
        self._move("limit" if self.state == "closed" else "failed")
        self._is_suspicion = True

    def acquit(self) -> None:
        """Note that a request that waited for longer than is normal has been answered."""
        if self._is_suspicion:
            self._move("answered")

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

    def _move(self, event: _Event, *, is_own: bool = True) -> None:
        before, self.state = self.state, _NEXT[self.state, event]
        self._period += 1
        self._is_suspicion = self._is_suspicion and event == "due"
        if self.state == "open":
            doubled = min(2 * self.wait, LONGEST_WAIT_SECONDS)
            self.wait = doubled if before == "half-open" else SHORTEST_WAIT_SECONDS
            self._next_trial_at = self._clock.monotonic() + self.wait
        elif self.state == "closed":
            self._recent = 0
        if is_own and self.state != "half-open":
            self.on_change()
