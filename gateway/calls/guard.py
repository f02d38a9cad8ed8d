"""Guards an upstream: whether it fails or hangs, and which requests it gets then."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Final, Literal, Protocol
from weakref import ReferenceType, WeakSet, ref

from gateway.amounts import amount
from gateway.clock import Clock
from gateway.errors import StoreError, UpstreamRateLimited, UpstreamUnavailable
from gateway.store.protocols import BreakerBoard, BreakerChange

# The error of requests that a guard refuses.


class NotSent(UpstreamUnavailable):
    """The upstream fails or is busy, so nothing was sent to it: try again later."""

    stage = "admit"

    def __init__(self, detail: str | None = None, *, retry_after_seconds: float = 1.0) -> None:
        super().__init__(detail, is_sent=False)
        self.retry_after_seconds: float = retry_after_seconds


# Stops requests to an upstream that fails, and lets single ones try it again.

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


# Sees that an upstream hangs before the time of the requests that wait for it is over.

LATE_SECONDS: Final = 3.0
"""No request is late before this time."""
_TIMES_SLOWEST: Final = 2
"""An operation may take this many times as long as its slowest reply of late."""
_PART_OF_TIME: Final = 0.4
"""An operation that has not answered yet may take this part of the time of an attempt. Only its
contract says how slow it is."""
_FADING: Final = 0.99
"""With each reply, the slowest one counts less by this factor."""


@dataclass(slots=True, eq=False)
class Passage:
    """A request that was admitted."""

    number: int
    """Requests are numbered in the order in which they began."""
    period: int
    """The period of the breaker in which it began."""
    operation: str
    seconds: float
    """The usual time of an attempt."""
    began_at: float
    """A reading of the monotonic clock."""
    is_trial: bool = False
    is_late: bool = False
    lease: str = ""
    """Of a trial: keeps other processes from trying the upstream. Empty if there is none."""


class Lateness:
    """Which requests are late: they take much longer than their operation does of late.

    An upstream that is slow, but answers, is known to be slow after its first replies.
    """

    def __init__(self) -> None:
        self._slowest: dict[str, float] = {}
        """By operation."""
        self._answered_at = -inf
        self.check_at = inf
        """No request is late before this reading of the clock that was not late before."""

    def began(self, passage: Passage) -> None:
        """Note that a request begins."""
        if passage.began_at + LATE_SECONDS < self.check_at:
            self.check_at = min(self.check_at, self._due_at(passage))

    def answered(self, passage: Passage, now: float) -> None:
        """Note that the upstream has answered a request."""
        self._answered_at = now
        before = self._slowest.get(passage.operation, 0.0)
        self._slowest[passage.operation] = max(now - passage.began_at, before * _FADING)

    def mark(self, under_way: Iterable[Passage], now: float) -> None:
        """Mark those requests that are late now."""
        self.check_at = inf
        for each in under_way:
            if not each.is_late:
                due_at = self._due_at(each)
                each.is_late = due_at <= now
                self.check_at = self.check_at if each.is_late else min(self.check_at, due_at)

    def is_suspicious(self, late: Sequence[Passage], in_a_row: int) -> bool:
        """Whether these late requests, in their order, say that the upstream hangs.

        They do when so many are late one after the other and nothing was answered meanwhile, or
        when half of `WINDOW` requests are late.
        """
        if any(
            last.number - first.number == in_a_row - 1 and self._answered_at <= first.began_at
            for first, last in zip(late, late[in_a_row - 1 :], strict=False)
        ):
            return True
        half = late[-WINDOW // 2 :]
        return 2 * len(half) >= WINDOW and half[-1].number - half[0].number < WINDOW

    def _due_at(self, passage: Passage) -> float:
        slowest = self._slowest.get(passage.operation)
        patience = _PART_OF_TIME * passage.seconds if slowest is None else _TIMES_SLOWEST * slowest
        return passage.began_at + max(LATE_SECONDS, patience)


# Lets all processes know which upstreams fail, and lets one of them at a time try such one.

_log: Final = logging.getLogger(__name__)
_PAUSE_SECONDS: Final = 1.0
_MORE_SECONDS: Final = 1.0
"""A lease is longer by this than the time of the request that has it."""


class SharedBreakers:
    """The breakers of this process, as far as a board joins them with those of others.

    Each breaker decides alone, and hears what the others decided. Nothing is asked for a request
    while an upstream works. Without a board, each process goes on alone.
    """

    def __init__(self, board: BreakerBoard) -> None:
        self._board = board
        self._breakers: dict[str, WeakSet[Breaker]] = {}
        """By upstream. While a reload drains, there may be two, with different credentials."""
        self._changed: dict[str, Breaker] = {}
        """Those whose state has to be posted."""
        self._ended: dict[str, str] = {}
        """Leases that have to be ended, by lease."""
        self._wake = asyncio.Event()
        self._is_joined = False
        self._is_loss_known = False

    def add(self, upstream: str, breaker: Breaker) -> "SharedTrial":
        """Share a breaker under this name. Returns the trials of its upstream."""
        self._breakers.setdefault(upstream, WeakSet()).add(breaker)
        breaker.on_change = partial(self._has_changed, upstream, ref(breaker))
        return SharedTrial(self, upstream)

    async def work(self) -> None:
        """Join the board, again and again, until cancelled."""
        while True:
            try:
                await self._share()
            except StoreError as error:
                self._note_loss(error)
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _share(self) -> None:
        """Hear and post until the board is lost. A group would lose a cancellation meanwhile."""
        tasks = [asyncio.create_task(run()) for run in (self._hear, self._post_changes)]
        try:
            ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._is_joined = False
            await _end(tasks)
        for each in ended:
            each.result()

    async def claim(self, upstream: str, seconds: float) -> str | None:
        """A lease for a trial, which may be empty if there is no board. None: there is another."""
        if not self._is_joined:
            return ""
        lasting = min(seconds + _MORE_SECONDS, LONGEST_WAIT_SECONDS)
        try:
            return await self._board.claim_trial(upstream, lasting)
        except StoreError:
            return ""

    def end(self, upstream: str, lease: str) -> None:
        """End a lease, after the result of the trial is posted."""
        if lease:
            self._ended[lease] = upstream
            self._wake.set()

    async def _hear(self) -> None:
        async with self._board.joined() as feed:
            for upstream in list(self._breakers):
                await self._catch_up(upstream)
            self._wake.set()
            self._is_joined = True
            if self._is_loss_known:
                self._is_loss_known = False
                _log.info("breakers are shared with other processes again")
            async for change in feed:
                self._adopt(change)

    def _has_changed(self, upstream: str, changed: "ReferenceType[Breaker]") -> None:
        breaker = changed()
        if breaker is not None:
            self._changed[upstream] = breaker
            self._wake.set()

    async def _catch_up(self, upstream: str) -> None:
        """What was changed here while there was no board is newer than what the board knows."""
        known = await self._board.known(upstream)
        if upstream in self._changed:
            return
        if known is not None:
            self._adopt(known)
            return
        for breaker in list(self._breakers[upstream]):
            if breaker.state != "closed":
                self._changed[upstream] = breaker

    def _adopt(self, change: BreakerChange) -> None:
        for breaker in list(self._breakers.get(change.upstream, ())):
            breaker.adopt(change.wait_seconds, change.left_seconds)

    async def _post_changes(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._changed:
                # A change while this is posted has to be posted as well.
                await self._post(*self._changed.popitem())
            while self._ended:
                lease, upstream = self._ended.popitem()
                await self._board.end_trial(upstream, lease)

    async def _post(self, upstream: str, breaker: Breaker) -> None:
        wait = 0.0 if breaker.state == "closed" else breaker.wait
        try:
            await self._board.post(BreakerChange(upstream, wait, breaker.wait_seconds()))
        except StoreError:
            self._changed.setdefault(upstream, breaker)
            raise

    def _note_loss(self, error: StoreError) -> None:
        if not self._is_loss_known:
            self._is_loss_known = True
            _log.warning(
                "breakers are not shared with other processes now, and each decides alone: %s",
                error,
            )


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    """Cancel until they have ended. Redis's client may lose one that comes with a message."""
    while waiting := [each for each in tasks if not each.done()]:
        for each in waiting:
            each.cancel()
        await asyncio.wait(waiting, timeout=_PAUSE_SECONDS)


class SharedTrial:
    """The trials of one upstream, of which all processes have one at a time."""

    def __init__(self, shared: SharedBreakers, upstream: str) -> None:
        self._shared = shared
        self._upstream = upstream

    async def claim(self, seconds: float) -> str | None:
        """See `SharedBreakers.claim`."""
        return await self._shared.claim(self._upstream, seconds)

    def end(self, lease: str) -> None:
        """See `SharedBreakers.end`."""
        self._shared.end(self._upstream, lease)


# Decides for each request to an upstream whether it is sent.

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
