"""Decides for each request to an upstream whether it is sent."""

from typing import Final, Protocol

from gateway.amounts import amount
from gateway.calls.guard.breaker import Breaker, State, Verdict
from gateway.calls.guard.errors import NotSent
from gateway.calls.guard.lateness import Lateness, Passage
from gateway.calls.guard.sharing import SharedBreakers, SharedTrial
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
_ASKED_AGAIN_SECONDS: Final = 1.0
"""After this time, a process asks again whether another one still tries the upstream."""


class Guard(Protocol):
    """Sees each request to one upstream."""

    @property
    def problem(self) -> str | None:
        """Why requests are not sent, for the operator, or None."""
        ...

    def enter(self, operation: str, seconds: float) -> Passage:
        """Admit a request of `operation`, for which there is usually so much time.

        Returns what `leave` needs. Raises `NotSent`, `UpstreamRateLimited`.
        """
        ...

    async def confirm(self, trial: Passage) -> None:
        """Make sure that no other process tries the upstream now.

        Raises `NotSent`. The admitted request has ended then.
        """
        ...

    def leave(self, passage: Passage, verdict: Verdict) -> None:
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

    def enter(self, operation: str, seconds: float) -> Passage:
        """See `Guard`."""
        return Passage(0, 0, operation, seconds, 0.0)

    async def confirm(self, trial: Passage) -> None:
        """See `Guard`."""

    def leave(self, passage: Passage, verdict: Verdict) -> None:
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
        self._lateness = Lateness()
        self._trials: SharedTrial | None = None
        self._under_way: dict[int, Passage] = {}
        """By number, in the order in which they began."""
        self._entered = 0
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

    def share(self, shared: SharedBreakers, name: str) -> None:
        """Share the breaker, if there is one, with processes that know the upstream by `name`."""
        if self._breaker is not None:
            self._trials = shared.add(name, self._breaker)

    @property
    def requests_under_way(self) -> int:
        """The number of requests that wait for a reply."""
        return len(self._under_way)

    def enter(self, operation: str, seconds: float) -> Passage:
        """See `Guard`."""
        breaker, now = self._breaker, self._clock.monotonic()
        if breaker is not None and now >= self._lateness.check_at:
            self._look_for_late(breaker, now)
        if len(self._under_way) >= self._max_requests:
            raise self._refused(
                f"{self._title} has {amount(self._max_requests, 'request')} under way, and gets no"
                " more.",
                _FULL_WAIT_SECONDS,
            )
        period, is_trial = 0, False
        if breaker is not None:
            self._check_wait(breaker)
            period = breaker.begin()
            is_trial = breaker.state != "closed"
        self._entered += 1
        passage = Passage(self._entered, period, operation, seconds, now, is_trial)
        self._under_way[passage.number] = passage
        self._lateness.began(passage)
        self._budget = min(self._budget + _EARNED, _MOST_SAVED)
        return passage

    async def confirm(self, trial: Passage) -> None:
        """See `Guard`."""
        if self._breaker is None or self._trials is None:
            return
        lease = None
        try:
            lease = await self._trials.claim(trial.seconds)
        finally:
            if lease is None:
                self.leave(trial, "none")
        if lease is None:
            self._breaker.put_off(_ASKED_AGAIN_SECONDS)
            raise self._shut(_ASKED_AGAIN_SECONDS)
        trial.lease = lease

    def leave(self, passage: Passage, verdict: Verdict) -> None:
        """See `Guard`."""
        breaker, now = self._breaker, self._clock.monotonic()
        if verdict == "success":
            self._lateness.answered(passage, now)
        elif verdict == "none" and breaker is not None and now >= self._lateness.check_at:
            self._look_for_late(breaker, now)
        del self._under_way[passage.number]
        if breaker is None:
            return
        if passage.is_late and verdict == "success":
            breaker.acquit()
        breaker.ended(verdict, passage.period)
        if self._trials is not None and passage.is_trial:
            self._trials.end(passage.lease)

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
            raise self._shut(wait)

    def _look_for_late(self, breaker: Breaker, now: float) -> None:
        self._lateness.mark(self._under_way.values(), now)
        late = [
            each
            for each in self._under_way.values()
            if each.is_late and breaker.is_current(each.period)
        ]
        in_a_row = 1 if breaker.state == "half-open" else breaker.failures
        if self._lateness.is_suspicious(late, in_a_row):
            breaker.suspect()

    def _shut(self, seconds: float) -> NotSent:
        detail = f"{self._title} failed repeatedly, so it gets no requests now."
        return self._refused(detail, seconds)

    def _refused(self, detail: str, seconds: float) -> NotSent:
        self.not_sent += 1
        return NotSent(detail, retry_after_seconds=seconds)
