"""The record of a lint rule."""

from msgspec import Struct

from gateway.contracts.finding import Severity


class Rule(Struct, frozen=True):
    """A rule that contracts must follow, and how to fix a violation."""

    id: str
    meaning: str
    """What is true for every contract that follows the rule, in one or two sentences."""
    fix: str
    severity: Severity = Severity.ERROR
