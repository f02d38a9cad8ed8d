"""A mock of an imported document that its first request opens."""

import asyncio
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
        self._opening = asyncio.Lock()

    async def handle(self, request: WireRequest) -> WireReply:
        """The reply to `request`. Raises `ConfigurationError` if the state cannot be used."""
        application = self._application or await self._open()
        return await application.handle(request)

    def close(self) -> None:
        """Close the state."""
        self._state.close()

    async def _open(self) -> ImportedApplication:
        async with self._opening:
            if self._application is None:
                # To read a thousand operations takes a while, in which other calls go on.
                self._application = await asyncio.to_thread(self._opened)
            return self._application
