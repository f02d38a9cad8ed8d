"""Limits the audit records of requests without a valid key. The other ones are only counted.

Anyone can send such requests at any rate. A record of each would let anyone fill the disk.
"""

from typing import Final

from gateway.clock import Clock
from gateway.limits.buckets import Bucket, Rate

DEFAULT_RATE: Final = Rate(1, 100)
"""A hundred records at once, then one per second."""


class Denials:
    """Decides which denied requests are recorded, and counts all of them."""

    def __init__(self, clock: Clock, rate: Rate = DEFAULT_RATE) -> None:
        self._clock = clock
        self._bucket = Bucket(rate, 0.0)
        self.total = 0
        """Denied requests since the start."""
        self.unrecorded = 0
        """Denied requests without a record since the last one with a record."""

    def choose(self) -> int | None:
        """Count one request. Returns how many before it were not recorded, or None if it is not to
        be recorded either."""
        self.total += 1
        if self._bucket.take(self._clock.monotonic()):
            self.unrecorded += 1
            return None
        unrecorded, self.unrecorded = self.unrecorded, 0
        return unrecorded
