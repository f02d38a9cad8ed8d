"""One rule that contracts keep."""

from msgspec import Struct

from gateway.contracts.finding import Severity


class Rule(Struct, frozen=True):
    """The severity of the rule, its meaning, and how to fix a violation."""

    id: str
    meaning: str
    """One sentence that is true of every contract that keeps the rule."""
    fix: str
    severity: Severity = Severity.ERROR
