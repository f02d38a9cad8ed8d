"""Which requests without a valid key leave a record: some of them, and the number of the others.

Anybody can send as many as they like, so a record for each would let anybody fill the disk.
"""

from typing import Final

from gateway.clock import Clock
from gateway.limits.buckets import Bucket, Rate

USUAL_RATE: Final = Rate(1, 100)
"""A record per second, after a hundred at once."""


class Denials:
    """Chooses the requests to be recorded, and counts all."""

    def __init__(self, clock: Clock, rate: Rate = USUAL_RATE) -> None:
        self._clock = clock
        self._bucket = Bucket(rate, 0.0)
        self.total = 0
        """Requests that were denied since the start."""
        self.unrecorded = 0
        """Those of them since the last record that have none."""

    def choose(self) -> int | None:
        """How many have gone unrecorded since the last record, if this one is to be recorded."""
        self.total += 1
        if self._bucket.take(self._clock.monotonic()):
            self.unrecorded += 1
            return None
        unrecorded, self.unrecorded = self.unrecorded, 0
        return unrecorded
