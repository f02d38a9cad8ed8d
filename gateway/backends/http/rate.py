"""The rate limit that an upstream reports in its replies."""

from collections.abc import Mapping
from typing import Final

from gateway.contract.upstream import RateHeaders
from gateway.errors import UpstreamRateLimited

MAX_WAIT_SECONDS: Final = 3600.0
"""The longest wait that an upstream's headers can cause."""


class RateState:
    """Remembers until when an upstream's limit is used up, so that no request is sent in vain.

    Times are readings of a monotonic clock in seconds.
    """

    def __init__(self, rules: RateHeaders | None) -> None:
        self._rules = rules
        self._open_again_at = 0.0

    def note(self, headers: Mapping[str, str], at: float) -> None:
        """Read the rate headers of a reply. Headers that are missing or not numbers are ignored."""
        if self._rules is None:
            return
        remaining = _seconds(headers.get(self._rules.remaining.lower()))
        reset = _seconds(headers.get(self._rules.reset_seconds.lower()))
        if remaining == 0 and reset is not None:
            self._open_again_at = at + min(reset, MAX_WAIT_SECONDS)

    def check(self, at: float) -> None:
        """Raise `UpstreamRateLimited` while the upstream's limit is used up."""
        wait = self._open_again_at - at
        if wait > 0:
            raise UpstreamRateLimited(retry_after_seconds=wait)


def _seconds(text: str | None) -> float | None:
    return float(text) if text and text.isascii() and text.isdigit() else None
