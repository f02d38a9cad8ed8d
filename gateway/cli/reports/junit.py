"""A report as JUnit XML, as pytest writes it and as GitLab, GitHub's actions and Jenkins read it.

A check that fails is a failure, one that is undecided an error. Warnings fail nothing, so they
are the output of a case that passed. Nothing here depends on the clock.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from gateway.cli.reports.findings import verdict
from gateway.cli.reports.record import Check, ContractCoverage, Report
from gateway.cli.reports.texts import explained, line, short

_MESSAGE: Final = 500
"""The characters of an attribute that lists of failures show."""


def junit(report: Report) -> str:
    """The XML document, with a test suite for each subject."""
    root = Element("testsuites", name=short(report.command), time=_time(report.seconds))
    _count(root, report.checks)
    measured = {each.subject: each for each in report.coverage}
    for subject, checks in _by_subject(report.checks):
        _put_suite(root, subject, checks, measured.get(subject))
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'


def _by_subject(checks: Iterable[Check]) -> Iterator[tuple[str, list[Check]]]:
    ordered = sorted(checks, key=lambda each: each.subject)
    for subject, found in groupby(ordered, key=lambda each: each.subject):
        yield subject, list(found)


def _count(element: Element, checks: Sequence[Check]) -> None:
    failing = Counter(each.outcome for each in checks if each.fails)
    element.set("tests", str(len(checks)))
    element.set("failures", str(failing["failed"]))
    element.set("errors", str(failing["undecided"]))


def _put_suite(
    root: Element, subject: str, checks: Sequence[Check], coverage: ContractCoverage | None
) -> None:
    total = sum(each.seconds for each in checks)
    suite = SubElement(root, "testsuite", name=short(subject), time=_time(total))
    _count(suite, checks)
    suite.set("skipped", str(sum(_is_skipped(each) for each in checks)))
    if coverage is not None:
        _put_coverage(suite, coverage)
    names: Counter[str] = Counter()
    for check in checks:
        names[check.check] += 1
        number = names[check.check]
        _put_case(suite, check, check.check if number == 1 else f"{check.check} #{number}")


def _put_coverage(suite: Element, coverage: ContractCoverage) -> None:
    properties = SubElement(suite, "properties")
    values = {"keywords": f"{coverage.seen}/{coverage.keywords}"}
    if (mutants := coverage.mutants) is not None:
        values["mutants killed"] = str(mutants.killed)
        values["mutants survived"] = str(len(mutants.survivors))
    for name, value in values.items():
        SubElement(properties, "property", name=name, value=value)


def _put_case(suite: Element, check: Check, name: str) -> None:
    case = SubElement(
        suite,
        "testcase",
        classname=short(check.subject),
        name=short(name),
        time=_time(check.seconds),
    )
    message = line(check.text, _MESSAGE)
    if check.fails:
        tag = "failure" if check.outcome == "failed" else "error"
        SubElement(case, tag, type=short(check.check), message=message).text = explained(check)
    elif _is_skipped(check):
        SubElement(case, "skipped", message=message)
    elif check.outcome == "failed":
        SubElement(case, "system-out").text = f"{verdict(check)}: {explained(check)}"


def _is_skipped(check: Check) -> bool:
    """Whether nothing is known and nothing fails. What is undecided may be acknowledged."""
    return check.outcome in {"skipped", "undecided"} and not check.fails


def _time(seconds: float) -> str:
    return f"{seconds:.3f}"
