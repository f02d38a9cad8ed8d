"""How a worker works: how much at once, and how often it looks."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from gateway.store.records import JobKind

SLOTS: Final[Mapping[JobKind, int]] = MappingProxyType({"webhook": 8, "call": 1, "delivery": 4})
"""Jobs under way at once, by kind, for each unit of `WorkerConfig.size`.

Webhooks are many and small, and share transactions; deliveries mostly wait for others."""
LANE_SHARE: Final = 4
"""One endpoint takes at most this part of the slots for deliveries, so that a slow one leaves the
others room."""


class WorkerConfig(Struct, frozen=True, kw_only=True):
    """How much a worker does at once, and the times by which it goes."""

    size: int = 4
    """A multiple of `SLOTS`."""
    lease_seconds: float = 30.0
    """How long a claim holds without a sign of life."""
    sweep_seconds: float = 5.0
    """Between two looks for claims that have ended."""
    poll_seconds: float = 0.5
    """Between two looks for work when nobody tells of any."""
    run_seconds: float = 120.0
    """The longest run."""
    grace_seconds: float = 10.0
    """What runs may go on that long when the worker stops."""

    @property
    def heartbeat_seconds(self) -> float:
        """Between two signs of life: five may be missed before the claim ends."""
        return self.lease_seconds / 6

    @property
    def holding_seconds(self) -> float:
        """How long a claim counts as held here: less than its lease, for clocks drift apart."""
        return self.lease_seconds * 0.9


USUAL: Final = WorkerConfig()
