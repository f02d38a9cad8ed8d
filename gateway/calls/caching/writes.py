"""The writes of each connector, which end what is kept of its results."""

from collections import Counter

from gateway.clock import Clock


class ConnectorWrites:
    """What the writes that this process has made mean for the results of their connectors.

    All generations share it: a write that the old one ends is seen by the new one.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ended: Counter[str] = Counter()
        self._unsettled: dict[str, float] = {}
        """Until when a write with an unknown outcome may still happen, by connector."""

    def number(self, connector: str) -> int:
        """The number of ended writes. A result that was kept before the latest one is not used."""
        return self._ended[connector]

    def end(self, connector: str, unsettled_seconds: float = 0.0) -> None:
        """Note that a write has ended, and for how long it may still happen."""
        self._ended[connector] += 1
        if unsettled_seconds:
            until = self._clock.monotonic() + unsettled_seconds
            self._unsettled[connector] = max(until, self._unsettled.get(connector, 0.0))

    def are_settled(self, connector: str) -> bool:
        """Whether no write of unknown outcome may still happen."""
        return self._unsettled.get(connector, 0.0) <= self._clock.monotonic()
