"""The health of an upstream, from its last replies: is it available, and are credentials valid?"""

from typing import Final

from gateway.backends.refused import operators_error
from gateway.contract.refusals import refusal_of
from gateway.contract.slots import setting_variable
from gateway.contract.upstream import Reply, Upstream

FAILURES: Final = 3
"""How many requests must fail in a row before it is reported as a problem."""


class Health:
    """Records failures of one upstream. The next success clears them."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._failures = 0
        self._refused: str | None = None

    @property
    def problem(self) -> str | None:
        """The problem that an operator must examine, or None."""
        if self._refused is not None:
            return self._refused
        if self._failures >= FAILURES:
            return f"The last {FAILURES} requests or more got no usable reply; is it reachable?"
        return None

    def failed(self) -> None:
        """Record that a request got no reply."""
        self._failures = min(self._failures + 1, FAILURES)

    def unusable(self, detail: str) -> None:
        """Record that something answered that cannot be read, such as a redirect."""
        self._refused, self._failures = f"{detail} {self._check_url}", 0

    def answered(self, reply: Reply) -> None:
        """Record a reply, with any status."""
        if reply.status < 400:
            self._refused, self._failures = None, 0
            return
        refusal = refusal_of(self._upstream, reply)
        if refusal.means in {"unavailable", "timeout"}:
            self.failed()
            return
        # The upstream is there. Other refusals tell nothing of its credentials and its set-up.
        self._failures = 0
        if refusal.means in {"credentials", "token_expired"}:
            self._refused = (
                f"The vendor rejected the credentials (status {reply.status}); renew them, and "
                "try them with `gateway doctor --connect`."
            )
        elif refusal.means in {"not_set_up", "foreign"}:
            self._refused = operators_error(self._upstream, reply.status, refusal).detail

    @property
    def _check_url(self) -> str:
        return f"Check {setting_variable(self._upstream.name, 'base_url')}."
