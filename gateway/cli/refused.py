"""What a gateway refused, as a command reports it."""

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.cli.plain import plain
from gateway.errors import GatewayError


class Refused(GatewayError):
    """The gateway did not do it, and says why."""

    def __init__(self, problem: Mapping[str, Any], fix: str) -> None:
        super().__init__(f"{problem.get('code')}: {problem.get('detail')}")
        self.problem = problem
        """As the gateway answered it (RFC 9457)."""
        self.fix = fix

    @property
    def message(self) -> str:
        """The gist, and a line for each place that was refused, as a terminal may show them."""
        lines = (f"  {each.get('pointer')}: {each.get('detail')}" for each in self._places())
        return "\n".join(map(plain, (self.detail, *lines)))

    def _places(self) -> Sequence[Mapping[str, Any]]:
        found = self.problem.get("errors", ())
        return found if isinstance(found, list) else ()
