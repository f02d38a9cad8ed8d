"""What one proof came to when the authority judged it."""

from enum import StrEnum
from typing import Any, Final, Protocol

from msgspec import Struct


class Verdict(StrEnum):
    """What the gateway said, and whether that was right."""

    CONTAINED = "contained"
    WITNESS = "witness"
    UNDECIDED = "undecided"
    UNSOUND = "unsound"


EMPTY: Final = "there is no value"
"""The reason of a proof about a schema that is proved to admit nothing."""


class Outcome(Struct):
    """One proof."""

    verdict: Verdict
    case: dict[str, Any]
    """All that is needed to ask again: the schemas, the map."""
    reason: str = ""
    """Why it is undecided, or what is wrong with it."""
    values: int = 0
    """On how many values the authority judged it."""


class Kind(Protocol):
    """A module with these functions is a kind of proof: `proofs.py` lists it."""

    @staticmethod
    def trial(seed: str) -> list[Outcome]:
        """Some proofs for a seed. The same seed gives the same ones."""
        ...

    @staticmethod
    def judged(case: dict[str, Any], seed: str) -> Outcome:
        """The proof of one case, for shrinking and for asking again."""
        ...

    @staticmethod
    def schemas_of(case: dict[str, Any]) -> list[str]:
        """The members of the case that shrinking may change, each a schema."""
        ...
