"""A mock of an imported document that its first request opens."""

from collections.abc import Callable

from gateway.backends.mock.imported.application import ImportedApplication
from gateway.backends.mock.state import StoredState
from gateway.backends.wire import WireReply, WireRequest
from gateway.clock import Clock


class DeferredApplication:
    """See `ImportedApplication`. A gateway with many documents uses few of their mocks."""

    def __init__(
        self,
        opened: Callable[[], ImportedApplication],
        clock: Clock,
        base_url: str | None,
        state: StoredState,
    ) -> None:
        self.clock = clock
        """The mock's own clock."""
        self.base_url = base_url
        self._opened = opened
        self._state = state
        self._application: ImportedApplication | None = None

    async def handle(self, request: WireRequest) -> WireReply:
        """The reply to `request`. Raises `ConfigurationError` if the state cannot be used."""
        if self._application is None:
            self._application = self._opened()
        return await self._application.handle(request)

    def close(self) -> None:
        """Close the state."""
        self._state.close()
