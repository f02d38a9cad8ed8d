"""A mock that goes on where it ended: what it remembers is never ahead of its time."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from gateway.backends.mock.application import MockOptions, UpstreamApplication
from gateway.backends.mock.faults import ScenarioStep
from gateway.backends.mock.state import StoredState
from gateway.clock import Clock, MockClock
from gateway.contract.upstream import Upstream


def remembering(
    upstream: Upstream,
    clock: Clock,
    *,
    file: Path | None,
    start: datetime | None,
    options: MockOptions,
    scenario: Sequence[ScenarioStep] = (),
) -> UpstreamApplication:
    """The mock that remembers in `file`, or in memory without one.

    Its time is that of `clock`, or begins at `start` where that is said, and never before what is
    remembered; at speed 0 it stands still. Raises `ConfigurationError` when the file cannot be
    used.
    """
    state = StoredState(file)
    # Read also where no start is said, so that a file that cannot be used is refused now.
    latest = state.latest()
    if start is not None:
        start = max(start, latest or start)
    mock_clock = MockClock(clock, start, is_still=not options.speed)
    return UpstreamApplication(
        upstream, mock_clock, options=options, state=state, scenario=scenario
    )
