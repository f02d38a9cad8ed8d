"""The error of a command that the gateway refused."""

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.cli.plain import plain
from gateway.errors import GatewayError


class Refused(GatewayError):
    """The gateway refused the request."""

    def __init__(self, problem: Mapping[str, Any], fix: str) -> None:
        super().__init__(f"{problem.get('code')}: {problem.get('detail')}")
        self.problem = problem
        """The gateway's problem details (RFC 9457)."""
        self.fix = fix

    @property
    def message(self) -> str:
        """The summary, and one line for each violation, safe for a terminal."""
        lines = (f"  {each.get('pointer')}: {each.get('detail')}" for each in self._places())
        return "\n".join(map(plain, (self.detail, *lines)))

    def _places(self) -> Sequence[Mapping[str, Any]]:
        found = self.problem.get("errors", ())
        return found if isinstance(found, list) else ()
