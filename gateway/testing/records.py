"""Checks for reports, made of verdicts and of the reports of pytest."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec

from gateway.amounts import amount
from gateway.catalogue import Catalogue
from gateway.cli.reports.record import Check, ContractCoverage, Mutants, ReplayLines
from gateway.errors import UnknownOperation
from gateway.testing.judging import MEANING, Verdict
from gateway.testing.replays import replay_of

CHECKS: Final = "gateway checks"
"""The property of a test's report that has its checks as JSON text."""
COVERAGE: Final = "gateway coverage"
"""The property that has what was exercised of a schema as JSON text."""
SUBJECT: Final = "gateway subject"
"""The property that has what a test of the suite is about."""
CASES: Final = "gateway cases"
"""The property that has how many inputs were tried."""
_PARAMETER: Final = "gateway_"
"""How the names of parameters begin that say what a test is about."""
_PARTS: Final = frozenset({"gateway_contract_schema", "gateway_link"})
"""The parameters that name a part of a contract or tool: reports are about the whole."""
_ROUTE: Final = "gateway_documented"
"""The parameter that names a method and path: that of a tool is about the tool."""
_LONG: Final = 4_000
_GROUPS: Final = 20
_SHOWN: Final = 3
_SHOWN_TEXT: Final = 600


def checks_of(verdicts: Sequence[Verdict], catalogue: Catalogue) -> list[Check]:
    """A failed check for each oracle and each input, over all transports."""
    by_input: dict[tuple[str, str, bytes], list[Verdict]] = {}
    for each in verdicts:
        by_input.setdefault((each.case.contract, each.oracle, each.case.arguments), []).append(each)
    return [_check(failed, catalogue) for failed in by_input.values()]


def _check(failed: Sequence[Verdict], catalogue: Catalogue) -> Check:
    first = failed[0]
    told: dict[str, list[str]] = {}
    for each in failed:
        told.setdefault(each.cause, []).append(each.transport)
    text = "; ".join(f"{', '.join(names)}: {cause}" for cause, names in told.items())
    replay = ReplayLines(command=first.replay)
    with suppress(UnknownOperation):
        replay = replay_of(catalogue.find(first.case.contract), first.case.arguments)
    where = ", ".join(each.transport for each in failed)
    return Check(
        subject=first.case.contract,
        check=first.oracle,
        outcome="failed",
        text=text[:_LONG],
        pointer=first.place or None,
        cause=" ".join(filter(None, (first.oracle, first.place, "at", where))),
        input=first.case.arguments.decode("utf-8", "backslashreplace"),
        replay=replay,
    )


def checks_of_test(report: Any) -> Iterator[Check]:
    """What the report of a test of the suite says."""
    properties = dict(report.user_properties)
    found = msgspec.json.decode(properties.get(CHECKS, "[]"), type=list[Check])
    yield from found
    # What fails for another reason than its checks is never shown as passed.
    if found and (report.outcome == "passed" or any(each.fails for each in found)):
        return
    name = report.nodeid.rpartition("::")[2].partition("[")[0].removeprefix("test_")
    text = "" if report.outcome == "passed" else _reason(report)
    yield Check(
        subject=properties[SUBJECT] or "project",
        check=name.replace("_", "-"),
        outcome=report.outcome,
        text=text[:_LONG],
        cases=int(properties.get(CASES, 1)),
        seconds=round(report.duration, 6),
        cause=f"{name} {text.partition(chr(10))[0][:200]}" if report.outcome == "failed" else "",
    )


def as_property(found: Sequence[Check] | ContractCoverage) -> str:
    """The text of the property `CHECKS` or `COVERAGE`."""
    return msgspec.json.encode(found).decode()


def coverage_of_test(report: Any) -> Iterator[ContractCoverage]:
    """What the report of a test says that was exercised."""
    for name, text in report.user_properties:
        if name == COVERAGE:
            yield msgspec.json.decode(text, type=ContractCoverage)


def by_contract(measured: Iterable[ContractCoverage]) -> Iterator[ContractCoverage]:
    """One record for all schemas of a contract. What was missed begins with the schema's kind."""
    found: dict[str, list[ContractCoverage]] = {}
    for each in measured:
        found.setdefault(contract_of(each.subject), []).append(each)
    for contract, parts in found.items():
        judged = [(each.subject, each.mutants) for each in parts if each.mutants is not None]
        yield ContractCoverage(
            subject=contract,
            keywords=sum(each.keywords for each in parts),
            seen=sum(each.seen for each in parts),
            missed=tuple(_placed(p.subject, each) for p in parts for each in p.missed),
            mutants=Mutants(
                killed=sum(each.killed for _, each in judged),
                equivalent=sum(each.equivalent for _, each in judged),
                undecided=tuple(_placed(name, m) for name, each in judged for m in each.undecided),
                survivors=tuple(_placed(name, m) for name, each in judged for m in each.survivors),
            )
            if judged
            else None,
            seconds=round(sum(each.seconds for each in parts), 3),
        )


def contract_of(schema: str) -> str:
    """The contract that the subject of a schema or link names: `example.greet` of
    `example.greet input`, and of `example.greet#0`."""
    return schema.partition(" ")[0].partition("#")[0]


def _placed(schema: str, text: str) -> str:
    return f"{schema.rpartition(' ')[2]} {text}"


def _reason(report: Any) -> str:
    if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(report.longrepr if crash is None else crash.message)


def subject_of(item: Any, catalogue: Catalogue) -> str:
    """What a test of the suite is about: the tool, the event or the agent. Empty: all of them."""
    params = getattr(getattr(item, "callspec", None), "params", {})
    found = next((str(v) for n, v in params.items() if n.startswith(_PARAMETER)), "")
    if _ROUTE in params:
        tools = (e.id for e in catalogue.entries if found == f"POST {e.operation.route}")
        return next(tools, found)
    return contract_of(found) if _PARTS & params.keys() else found


def grouped(checks: Iterable[Check]) -> Iterator[str]:
    """Lines on what failed, of each cause together, the most frequent first."""
    failed = [each for each in checks if each.outcome == "failed"]
    counts = Counter(each.cause or each.check for each in failed)
    for cause, number in counts.most_common(_GROUPS):
        alike = [each for each in failed if (each.cause or each.check) == cause]
        subjects = list(dict.fromkeys(each.subject for each in alike))
        more = f" and {len(subjects) - _SHOWN} more" if len(subjects) > _SHOWN else ""
        yield f"{amount(number, 'failure')}: {cause}"
        yield f"  {', '.join(subjects[:_SHOWN])}{more}"
        if alike[0].check in MEANING:
            yield f"  {MEANING[alike[0].check]}: {alike[0].text[:_SHOWN_TEXT]}"
        replay = alike[0].replay
        for line in (replay.command, replay.curl, replay.rpc):
            if line is not None:
                yield f"  {line}"
    if len(counts) > _GROUPS:
        yield f"{amount(len(counts) - _GROUPS, 'more cause')}; a report has them all"
