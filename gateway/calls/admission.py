"""How many calls may be under way at once."""

from collections.abc import Iterator
from contextlib import contextmanager

from gateway.auth.principal import Grant, Permit
from gateway.errors import LimitExceeded


class Admission:
    """Turns a grant into a permit while there is room; nothing queues here."""

    def __init__(self, max_calls: int) -> None:
        self._max_calls = max_calls
        self.calls_under_way = 0

    @contextmanager
    def admit(self, grant: Grant) -> Iterator[Permit]:
        """Hold one place for the length of a call. Raises `LimitExceeded` when there is none."""
        if self.calls_under_way >= self._max_calls:
            raise LimitExceeded(f"More than {self._max_calls} calls are under way; try again.")
        self.calls_under_way += 1
        try:
            yield Permit(grant)
        finally:
            self.calls_under_way -= 1
