"""Limits how many calls run at the same time."""

from gateway.auth.principal import Grant, Permit
from gateway.errors import LimitExceeded


class Admission:
    """Turns a grant into a permit while there are free places. Calls do not queue here."""

    def __init__(self, max_calls: int) -> None:
        self._max_calls = max_calls
        self.calls_under_way = 0

    def admit(self, grant: Grant) -> "Admitted":
        """A context manager that holds one place and returns the permit.

        Entering it raises `LimitExceeded` when no place is free.
        """
        return Admitted(self, grant)

    def take_place(self) -> None:
        """Add one to the running calls. Raises `LimitExceeded` when no place is free."""
        if self.calls_under_way >= self._max_calls:
            raise LimitExceeded(f"More than {self._max_calls} calls are under way; try again.")
        self.calls_under_way += 1

    def give_back(self) -> None:
        """Subtract one from the running calls."""
        self.calls_under_way -= 1


class Admitted:
    """Holds one place among the running calls until the `with` block ends."""

    __slots__ = ("_admission", "_grant")

    def __init__(self, admission: Admission, grant: Grant) -> None:
        self._admission = admission
        self._grant = grant

    def __enter__(self) -> Permit:
        self._admission.take_place()
        return Permit(self._grant)

    def __exit__(self, *_: object) -> None:
        self._admission.give_back()
