"""What every mock of an upstream offers."""

from typing import Protocol

from gateway.backends.wire import WireReply, WireRequest
from gateway.clock import Clock


class MockApplication(Protocol):
    """Answers requests like the upstream."""

    @property
    def clock(self) -> Clock:
        """The mock's own clock."""
        ...

    @property
    def base_url(self) -> str | None:
        """The URL in the mock's links to itself."""
        ...

    async def handle(self, request: WireRequest) -> WireReply:
        """The reply to `request`.

        Raises `MockBrokeContract`, and `ConfigurationError` if the state's file cannot be used.
        """
        ...

    def close(self) -> None:
        """Close the state."""
        ...
