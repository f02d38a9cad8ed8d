"""A report as SARIF 2.1.0 (OASIS), with what GitHub code scanning needs to show it.

A result needs a place; one without a file is shown at the project's index. Fingerprints know
neither lines nor inputs, so that a finding stays the same while its file is edited.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final
from urllib.parse import quote

import msgspec

from gateway.cli.reports.findings import findings
from gateway.cli.reports.record import Check, Report
from gateway.cli.reports.texts import data, json_inert, line, lines, place, replay_lines, short
from gateway.installed import PACKAGE
from gateway.project_folder import INDEX

_LEVELS: Final = {"error": "error", "warning": "warning", "info": "note"}
_NO_FILE: Final = f"schemas/{INDEX}"
_RESULTS: Final = 5000
"""GitHub shows no more of one run."""
_MESSAGE: Final = 4000


def sarif(report: Report) -> str:
    """The log, as indented JSON. What passed is not in it."""
    found = findings(report)
    shown = found[:_RESULTS]
    rules = sorted({each.check for each in shown})
    run = {
        "tool": {"driver": _driver(rules, shown)},
        "automationDetails": {"id": f"{_category(report.command)}/"},
        "invocations": [_invocation(report, len(found) - len(shown))],
        "columnKind": "unicodeCodePoints",
        "results": _results(shown, {rule: index for index, rule in enumerate(rules)}),
    }
    if report.seed is not None:
        run["properties"] = {"seed": report.seed}
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json_inert(msgspec.json.format(msgspec.json.encode(log), indent=2).decode()) + "\n"


_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def _category(command: str) -> str:
    """Replaces the results of the same command: its name without arguments."""
    return "-".join(word for word in short(command).split()[:2] if word.isidentifier()) or PACKAGE


def _driver(rules: Sequence[str], found: Iterable[Check]) -> dict[str, Any]:
    reasons = {each.check: line(each.sides.reason) for each in found if each.sides}
    return {
        "name": PACKAGE,
        "version": version(PACKAGE),
        "rules": [_rule(rule, reasons.get(rule)) for rule in rules],
    }


def _rule(rule: str, reason: str | None) -> dict[str, Any]:
    described = {"id": short(rule), "shortDescription": {"text": _sentence(short(rule))}}
    return {**described, "fullDescription": {"text": reason}} if reason else described


def _sentence(rule: str) -> str:
    return rule.replace("-", " ").strip().capitalize() or "Check"


def _invocation(report: Report, left_out: int) -> dict[str, Any]:
    notes = [{"level": "warning", "message": {"text": f"{left_out} more results are left out"}}]
    return {
        "executionSuccessful": True,
        "commandLine": line(report.command),
        "toolExecutionNotifications": notes if left_out else [],
    }


def _results(found: Iterable[Check], rules: Mapping[str, int]) -> list[dict[str, Any]]:
    numbers: Counter[str] = Counter()
    results = []
    for check in found:
        mark = _fingerprint(check)
        numbers[mark] += 1
        results.append(_result(check, rules[check.check], f"{mark}:{numbers[mark]}"))
    return results


def _fingerprint(check: Check) -> str:
    """Of what makes a finding the same: neither its line nor its input."""
    parts = (check.subject, check.check, check.path or "", check.pointer or "", check.cause)
    encoded = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(encoded).hexdigest()[:32]


def _result(check: Check, rule: int, fingerprint: str) -> dict[str, Any]:
    return {
        "ruleId": short(check.check),
        "ruleIndex": rule,
        "level": _LEVELS[check.severity],
        "message": {"text": _message(check)},
        "locations": [_location(check)],
        "partialFingerprints": {
            "contractFinding/v1": fingerprint,
            "primaryLocationLineHash": fingerprint,
        },
        "properties": _properties(check),
    }


def _message(check: Check) -> str:
    """No part of it is a link: `[text](1)` would be one (SARIF §3.11.6)."""
    said = lines(check.text, _MESSAGE) or check.outcome
    known = "" if check.outcome == "failed" else f"{check.outcome.capitalize()}. "
    return f"{short(check.subject)}: {known}{said}".replace("](", "] (")


def _location(check: Check) -> dict[str, Any]:
    name = f"{short(check.subject)} {line(check.pointer or '')}".strip()
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(check.path or _NO_FILE)}}
    physical["region"] = {"startLine": max(check.line or 1, 1)}
    return {
        "physicalLocation": physical,
        "logicalLocations": [{"name": short(check.subject), "fullyQualifiedName": name}],
    }


def _uri(path: str) -> str:
    """A relative reference, whatever the file's name is."""
    return quote(short(path).replace("\\", "/").lstrip("/"), safe="/") or _NO_FILE


def _properties(check: Check) -> dict[str, Any]:
    found = {"at": place(check), "input": data(check.input or "")}
    found.update(replay_lines(check))
    if (sides := check.sides) is not None:
        found |= {"verdict": sides.verdict, "acceptedBy": sides.accepted_by or ""}
    return {name: text for name, text in found.items() if text}
