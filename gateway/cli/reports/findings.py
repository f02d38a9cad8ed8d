"""What a reader of a report wants first: its findings, the worst first, and its totals."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from gateway.cli.reports.record import Check, ContractCoverage, Report

_SEVERITIES: Final = {"error": 0, "warning": 1, "info": 2}
_OUTCOMES: Final = {"failed": 0, "undecided": 1}


def findings(report: Report) -> list[Check]:
    """The checks that found something or could not be decided, the worst first."""
    found = (each for each in report.checks if each.outcome in _OUTCOMES)
    return sorted(found, key=_rank)


def _rank(check: Check) -> tuple[int, int, str, str]:
    outcome = _OUTCOMES[check.outcome]
    return _SEVERITIES[check.severity], outcome, check.subject, check.check


def by_cause(found: Iterable[Check]) -> list[list[Check]]:
    """Findings of one cause together, in the order of the first of each."""
    groups: dict[object, list[Check]] = {}
    for check in found:
        key = (check.check, check.cause, verdict(check)) if check.cause else id(check)
        groups.setdefault(key, []).append(check)
    return list(groups.values())


def totals(checks: Iterable[Check]) -> list[tuple[str, str, int]]:
    """How many checks have each result, as its kind and its word, the worst kind first."""
    counted = Counter((verdict(each), word(each)) for each in checks)
    ordered = sorted(counted, key=lambda each: (KINDS.index(each[0]), each[1]))
    return [(*each, counted[each]) for each in ordered]


KINDS: Final = ("failed", "undecided", "warning", "note", "skipped", "passed")
"""What may become of a check, the worst first."""


def word(check: Check) -> str:
    """What a person reads of it: of a change, what is known of it."""
    return verdict(check) if check.sides is None else check.sides.verdict


def verdict(check: Check) -> str:
    """What became of a check: one of the `KINDS`."""
    if check.outcome == "failed" and check.severity != "error":
        return "warning" if check.severity == "warning" else "note"
    return check.outcome


def headline(report: Report) -> str:
    """The result in one short sentence."""
    failing = sum(each.fails for each in report.checks)
    skipped = sum(each.outcome == "skipped" for each in report.checks)
    total = len(report.checks) - skipped
    noun = report.of if total != 1 else report.of.removesuffix("s")
    left_out = f", {skipped:,} skipped" if skipped else ""
    if total == 0:
        return f"nothing was checked{left_out}" if report.of == "checks" else "no change"
    if failing == 0:
        return f"none of {total:,} {noun} fails{left_out}"
    return f"{failing:,} of {total:,} {noun} {'fails' if failing == 1 else 'fail'}{left_out}"


def score(coverage: Iterable[ContractCoverage]) -> tuple[int, int]:
    """How many mutants were killed, of how many that are not equivalent and could be decided."""
    counted = [each.mutants for each in coverage if each.mutants is not None]
    killed = sum(each.killed for each in counted)
    return killed, killed + sum(len(each.survivors) for each in counted)
