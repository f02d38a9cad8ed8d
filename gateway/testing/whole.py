"""`gateway verify --all`: the vectors of all schemas and the contract suite, beside the calls."""

import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

import click
import msgspec
from msgspec import Struct

from gateway.amounts import amount
from gateway.catalogue import Catalogue
from gateway.cli.output import print_table, progress
from gateway.cli.problems import CANNOT_RUN, plain
from gateway.cli.reports.record import Check, ContractCoverage, Report
from gateway.errors import ConfigurationError
from gateway.settings import Settings
from gateway.testing import BUDGET_OPTION, REPORT_OPTION
from gateway.testing.kept_vectors import schemas_of, vectors_for
from gateway.testing.records import by_contract, contract_of
from gateway.testing.test import run_suite
from gateway.testing.vectors import LEAST_SCORE

_LEAST_SECONDS: Final = 10.0
"""Of a budget that the calls have spent, the suite gets this."""
_COLUMNS: Final = ("checks", "failed", "killed", "equivalent", "undecided", "score")


class Whole(Struct, frozen=True, kw_only=True):
    """What vectors and the suite found."""

    checks: tuple[Check, ...]
    coverage: tuple[ContractCoverage, ...]
    """Of each contract, the mutation score."""


def verify_whole(
    settings: Settings, catalogue: Catalogue, budget: float | None, began: float
) -> Whole:
    """Make or read the vectors, then run the suite. `budget`: seconds from `began` to its end.

    Raises `ConfigurationError` for vectors that are kept but cannot be used, and if the suite
    cannot run.
    """
    measured: list[ContractCoverage] = []
    low: list[Check] = []
    with progress("vectors") as report:
        for contract in schemas_of(catalogue, settings):
            report(contract.subject)
            found = vectors_for(contract, settings.schemas)
            measured.append(found.coverage(contract.subject))
            if found.score < LEAST_SCORE:
                text = f"{contract.subject}: {found.score:.1%} of the decidable mutants are killed"
                low.append(
                    Check(
                        subject=contract_of(contract.subject),
                        check="mutation-score",
                        outcome="failed",
                        text=text,
                    )
                )
    left = None if budget is None else budget - (time.monotonic() - began)
    checks = _suite(settings, left)
    return Whole(checks=(*low, *checks), coverage=tuple(by_contract(measured)))


def _suite(settings: Settings, budget: float | None) -> tuple[Check, ...]:
    """The checks of `gateway test`. Its own lines are printed beside the result."""
    with tempfile.TemporaryDirectory(prefix="gateway-suite-") as folder:
        file = Path(folder, "suite.json")
        options = [REPORT_OPTION, str(file)]
        if budget is not None:
            options += [BUDGET_OPTION, str(max(budget, _LEAST_SECONDS))]
        code = run_suite(settings, ["-q", "--no-header", *options], output=sys.stderr)
        if code == CANNOT_RUN or not file.is_file():
            raise ConfigurationError("the contract suite did not run; see its output above")
        return msgspec.json.decode(file.read_bytes(), type=Report).checks


def print_whole(report: Report, calls: Mapping[str, Mapping[str, int]]) -> None:
    """One row for each subject, and the totals. `calls`: by tool, those over each transport."""
    transports = [*dict.fromkeys(chain.from_iterable(calls.values()))]
    rows = [*_rows(report, calls, transports)]
    totals = tuple(f"{sum(each):,}" for each in zip(*(row[1] for row in rows), strict=True))
    killed, survivors = _mutants(report.coverage)
    score = f"{killed / (killed + survivors):.2%}" if killed + survivors else ""
    table = [(name, *(f"{each:,}" if each else "" for each in n), rate) for name, n, rate in rows]
    print_table(("subject", *transports, *_COLUMNS), [*table, ("total", *totals, score)])
    for each in report.checks:
        if each.fails:
            click.echo(
                plain(f"error: {each.subject} {each.check}: {each.text.partition(chr(10))[0]}")
            )
    for coverage in report.coverage:
        for text in coverage.mutants.survivors if coverage.mutants else ():
            click.echo(plain(f"survived: {coverage.subject} {text}"))
    failed = sum(each.fails for each in report.checks)
    click.echo(
        f"{amount(len(report.coverage), 'contract')}, {amount(failed, 'failed check')};"
        f" {killed:,} of {amount(killed + survivors, 'decidable mutant')} killed"
    )


def _rows(
    report: Report, calls: Mapping[str, Mapping[str, int]], transports: Sequence[str]
) -> Iterator[tuple[str, tuple[int, ...], str]]:
    measured = {each.subject: each for each in report.coverage}
    checks: dict[str, list[Check]] = {}
    for check in report.checks:
        checks.setdefault(check.subject, []).append(check)
    for name in dict.fromkeys([*calls, *measured, *checks]):
        made = [calls.get(name, {}).get(each, 0) for each in transports]
        own = [each for each in checks.get(name, ()) if each.outcome != "skipped"]
        counted = [measured[name]] if name in measured else []
        killed, survivors = _mutants(counted)
        mutants = counted[0].mutants if counted else None
        equivalent, undecided = (mutants.equivalent, len(mutants.undecided)) if mutants else (0, 0)
        score = f"{killed / (killed + survivors):.1%}" if killed + survivors else ""
        failed = sum(each.fails for each in own)
        yield name, (*made, len(own), failed, killed, equivalent, undecided), score


def _mutants(coverage: Iterable[ContractCoverage]) -> tuple[int, int]:
    """How many are killed, and how many survived."""
    found = [each.mutants for each in coverage if each.mutants is not None]
    return sum(each.killed for each in found), sum(len(each.survivors) for each in found)
