"""The health of an upstream, from its last replies: is it available, and are credentials valid?"""

from typing import Final

from gateway.contract.refusals import matching_rule
from gateway.contract.upstream import Reply, Upstream

FAILURES: Final = 3
"""How many requests must fail in a row before it is reported as a problem."""


class Health:
    """Records failures of one upstream. The next success clears them."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._failures = 0
        self._refused: int | None = None

    @property
    def problem(self) -> str | None:
        """The problem that an operator must examine, or None."""
        if self._refused is not None:
            return (
                f"The vendor rejected the credentials (status {self._refused}); renew them, and "
                "try them with `gateway doctor --connect`."
            )
        if self._failures >= FAILURES:
            return f"The last {FAILURES} requests or more got no usable reply; is it reachable?"
        return None

    def failed(self) -> None:
        """Record that a request got no reply."""
        self._failures = min(self._failures + 1, FAILURES)

    def answered(self, reply: Reply) -> None:
        """Record a reply, with any status."""
        match self._meaning(reply):
            case "unavailable":
                self.failed()
            case "credentials" | "token_expired":
                self._refused, self._failures = reply.status, 0
            case "success":
                self._refused, self._failures = None, 0
            case _:
                # The upstream is available. Whether the credentials are valid is not known.
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
