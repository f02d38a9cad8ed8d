"""Changes of `gateway diff` in the forms of reports."""

import json

import pytest

from gateway.authoring.diff.changes import ChangePlace, ChangeVerdict, ContractChange, Direction
from gateway.cli.reports.changes import report_of_changes
from gateway.cli.reports.forms import text_of

NARROWED = ContractChange(
    rule="input-narrowed",
    subject="golf/search_tee_times",
    direction=Direction.TOOL_INPUT,
    verdict=ChangeVerdict.BREAKING,
    severity="error",
    text="`passengers` has a smaller maximum.",
    old=ChangePlace("old.json", "/a"),
    new=ChangePlace("new.json", "/b"),
    witness={"passengers": 9},
    accepted_by="old",
)


def checked(**changed):
    change = {name: getattr(NARROWED, name) for name in NARROWED.__struct_fields__} | changed
    (check,) = report_of_changes([ContractChange(**change)], "gateway diff a b", 0.5).checks
    return check


def test_a_breaking_change_has_its_witness_and_both_places():
    check = checked()
    assert (check.outcome, check.fails, check.input) == ("failed", True, '{"passengers":9}')
    assert (check.sides.accepted_by, check.sides.old) == ("old", "old.json /a")
    assert (check.path, check.pointer) == ("new.json", "/b")
    assert check.sides.reason == "A value that was accepted is refused now."


def test_null_is_a_witness():
    assert checked(witness=None).input == "null"


@pytest.mark.parametrize(
    ("verdict", "severity", "outcome", "fails"),
    [
        (ChangeVerdict.SAFE, "info", "passed", False),
        (ChangeVerdict.SAFE, "error", "passed", False),
        (ChangeVerdict.UNDECIDED, "error", "undecided", True),
        (ChangeVerdict.UNDECIDED, "info", "undecided", False),
        (ChangeVerdict.BREAKING, "warning", "failed", False),
        (ChangeVerdict.POLICY, "error", "failed", True),
        (ChangeVerdict.POLICY, "info", "passed", False),
    ],
)
def test_what_is_proved_and_how_severe_it_is_say_whether_it_fails(
    verdict, severity, outcome, fails
):
    check = checked(verdict=verdict, severity=severity)
    assert (check.outcome, check.fails) == (outcome, fails)


def test_a_removed_contract_is_shown_where_it_was():
    assert checked(new=None).path == "old.json"


def test_proof_and_policy_are_two_columns():
    report = report_of_changes([NARROWED], "gateway diff a b", 0.5)
    text = text_of(report, "md")
    assert "| proof | rule | contract | direction | change |" in text
    assert "| breaking | error <code>input-narrowed</code> |" in text
    assert text.startswith("### 1 of 1 change fails\n")


def test_json_has_both_sides():
    report = report_of_changes([NARROWED], "gateway diff a b", 0.5)
    sides = json.loads(text_of(report, "json"))["checks"][0]["sides"]
    assert sides["verdict"] == "breaking"
    assert sides["direction"] == "tool input"


def test_no_change_is_said():
    assert text_of(report_of_changes([], "gateway diff a b", 0.0), "md").startswith(
        "### No change\n"
    )
