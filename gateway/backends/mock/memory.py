"""Opens a mock with stored state. Its clock starts no earlier than the state's latest change."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from gateway.backends.mock.application import MockOptions, UpstreamApplication
from gateway.backends.mock.faults import ScenarioStep
from gateway.backends.mock.imported.application import ImportedApplication
from gateway.backends.mock.protocol import MockApplication
from gateway.backends.mock.state import StoredState
from gateway.backends.wire import WireReply, WireRequest
from gateway.clock import Clock, MockClock
from gateway.contract.imported import ImportedConnector
from gateway.contract.upstream import Upstream


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


def open_mock(
    upstream: Upstream,
    clock: Clock,
    *,
    file: Path | None,
    start: datetime | None,
    options: MockOptions,
    scenario: Sequence[ScenarioStep] = (),
) -> UpstreamApplication:
    """A mock that stores its state in `file`, or in memory if that is None.

    Without `start`, its clock is `clock`. With `start`, its clock starts then, or at the latest
    change of the state if that is later. At speed 0 the clock stands still. Raises
    `ConfigurationError` if the file cannot be used.
    """
    state, mock_clock = _opened(clock, file, start, options)
    return UpstreamApplication(
        upstream, mock_clock, options=options, state=state, scenario=scenario
    )


def open_imported_mock(
    read: Callable[[], ImportedConnector],
    clock: Clock,
    *,
    file: Path | None,
    start: datetime | None,
    options: MockOptions,
    scenario: Sequence[ScenarioStep] = (),
) -> MockApplication:
    """The mock of the document that `read` gives. See `open_mock`.

    The document is read by the first request. `options` has its base URL.
    """
    state, mock_clock = _opened(clock, file, start, options)

    def opened() -> ImportedApplication:
        application = ImportedApplication(
            read(), mock_clock, options=options, state=state, scenario=scenario
        )
        application.prepare()
        return application

    return DeferredApplication(opened, mock_clock, options.base_url, state)


def _opened(
    clock: Clock, file: Path | None, start: datetime | None, options: MockOptions
) -> tuple[StoredState, MockClock]:
    state = StoredState(file)
    # Read also without `start`, so that a file that cannot be used is refused now.
    latest = state.latest()
    if start is not None:
        start = max(start, latest or start)
    return state, MockClock(clock, start, is_still=not options.speed)
