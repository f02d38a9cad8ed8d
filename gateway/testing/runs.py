"""One run of the suite by pytest: its seed, its budget of time, and its report."""

import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

import pytest

from gateway.cli.reports.forms import write
from gateway.cli.reports.record import Check, ContractCoverage, Report
from gateway.testing import BUDGET_OPTION, REPORT_OPTION, SEED_OPTION, seeding
from gateway.testing.gateways import catalogue_under_test
from gateway.testing.judging import Disagreement
from gateway.testing.records import (
    CHECKS,
    SUBJECT,
    as_property,
    by_contract,
    checks_of,
    checks_of_test,
    coverage_of_test,
    grouped,
    subject_of,
)
from gateway.testing.upstream_contracts import taken

_LOGGED: Final = 2_000
_LEFT_OUT: Final = "left out by the budget"
_SECONDS: Final[Mapping[str, float]] = {
    "an_agent_lists": 0.003,
    "not_strict_json": 0.003,
    "examples_arrive": 0.003,
    "members_that_are_new": 0.003,
    "tell_the_schema": 0.003,
    "an_escalation": 0.003,
    "what_is_kept": 0.003,
    "a_fault_of_the": 0.005,
    "its_signature": 0.01,
    "with_a_key": 0.01,
    "key_of_one_agent": 0.01,
    "a_body_reports": 0.01,
    "a_refused_token": 0.01,
    "a_selection": 0.015,
    "of_the_contract_work": 0.03,
    "its_contract_reaches": 0.03,
    "easily_changed": 0.05,
    "hold_or_flood": 0.03,
    "every_other_tool": 0.04,
    "no_answers": 0.05,
    "whatever_is_let_in": 0.1,
    "load_and_dump": 0.1,
    "of_a_payload": 0.2,
    "judged_by_their_gates": 0.3,
    "valid_arguments_are": 0.4,
    "no_secret": 0.7,
    "vectors_of": 1.0,
    "each_boundary": 1.0,
    "so_odd": 1.0,
    "workflow": 1.0,
}
"""By a piece of its name, what a test takes, about. The first piece counts that a name has."""
_OTHERS: Final = 0.05


def in_order(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The order of a run that has a budget: each kind of test gets the same share of the time.

    So each has been tried when a few seconds are spent, the cheap ones on most tools. Of a kind,
    those are first that are about different things. What takes all the time that is left is last.
    """
    numbers: Counter[str] = Counter()
    placed: list[tuple[tuple[bool, float, float], pytest.Item]] = []
    for item in sorted(items, key=lambda each: sha256(each.name.encode()).digest()):
        kind = item.name.partition("[")[0]
        seconds = next((each for piece, each in _SECONDS.items() if piece in kind), _OTHERS)
        is_last = "gateway_rest_of_budget" in getattr(item, "fixturenames", ())
        placed.append(((is_last, numbers[kind] * seconds, seconds), item))
        numbers[kind] += 1
    placed.sort(key=lambda each: each[0])
    return [item for _, item in placed]


class SuiteRun:
    """What a run is told, and what it has found. It is a plug-in of pytest."""

    def __init__(self, config: pytest.Config) -> None:
        self._budget: float | None = config.getoption(BUDGET_OPTION)
        self._files = [Path(each) for each in config.getoption(REPORT_OPTION)]
        self._seed: int | None = config.getoption(SEED_OPTION)
        self._began = time.monotonic()
        self._checks: list[Check] = []
        self._coverage: list[ContractCoverage] = []

    def left(self) -> float | None:
        """The seconds of the budget that are left. None: there is no budget."""
        if self._budget is None:
            return None
        return max(0.0, self._budget - (time.monotonic() - self._began))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put what finds most for its time first, if the time is limited."""
        if self._budget is not None:
            items[:] = in_order(items)
        for item in items:
            if _is_ours(item):
                item.user_properties.append((SUBJECT, subject_of(item, catalogue_under_test())))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Begin nothing after the end of the budget."""
        if self.left() == 0.0:
            pytest.skip(_LEFT_OUT)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Fail a test of the suite in which an upstream was sent what it does not allow."""
        try:
            result = yield
        finally:
            breaches = taken()
        if breaches and _is_ours(item):
            pytest.fail("\n".join(dict.fromkeys(map(str, breaches))), pytrace=False)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Give the report of a test the checks that failed in it."""
        report = yield
        error = None if call.excinfo is None else call.excinfo.value
        for each in _leaves(error):
            if isinstance(each, Disagreement):
                checks = checks_of(each.verdicts, catalogue_under_test())
                item.user_properties.append((CHECKS, as_property(checks)))
                report.user_properties = list(item.user_properties)
                # The code of the suite tells its reader nothing, and nor do the calls before.
                report.longrepr = str(each)
                report.sections = [(name, _last_error(text)) for name, text in report.sections]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a test has found."""
        is_result = report.when == "call" or report.outcome != "passed"
        if is_result and SUBJECT in dict(report.user_properties):
            self._checks += checks_of_test(report)
            self._coverage += coverage_of_test(report)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the causes of failures and what was left out, and write the reports."""
        for line in grouped(self._checks):
            terminalreporter.write_line(line)
        left_out = Counter(each.check for each in self._checks if each.text == _LEFT_OUT)
        if left_out:
            kinds = ", ".join(f"{name} ({number})" for name, number in left_out.items())
            terminalreporter.write_line(
                f"gateway: {left_out.total()} checks are left out, because the budget of"
                f" {self._budget:g} s is spent: {kinds}"
            )
        report = Report(
            command="gateway test" + (f" --seed {self._seed}" if self._seed else ""),
            seed=self._seed or 0,
            seconds=round(time.monotonic() - self._began, 3),
            checks=tuple(self._checks),
            coverage=tuple(by_contract(self._coverage)),
        )
        for path in self._files:
            write(report, path)


SUITE_RUN: Final = pytest.StashKey[SuiteRun]()


def begin(config: pytest.Config) -> None:
    """Register the run, and plant its seed."""
    run = SuiteRun(config)
    config.stash[SUITE_RUN] = run
    config.pluginmanager.register(run)
    number = config.getoption(SEED_OPTION)
    if number is not None:
        seeding.plant(number)


def _last_error(text: str) -> str:
    """What was logged of the last exception: that of the smallest arguments."""
    _, mark, last = text.rpartition("Traceback (most recent call last)")
    return f"{mark}{last}" if mark else text[-_LOGGED:]


def _leaves(error: BaseException | None) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _leaves(each)
    elif error is not None:
        yield error


def _is_ours(item: pytest.Item) -> bool:
    module = getattr(getattr(item, "function", None), "__module__", "")
    return module.startswith("gateway.testing.suite.")
