"""Why there is no sample."""

from typing import Final

from msgspec import Struct

MAX_WORK: Final = 200_000
"""The most steps for one sample: about as many characters, or a twentieth of as many parts."""


class NoSample(Exception):
    """No value of the schema was found. There may be none, or it is too hard to find."""


class Steps(Struct):
    """The steps that are left for one sample, in all its attempts.

    A document chooses counts, patterns and how they multiply, so what it asks for is counted
    before it is made.
    """

    left: int = MAX_WORK

    def spend(self, steps: int) -> None:
        """Count the next steps. Raises `NoSample` if too few are left, and then always."""
        self.left = self.left - steps if steps <= self.left else 0
        if not self.left:
            raise NoSample("a value takes too many steps to find")
