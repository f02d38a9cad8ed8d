"""What failed is recorded by its cause, and can be made again from what is printed."""

import json
import shlex
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from gateway.cli.reports.page import page
from gateway.cli.reports.record import Check, ContractCoverage, Mutants, Report
from gateway.testing.cases import Case
from gateway.testing.judging import Disagreement, agree, judged
from gateway.testing.options import Seconds
from gateway.testing.records import (
    CHECKS,
    COVERAGE,
    SUBJECT,
    as_property,
    by_contract,
    checks_of,
    checks_of_test,
    coverage_of_test,
    grouped,
    subject_of,
)
from gateway.testing.replays import parted_replay, replay_of
from gateway.testing.runs import in_order
from gateway.testing.transports import REST, CallAnswer
from tests.unit.shipped import catalogue as shipped

GREET = "example.greet"
WRONG = CallAnswer(True, 200, None, frozenset(), {"greeting": "Hello"})
NASTY = b'{"name": "O\'Hara $(rm) \\u001b"}'


def verdicts(arguments=b'{"name": 1}', answer=WRONG):
    case = Case(GREET, arguments, "one", "invalid")
    return judged(case, shipped(), {REST: answer, "stdio": answer})


def test_a_failure_is_one_check_over_all_transports_with_its_replay():
    (check,) = checks_of(verdicts(), shipped())
    assert (check.subject, check.check, check.outcome) == (GREET, "verdict", "failed")
    assert check.cause == "verdict at REST, stdio"
    assert check.input == '{"name": 1}'
    assert check.replay.command == f"gateway test --replay '{GREET} {{\"name\": 1}}'"
    assert json.loads(check.replay.rpc)["params"] == {
        "name": "example_greet",
        "arguments": {"name": 1},
    }


def test_a_shell_and_a_parser_read_back_what_is_printed():
    replay = replay_of(shipped().find(GREET), NASTY)
    *_, text = shlex.split(replay.command)
    assert parted_replay(text) == (GREET, NASTY)
    *_, body = shlex.split(replay.curl)
    assert body.encode() == NASTY
    assert "Bearer $GATEWAY_KEY" in replay.curl


@pytest.mark.parametrize("text", ["", "example.greet", "example.greet  "])
def test_a_replay_without_arguments_is_refused(text):
    with pytest.raises(ValueError, match="expected the id of a tool"):
        parted_replay(text)


def test_failures_of_one_cause_are_shown_together():
    checks = checks_of([*verdicts(), *verdicts(b'{"name": 2}')], shipped())
    first, *_ = lines = list(grouped(checks))
    assert first == "2 failures: verdict at REST, stdio"
    assert lines[2].endswith(': REST, stdio: accepted, and answered {"greeting": "Hello"}')
    assert sum("curl" in line for line in lines) == 1


def test_answers_that_differ_in_a_problem_are_no_agreement():
    problem = {"detail": "It is wrong.", "request_id": "1"}
    refused = CallAnswer(False, 422, "VALIDATION_ERROR", frozenset({("/name", "type")}), problem)
    case = Case(GREET, b'{"name": 1}', "one", "invalid")
    other = replace(refused, body={**problem, "request_id": "2"})
    agree(judged(case, shipped(), {REST: refused, "stdio": other}))
    other = replace(refused, body={**problem, "detail": "Another text."})
    with pytest.raises(Disagreement) as found:
        agree(judged(case, shipped(), {REST: refused, "stdio": other}))
    assert [(e.transport, e.oracle) for e in found.value.verdicts] == [("stdio", "alike")]


def test_a_test_without_verdicts_is_a_check_of_its_name():
    report = SimpleNamespace(
        nodeid="a.py::test_no_secret_is_reported[401]",
        outcome="failed",
        longrepr="one secret",
        duration=0.5,
        user_properties=[(SUBJECT, "")],
    )
    (check,) = checks_of_test(report)
    assert (check.subject, check.check) == ("project", "no-secret-is-reported")
    assert (check.text, check.cause) == ("one secret", "no_secret_is_reported one secret")


def ordered(*names, rest=()):
    found = [SimpleNamespace(name=each, fixturenames=["gateway_rest_of_budget"]) for each in rest]
    found += [SimpleNamespace(name=each, fixturenames=[]) for each in names]
    return [each.name for each in in_order(found)]


def test_what_takes_the_rest_of_the_time_is_last():
    others = [f"test_each_boundary[{number}]" for number in range(3)]
    assert ordered(*others, rest=["test_more"])[-1] == "test_more"


def test_each_kind_has_its_turn_before_a_long_one_goes_on():
    """A long test counts as many short ones."""
    long, short = (
        [f"test_{kind}[{number}]" for number in range(40)]
        for kind in ("each_boundary", "an_agent_lists")
    )
    found = ordered(*long, *short, "test_of_another_matter")
    kinds = [each.partition("[")[0] for each in found]
    assert set(kinds[:3]) == {"test_each_boundary", "test_an_agent_lists", "test_of_another_matter"}
    assert kinds.index("test_each_boundary", 3) > len(short)
    assert found == ordered(*short, "test_of_another_matter", *long)


@pytest.mark.parametrize(
    ("text", "seconds"), [("60s", 60), ("5m", 300), ("90", 90), ("0.5h", 1800)]
)
def test_a_budget_is_a_time(text, seconds):
    assert Seconds()(text) == seconds


@pytest.mark.parametrize("text", ["0s", "-1s", "soon", "1d"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(Exception, match="expected a time above zero"):
        Seconds()(text)


def reported(outcome, *properties):
    return SimpleNamespace(
        nodeid="a.py::test_a_workflow_holds[trip]",
        outcome=outcome,
        longrepr="it has failed",
        duration=0.5,
        user_properties=[(SUBJECT, "trip"), *properties],
    )


HELD = Check(subject="trip", check="workflow", outcome="passed", cases=7)
BROKEN = replace(HELD, outcome="failed", text="step quote: expected 200, got 422")


@pytest.mark.parametrize("checks", [[HELD, HELD], [HELD, BROKEN]])
def test_the_checks_of_a_test_are_those_of_the_report(checks):
    outcome = "failed" if BROKEN in checks else "passed"
    found = checks_of_test(reported(outcome, (CHECKS, as_property(checks))))
    assert list(found) == checks


def test_a_test_that_fails_beside_its_checks_is_no_success():
    held, beside = checks_of_test(reported("failed", (CHECKS, as_property([HELD]))))
    assert held == HELD
    assert (beside.outcome, beside.text) == ("failed", "it has failed")


def covered(schema, survivors=(), missed=()):
    return ContractCoverage(
        subject=schema,
        keywords=10,
        seen=10 - len(missed),
        missed=missed,
        mutants=Mutants(killed=9, equivalent=2, survivors=survivors),
        seconds=0.5,
    )


def test_all_schemas_of_a_contract_are_one_record():
    schemas = [
        covered(f"{GREET} input", survivors=("/properties/name/maxLength 99",)),
        covered("example.sent event"),
        covered(f"{GREET} output", missed=("/required",)),
    ]
    reports = [reported("passed", (COVERAGE, as_property(each))) for each in schemas]
    assert [found for each in reports for found in coverage_of_test(each)] == schemas
    greet, sent = by_contract(schemas)
    assert (greet.subject, greet.keywords, greet.seen, greet.seconds) == (GREET, 20, 19, 1.0)
    assert greet.missed == ("output /required",)
    assert greet.mutants == Mutants(
        killed=18, equivalent=4, survivors=("input /properties/name/maxLength 99",)
    )
    assert sent == replace(schemas[1], subject="example.sent")


def an_item(**params):
    return SimpleNamespace(callspec=SimpleNamespace(params=params))


@pytest.mark.parametrize(
    ("params", "subject"),
    [
        ({"gateway_documented": "POST /v1/example/greet"}, GREET),
        ({"gateway_documented": "GET /readyz"}, "GET /readyz"),
        ({"gateway_link": f"{GREET}#0"}, GREET),
        ({"gateway_workflow": "a-day"}, "a-day"),
        ({}, ""),
    ],
)
def test_a_check_of_a_route_or_a_link_is_one_of_its_tool(params, subject):
    assert subject_of(an_item(**params), shipped()) == subject


def test_a_check_of_a_schema_stands_beside_what_its_contract_covers():
    item = an_item(gateway_contract_schema=f"{GREET} input")
    check = Check(subject=subject_of(item, shipped()), check="vectors-tell", outcome="passed")
    coverage = tuple(by_contract([covered(f"{GREET} input", survivors=("/required none",))]))
    report = Report(command="gateway test", seconds=1.0, checks=(check,), coverage=coverage)
    text = page(report)
    assert check.subject == coverage[0].subject
    assert "mutants killed 9 of 10 " in text
    assert "keywords 10 of 10 " in text
    assert "input /required none" in text
