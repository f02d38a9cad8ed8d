"""How much of a machine one document may use."""

import time
from typing import Final

from msgspec import Struct

_MEBIBYTE: Final = 1024 * 1024


class ReadingBudget(Struct, frozen=True, kw_only=True):
    """Limits of reading one document, all its files together."""

    size_bytes: int = 64 * _MEBIBYTE
    """Also the limit of the text of a YAML document after its aliases are replaced."""
    nodes: int = 5_000_000
    """Objects, arrays and scalars, with aliases counted as if they were replaced."""
    depth: int = 200
    seconds: float = 60.0


DEFAULT: Final = ReadingBudget()


class OutOfBudget(ValueError):
    """The document needs more than the budget. The message names the limit."""


class Meter:
    """Counts the work on one document. Raises `OutOfBudget` when a limit is passed."""

    def __init__(self, budget: ReadingBudget = DEFAULT) -> None:
        self.budget = budget
        self.nodes = 0
        self.text = 0
        self._bytes = 0
        self._ends_at = time.monotonic() + budget.seconds
        self._checked_at = 0

    def add(self, nodes: int, text: int = 0) -> None:
        """Count `nodes` values and `text` characters of text."""
        self.nodes += nodes
        self.text += text
        if self.nodes > self.budget.nodes:
            raise OutOfBudget(f"it has more than {self.budget.nodes:,} values")
        if self.text > self.budget.size_bytes:
            raise OutOfBudget(f"its text is longer than {self.budget.size_bytes:,} characters")
        if self.nodes - self._checked_at > 10_000:
            self._checked_at = self.nodes
            self.check_time()

    def add_bytes(self, size: int) -> None:
        """Count a file of `size` bytes."""
        self._bytes += size
        if self._bytes > self.budget.size_bytes:
            raise OutOfBudget(f"it is larger than {self.budget.size_bytes:,} bytes")

    def check_time(self) -> None:
        """Raise `OutOfBudget` if the time is over."""
        if time.monotonic() > self._ends_at:
            raise OutOfBudget(f"it takes longer than {self.budget.seconds:g} seconds to read")
