"""Faults as they are written, and the order in which a scenario uses them up."""

import pytest

from gateway.backends.mock.faults import (
    NO_FAULT,
    Fault,
    NotAFault,
    Scenario,
    ScenarioStep,
    parse_fault,
    parse_step,
)
from tests.unit.tables import each_of


@each_of(
    ("text", "fault"),
    [
        ("latency=250ms", Fault(latency_seconds=0.25)),
        ("body-latency=1.5s", Fault(body_latency_seconds=1.5)),
        ("status=429;retry-after=2", Fault(status=429, retry_after_seconds=2)),
        (" status=503 ; latency=1s ", Fault(status=503, latency_seconds=1.0)),
        ("exhausted=30", Fault(exhausted_seconds=30)),
        ("truncate", Fault(damage="truncate")),
        ("close", Fault(damage="close")),
        ("break-contract", Fault(damage="break-contract")),
        ("", NO_FAULT),
    ],
)
def test_faults_are_read(text, fault):
    assert parse_fault(text) == fault


@each_of(
    "text",
    ["nonsense", "latency", "latency=5", "latency=-1s", "status=", "status=99", "status=200",
     "status=abc", "truncate=1", "retry-after=1.5"],
)  # fmt: skip
def test_what_is_no_fault_is_refused(text):
    with pytest.raises(NotAFault):
        parse_fault(text)


def test_a_step_is_read():
    expected = ScenarioStep(fault=Fault(status=503), calls=3, operation="addBook")
    assert parse_step("addBook 3 status=503") == expected
    assert parse_step("* 1 close").operation is None


@pytest.mark.parametrize("text", ["", "addBook", "addBook 3", "addBook x status=503"])
def test_what_is_no_step_is_refused(text):
    with pytest.raises(NotAFault):
        parse_step(text)


def test_steps_are_used_up_in_order():
    """Each step counts down; calls of other operations leave it alone."""
    scenario = Scenario([parse_step("addBook 2 status=503"), parse_step("* 1 close")])
    assert scenario.next_for("readBook") == Fault(damage="close")
    assert scenario.next_for("readBook") == NO_FAULT
    assert [scenario.next_for("addBook").status for _ in range(3)] == [503, 503, None]
