"""One rule that contracts keep."""

from msgspec import Struct

from gateway.contracts.finding import Severity


class Rule(Struct, frozen=True):
    """How grave a break of the rule is, what the rule means, and how a break is mended."""

    id: str
    meaning: str
    """One sentence that is true of every contract that keeps the rule."""
    fix: str
    severity: Severity = Severity.ERROR
