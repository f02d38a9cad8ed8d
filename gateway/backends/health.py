"""What the last answers of an upstream say of it: is it there, and does it take our credentials?"""

from typing import Final

from gateway.contract.refusals import matching_rule
from gateway.contract.upstream import Reply, Upstream

FAILURES: Final = 3
"""So many requests in a row must fail before that is said: one may be an accident."""


class Health:
    """Remembers the end of what was seen of one upstream. The next success takes it back."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._failures = 0
        self._refused: int | None = None

    @property
    def problem(self) -> str | None:
        """What an operator must look at, or None."""
        if self._refused is not None:
            return (
                f"The vendor rejected the credentials (status {self._refused}); renew them, and "
                "try them with `gateway doctor --connect`."
            )
        if self._failures >= FAILURES:
            return f"The last {FAILURES} requests or more got no usable reply; is it reachable?"
        return None

    def failed(self) -> None:
        """A request got no answer."""
        self._failures = min(self._failures + 1, FAILURES)

    def answered(self, reply: Reply) -> None:
        """A request was answered, with whatever status."""
        match self._meaning(reply):
            case "unavailable":
                self.failed()
            case "credentials" | "token_expired":
                self._refused, self._failures = reply.status, 0
            case "success":
                self._refused, self._failures = None, 0
            case _:
                # It is there. Whether it took the credentials is not known.
                self._failures = 0

    def _meaning(self, reply: Reply) -> str:
        rule = matching_rule(self._upstream.refusals, reply)
        if rule is not None:
            return rule.means
        if reply.status == 401:
            return "credentials"
        if reply.status >= 500:
            return "unavailable"
        return "success" if reply.status < 400 else "other"
