"""What counts calls against limits, and what counts none."""

from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol, Self

from gateway.auth.principal import Permit
from gateway.calls.call import Call
from gateway.contract.operation import Effect


class CallCount(Protocol):
    """What a call was counted for."""

    def undo(self) -> None:
        """Give its units back: the call is not made."""
        ...


class CountsCalls(Protocol):
    """Counts calls."""

    def counted(
        self, permit: Permit, effect: Effect, call: Call
    ) -> AbstractAsyncContextManager[CallCount]:
        """A context manager that counts the call on entry, and holds its places.

        Entering it raises `LimitUsedUp`, or `NotCounted` when the store does not answer. A call
        that has begun stays counted, also when it fails. A call that becomes a job is counted for
        windows and budgets when it is accepted, and holds places when its job runs.
        """
        ...


class NoLimits:
    """Limits that do not apply."""

    def counted(
        self,
        permit: Permit,  # noqa: ARG002 - the Protocol's name
        effect: Effect,  # noqa: ARG002 - the Protocol's name
        call: Call,  # noqa: ARG002 - the Protocol's name
    ) -> AbstractAsyncContextManager[CallCount]:
        """See `CountsCalls`."""
        return UNLIMITED


class UnlimitedCall(AbstractAsyncContextManager[CallCount]):
    """Counts nothing."""

    async def __aexit__(self, *_: object) -> None:
        """Nothing is held."""

    async def __aenter__(self) -> Self:
        return self

    def undo(self) -> None:
        """Nothing was counted."""


UNLIMITED: Final = UnlimitedCall()
NO_LIMITS: Final = NoLimits()
