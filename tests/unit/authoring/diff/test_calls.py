"""Which recorded calls a change would break."""

import pytest

from gateway.audit.facts import REDACTED
from gateway.authoring.diff.calls import BrokenCalls, RecordedCall, judged_calls

FLIGHTS = "air.search"
OLD = {
    "type": "object",
    "additionalProperties": False,
    "required": ["from"],
    "properties": {
        "from": {"type": "string"},
        "seats": {"type": "integer", "maximum": 19},
        "name": {"type": "string"},
        "codes": {"type": "array", "items": {"type": "string"}},
    },
}
SEATS = {**OLD, "properties": {**OLD["properties"], "seats": {"type": "integer", "maximum": 16}}}


def call(arguments, agent="broker", operation=FLIGHTS):
    return RecordedCall(operation=operation, agent=agent, arguments=arguments)


def judged(calls, new):
    return judged_calls(calls, {FLIGHTS: OLD}, new)


def test_calls_are_counted_by_agent_and_reason():
    calls = [call({"from": "a", "seats": 17}), call({"from": "a", "seats": 18})]
    calls += [call({"from": "a", "seats": 19}, agent="desk"), call({"from": "a", "seats": 3})]
    found = judged(calls, {FLIGHTS: SEATS})
    assert [(e.agent, e.calls, e.pointer) for e in found.broken] == [
        ("broker", 2, "/seats"),
        ("desk", 1, "/seats"),
    ]
    assert (found.judged, found.unknown) == (4, 0)


def test_no_value_of_a_call_is_shown():
    new = {**OLD, "properties": {**OLD["properties"], "name": {"type": "string", "maxLength": 3}}}
    (broken,) = judged([call({"from": "a", "name": "Ada Lovelace"})], {FLIGHTS: new}).broken
    assert "Ada" not in repr(broken)


def test_a_tool_that_is_gone_breaks_all_its_calls():
    found = judged([call({"from": "a"}), call({"from": "b"})], {})
    assert found.broken == (
        BrokenCalls(agent="broker", operation=FLIGHTS, calls=2, pointer="", why="the tool is gone"),
    )


def test_calls_that_were_refused_before_and_those_of_other_tools_are_left_out():
    calls = [call({"seats": 17}), call({"from": "a", "seats": 20}), call(None)]
    calls += [call({"from": "a"}, operation="air.book"), call({"from": "a"}, operation=None)]
    assert judged(calls, {FLIGHTS: SEATS}).judged == 0


@pytest.mark.parametrize("hidden", [REDACTED, "<cut: 5000 bytes>"])
def test_what_the_log_hides_is_unknown_and_no_pass(hidden):
    new = {**OLD, "properties": {**OLD["properties"], "name": {"type": "integer"}}}
    found = judged([call({"from": "a", "name": hidden})], {FLIGHTS: new})
    assert (found.broken, found.judged, found.unknown) == ((), 1, 1)


def test_what_is_hidden_does_not_hide_another_reason():
    found = judged([call({"from": "a", "codes": ["x", REDACTED], "seats": 17})], {FLIGHTS: SEATS})
    assert ([each.pointer for each in found.broken], found.unknown) == (["/seats"], 0)
