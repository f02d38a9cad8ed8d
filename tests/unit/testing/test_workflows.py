"""Workflows that must fail do fail, at the step and the condition that is not met."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.workflows.conditions import BadCondition, holds, parse_condition
from gateway.authoring.workflows.expressions import NoValue, Values
from gateway.authoring.workflows.reading import Workflow, read_workflows
from gateway.catalogue import Entry, open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.testing.served import TRANSPORTS
from gateway.testing.transports import CallAnswer
from gateway.testing.workflows import PASSES, WorkflowRun, check_of, differences, run
from tests.gateway_process import REPOSITORY

CATALOGUE = open_catalogue("generated", HANDLER_PACKAGES)
HEAD = """arazzo: 1.0.1
info: {title: T, version: 1.0.0}
sourceDescriptions: [{name: gateway, url: ../openapi.yaml}]
workflows:
"""
GREET = """  - workflowId: greet
    steps:
      - stepId: first
        operationId: example.greet
        requestBody: {payload: {name: Ada}}
        outputs: {greeting: $response.body#/greeting}
      - stepId: second
        operationId: example.greet
        parameters: [{name: Idempotency-Key, in: header, value: k-1}]
        requestBody: {payload: {name: Ada}}
        successCriteria: [{condition: "$response.body#/greeting != ''"}]
        onFailure:
          - {name: again, type: retry, retryLimit: 2, criteria: [{condition: $statusCode == 503}]}
        outputs: {greeting: $response.body#/greeting}
    outputs: {greeting: $steps.second.outputs.greeting}
    x-invariants:
      - name: both are alike
        condition: $steps.first.outputs.greeting == $steps.second.outputs.greeting
"""
Answer = Callable[[int], CallAnswer]


def result(text: str) -> CallAnswer:
    return CallAnswer(True, 200, None, frozenset(), {"greeting": text})


def refusal(status: int) -> CallAnswer:
    return CallAnswer(False, status, "NO", frozenset(), {"detail": "No.", "status": status})


def read(folder: Path, text: str) -> tuple[Workflow, ...]:
    (folder / "workflows").mkdir(exist_ok=True)
    (folder / "workflows/greet.arazzo.yaml").write_text(HEAD + text)
    return read_workflows(folder)


def followed(folder: Path, answer: Answer, text: str = GREET) -> WorkflowRun:
    sent: list[bytes] = []

    async def ask(entry: Entry, arguments: bytes, key: str | None = None) -> CallAnswer:
        sent.append(arguments)
        return answer(len(sent))

    return asyncio.run(run(read(folder, text)[0], CATALOGUE, ask))


def test_a_workflow_that_holds_gives_its_outputs(tmp_path: Path) -> None:
    found = followed(tmp_path, lambda _: result("Hello"))
    assert found.failure is None
    assert found.outputs == {"greeting": "Hello"}
    assert [(json.loads(each.arguments), each.key) for each in found.calls] == [
        ({"name": "Ada"}, None),
        ({"name": "Ada"}, "k-1"),
    ]
    assert check_of("REST", found).outcome == "passed"


def test_an_invariant_names_the_step_after_which_it_is_broken(tmp_path: Path) -> None:
    found = followed(tmp_path, lambda number: result(f"Hello {number}"))
    assert found.failure is not None
    assert found.failure.step == "second"
    assert found.failure.pointer == "/workflows/0/x-invariants/0"
    check = check_of("REST", found)
    assert (check.outcome, check.subject) == ("failed", "greet")
    for said in ("step second", "both are alike", '"Hello 1"', '"Hello 2"'):
        assert said in check.text
    assert (check.replay.curl or "").count("curl ") == 2
    assert "idempotency-key: k-1" in (check.replay.curl or "")
    *_, last = (check.replay.rpc or "").splitlines()
    assert json.loads(last)["params"]["_meta"] == {"contract-gateway/idempotencyKey": "k-1"}


@pytest.mark.parametrize(("failures", "calls", "failed"), [(2, 4, False), (9, 4, True)])
def test_a_step_is_repeated_as_often_as_its_action_says(
    tmp_path: Path, failures: int, calls: int, failed: bool
) -> None:
    found = followed(
        tmp_path, lambda number: refusal(503) if 1 < number <= failures + 1 else result("Hello")
    )
    assert len(found.calls) == calls
    assert (found.failure is not None) is failed


def test_a_failure_for_which_no_action_fits_ends_the_run(tmp_path: Path) -> None:
    found = followed(tmp_path, lambda number: refusal(409) if number == 2 else result("Hello"))
    assert found.failure is not None
    assert found.failure.step == "second"
    assert "409" in found.failure.got


def test_a_result_that_breaks_its_contract_fails_the_step(tmp_path: Path) -> None:
    broken = CallAnswer(True, 200, None, frozenset(), {"greting": "Hello"})
    found = followed(tmp_path, lambda _: broken)
    assert found.failure is not None
    assert (found.failure.step, len(found.calls)) == ("first", 1)


def test_an_invariant_that_nothing_has_checked_is_no_pass(tmp_path: Path) -> None:
    skipping = GREET.replace(
        "        outputs: {greeting: $response.body#/greeting}\n      - stepId: second",
        "        outputs: {greeting: $response.body#/greeting}\n"
        "        onSuccess: [{name: past it, type: goto, stepId: third}]\n      - stepId: second",
    ).replace(
        "    outputs: {greeting: $steps",
        "      - {stepId: third, operationId: example.greet, requestBody: {payload: {name: A}}}\n"
        "    outputs: {greeting: $steps",
    )
    found = followed(tmp_path, lambda _: result("Hello"), skipping)
    assert found.failure is not None
    assert found.failure.expected == "to be checked"


def test_a_circle_ends(tmp_path: Path) -> None:
    circle = GREET.replace(
        "{name: again, type: retry, retryLimit: 2,",
        "{name: again, type: goto, stepId: first,",
    )
    found = followed(
        tmp_path, lambda number: result("Hello") if number % 2 else refusal(503), circle
    )
    assert found.failure is not None
    assert found.failure.got == "more"


def test_what_varies_between_two_runs_is_not_compared_between_transports(tmp_path: Path) -> None:
    def runs(*texts: str) -> list[WorkflowRun]:
        return [followed(tmp_path, lambda _, text=text: result(text)) for text in texts]  # type: ignore[misc]  # a default binds it

    rest, mcp, again = runs("one", "two", "one")
    assert dict(differences({"REST": rest, "MCP": mcp}, again)) == {
        "MCP": "/first/body/greeting differs from REST"
    }
    rest, mcp, again = runs("one", "two", "three")
    assert not dict(differences({"REST": rest, "MCP": mcp}, again))
    at = "2026-11-30T10:00:0{}Z"
    rest, mcp, again = runs(at.format(0), at.format(1), at.format(0))
    assert not dict(differences({"REST": rest, "MCP": mcp}, again))


def test_what_is_not_supported_is_a_finding(tmp_path: Path) -> None:
    with pytest.raises(ContractRefused) as refused:
        read(tmp_path, GREET.replace("operationId: example.greet", "workflowId: other", 1))
    found = {each.pointer for each in refused.value.findings}
    assert "/workflows/0/steps/0/workflowId" in found


def test_the_workflows_of_the_catalogue_can_be_read() -> None:
    found = [each.id for each in read_workflows(REPOSITORY / "schemas")]
    assert {"book-a-tee-time", "book-a-charter", "a-row-is-read-back"} <= set(found)
    assert found.index("a-flight-is-recorded") < found.index("a-preference-is-kept")


STATE = Values(inputs={"n": 1, "t": "Abc", "b": True, "z": None}, status=200)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$statusCode == 200", True),
        ("$inputs.n == 1.0", True),
        ("$inputs.b == 1", False),
        ("$inputs.t == 'aBC'", True),  # Arazzo compares texts without regard to case
        ("$inputs.t != 'it''s'", True),
        ("$inputs.z == null && !($inputs.n > 1 || $inputs.n < 1)", True),
        ("$inputs.b", True),
        ("$inputs.n >= 2 || $inputs.b && $statusCode < 300", True),
    ],
)
def test_simple_conditions(text: str, expected: bool) -> None:
    assert holds(parse_condition(text), STATE) is expected


@pytest.mark.parametrize("text", ["", "$statusCode =", "($inputs.n", "$x.y == 1", "1 2", "a == 1"])
def test_conditions_that_cannot_be_read(text: str) -> None:
    with pytest.raises(BadCondition):
        parse_condition(text)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("$inputs.nothing != 1", NoValue),
        ("!($inputs.nothing == 1)", NoValue),
        ("$inputs.t < 1", BadCondition),
        ("$inputs.n", BadCondition),
    ],
)
def test_a_condition_without_an_answer_is_not_met(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        holds(parse_condition(text), STATE)


def test_workflows_are_followed_over_every_transport():
    assert tuple(TRANSPORTS) == PASSES
