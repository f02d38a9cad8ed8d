"""Decides for each request to an upstream whether it is sent."""

from typing import Final, Protocol

from gateway.calls.guard.breaker import Breaker, State, Verdict
from gateway.calls.guard.errors import NotSent
from gateway.clock import Clock
from gateway.errors import UpstreamRateLimited

LONGEST_PAUSE_SECONDS: Final = 60.0
"""An upstream that asks for a longer pause gets a request after this time, and can ask again."""
_EARNED: Final = 0.2
"""What each request adds to the retry budget. So retries add at most a fifth to the load."""
_MOST_SAVED: Final = 10.0
"""The largest retry budget: an upstream that fails rarely is retried as the contract says."""
_RETRY_COST: Final = 1 + _EARNED
"""A retry is a request too, and earns like one. Altogether it costs 1."""
_FULL_WAIT_SECONDS: Final = 1.0


class Guard(Protocol):
    """Sees each request to one upstream."""

    @property
    def problem(self) -> str | None:
        """Why requests are not sent, for the operator, or None."""
        ...

    def enter(self) -> int:
        """Admit a request. Returns what `leave` needs. Raises `NotSent`, `UpstreamRateLimited`."""
        ...

    def leave(self, period: int, verdict: Verdict) -> None:
        """Note that an admitted request has ended."""
        ...

    def pause(self, seconds: float) -> None:
        """Note that the upstream asked for no requests for this time."""
        ...

    def may_repeat(self) -> bool:
        """Whether a failed request may be sent again. If so, it is paid from the retry budget."""
        ...


class Unguarded:
    """Admits everything. For mocks and workspaces, which are part of this process."""

    problem = None

    def enter(self) -> int:
        """See `Guard`."""
        return 0

    def leave(self, period: int, verdict: Verdict) -> None:
        """See `Guard`."""

    def pause(self, seconds: float) -> None:
        """See `Guard`."""

    def may_repeat(self) -> bool:
        """See `Guard`."""
        return True


UNGUARDED: Final = Unguarded()


class UpstreamGuard:
    """Limits the requests to one upstream, so that one that fails costs only its own tools.

    Requests do not queue: what cannot be sent now is refused at once.
    """

    def __init__(
        self, title: str, clock: Clock, *, max_requests: int, breaker: Breaker | None
    ) -> None:
        """`breaker`: None sends requests and retries however many fail, and does not pause."""
        self._title = title
        self._clock = clock
        self._max_requests = max_requests
        self._breaker = breaker
        self._budget = _MOST_SAVED
        self._paused_until = 0.0
        self.requests_under_way = 0
        self.not_sent = 0
        """The number of requests that were refused."""

    @property
    def state(self) -> State:
        """The state of the breaker."""
        return "closed" if self._breaker is None else self._breaker.state

    @property
    def problem(self) -> str | None:
        """See `Guard`."""
        if self.state == "closed":
            return None
        return "It failed repeatedly, so it gets only single requests until one succeeds."

    def enter(self) -> int:
        """See `Guard`."""
        if self.requests_under_way >= self._max_requests:
            raise self._refused(
                f"{self._title} has {self._max_requests} requests under way, and gets no more.",
                _FULL_WAIT_SECONDS,
            )
        breaker = self._breaker
        if breaker is None:
            period = 0
        else:
            self._check_wait(breaker)
            period = breaker.begin()
        self.requests_under_way += 1
        self._budget = min(self._budget + _EARNED, _MOST_SAVED)
        return period

    def leave(self, period: int, verdict: Verdict) -> None:
        """See `Guard`."""
        self.requests_under_way -= 1
        if self._breaker is not None:
            self._breaker.ended(verdict, period)

    def pause(self, seconds: float) -> None:
        """See `Guard`."""
        asked = self._clock.monotonic() + min(seconds, LONGEST_PAUSE_SECONDS)
        self._paused_until = max(self._paused_until, asked)

    def may_repeat(self) -> bool:
        """See `Guard`."""
        if self._breaker is None:
            return True
        if self._budget < _RETRY_COST or self._breaker.wait_seconds() > 0:
            return False
        self._budget -= _RETRY_COST
        return True

    def _check_wait(self, breaker: Breaker) -> None:
        left = self._paused_until - self._clock.monotonic() if self._paused_until else 0.0
        if left > 0:
            self.not_sent += 1
            detail = f"{self._title} asked for a pause, so it gets no requests now."
            raise UpstreamRateLimited(detail, retry_after_seconds=left)
        self._paused_until = 0.0
        wait = breaker.wait_seconds()
        if wait > 0:
            detail = f"{self._title} failed repeatedly, so it gets no requests now."
            raise self._refused(detail, wait)

    def _refused(self, detail: str, seconds: float) -> NotSent:
        self.not_sent += 1
        return NotSent(detail, retry_after_seconds=seconds)
