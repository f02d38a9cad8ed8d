"""The time of one attempt of a request, and what its outcome says about the upstream."""

from typing import Final

from msgspec import Struct

from gateway.calls.guard.breaker import Verdict
from gateway.contract.upstream import Reply

_DOWN: Final = frozenset({502, 503, 504})
"""Replies that say that the upstream is down. Another 5xx may be about this request."""
_FAILED: Final = frozenset({"unavailable", "too_large"})
"""Outcomes without a reply that count. To read a reply that is too large delays all calls."""
_LASTING: Final = frozenset({"refused", "too_large"})
_AS_GOOD_AS_OVER: Final = 0.01
"""A cancelled request counts as timed out this many seconds early: the time limit of the whole call
ends at about the same time, and cancels the task."""


class RequestTime(Struct, frozen=True):
    """The time for all attempts of one request."""

    until: float
    """A reading of the monotonic clock."""
    seconds: float
    """The whole time, of which a part may be over."""


class AttemptTime(Struct, frozen=True):
    """The time of one attempt."""

    seconds: float
    is_cut_short: bool
    """Whether the caller asked for less time than the contract allows."""
    is_usual: bool
    """Whether it is about what the contract gives, so that a timeout is the upstream's fault. It is
    not when the caller asked for less, or when another upstream used up the time of the call."""

    def verdict(self, outcome: str, passed: float, reply: Reply | None) -> Verdict:
        """What an attempt with this `outcome`, after this many seconds, says about its upstream."""
        if reply is not None:
            return "failure" if reply.status in _DOWN else "success"
        is_over = passed >= self.seconds - _AS_GOOD_AS_OVER
        is_late = outcome == "timeout" or (is_over and outcome not in _LASTING)
        has_failed = self.is_usual if is_late else outcome in _FAILED
        return "failure" if has_failed else "none"
