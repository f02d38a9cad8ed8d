"""What a caller has used of its limits, as its call found it. Transports show it."""

from msgspec import Struct


class LimitStanding(Struct, frozen=True, kw_only=True):
    """What is used of one limit."""

    name: str
    max: int
    used: int
    window_seconds: int | None
    """None: a limit of calls at the same time."""
    cost: int | None = None
    """What the call takes of a budget. None: the limit is no budget."""
    left_seconds: float | None = None
    """Until something comes back. None: nothing is used, or nobody knows."""


class LimitReport:
    """Filled in by the pipeline when a call has limits. Empty for other calls."""

    __slots__ = ("standings",)

    def __init__(self) -> None:
        self.standings: tuple[LimitStanding, ...] = ()
