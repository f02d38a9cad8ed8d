"""The result of a reload."""

from msgspec import Struct


class ReloadVerdict(Struct, frozen=True, kw_only=True):
    """What a reload did."""

    began: float
    """The monotonic time of the machine, in seconds."""
    problem: str | None = None
    """Why the gateway continues with what it served before. None: it serves the new set."""
    tools: int = 0
    """The number of tools that it serves."""
