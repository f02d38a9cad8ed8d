"""The figures of `gateway verify --all`, one row for each subject."""

import pytest

from gateway.cli.reports.record import Check, ContractCoverage, Mutants, Report
from gateway.testing.whole import print_whole

GREET = "example.greet"


def test_each_subject_has_its_calls_checks_and_score(capsys: pytest.CaptureFixture[str]) -> None:
    mutants = Mutants(killed=19, equivalent=2, undecided=("/x",), survivors=("input /y",))
    report = Report(
        command="gateway verify --all",
        seconds=1.0,
        checks=(
            Check(subject=GREET, check="arguments", outcome="passed"),
            Check(subject=GREET, check="faults", outcome="failed", text="a fault\nand more"),
            Check(subject="project", check="links", outcome="skipped"),
        ),
        coverage=(ContractCoverage(subject=GREET, keywords=1, seen=1, mutants=mutants),),
    )

    print_whole(report, {GREET: {"REST": 2, "stdio": 1}})

    head, greet, project, total, failure, survivor, last = capsys.readouterr().out.splitlines()
    assert head.split() == [
        *("subject", "REST", "stdio", "checks", "failed"),
        *("killed", "equivalent", "undecided", "score"),
    ]
    assert greet.split() == [GREET, "2", "1", "2", "1", "19", "2", "1", "95.0%"]
    assert project.split() == ["project"]
    assert total.split() == ["total", "2", "1", "2", "1", "19", "2", "1", "95.00%"]
    assert failure == f"error: {GREET} faults: a fault"
    assert survivor == f"survived: {GREET} input /y"
    assert last == "1 contract, 1 failed check; 19 of 20 decidable mutants killed"
