"""A verdict says whether an answer is what the case expects, and what the reference is."""

import msgspec
import pytest
from msgspec.structs import replace

from gateway.catalogue import Catalogue
from gateway.testing.cases import Case
from gateway.testing.judging import (
    changed_on_the_way,
    changed_on_the_way_back,
    failures,
    judged,
)
from gateway.testing.transports import REST, CallAnswer
from tests.unit.shipped import catalogue as shipped
from tests.unit.testing.test_cases import catalogue

__all__ = ["catalogue"]

OTHER = "MCP 2026-07-28"
GREETED = CallAnswer(True, 200, None, frozenset(), {"greeting": "Hello"})
INVALID = CallAnswer(
    False, 422, "VALIDATION_ERROR", frozenset({("/name", "type")}), {"detail": "It is wrong."}
)
DOWN = CallAnswer(False, 503, "UPSTREAM_UNAVAILABLE", frozenset(), {"detail": "It is down."})
NO_OBJECT = CallAnswer(False, -32602, None, frozenset(), {"message": "No object."})


def causes(known: Catalogue, case: Case, *answers: CallAnswer, **facts: object) -> list[str]:
    """Why each answer is wrong; empty for the right ones."""
    by_transport = dict(zip((REST, OTHER), answers, strict=True))
    return [each.cause for each in judged(case, known, by_transport, **facts)]


def greet(expectation, arguments=b'{"name":"Ada"}'):
    return Case("example.greet", arguments, "one", expectation)


@pytest.mark.parametrize(
    ("expectation", "rest", "mcp", "wrong"),
    [
        ("result", GREETED, GREETED, ["", ""]),
        ("result", DOWN, DOWN, ["503 UPSTREAM_UNAVAILABLE: It is down."] * 2),
        ("result", GREETED, replace(GREETED, body={"greeting": "Hi"}), ["", "differs from REST"]),
        ("admitted", INVALID, INVALID, ["", ""]),
        ("admitted", GREETED, INVALID, ["", "422 VALIDATION_ERROR: It is wrong."]),
        ("admitted", replace(INVALID, errors=frozenset()), INVALID, [INVALID.refusal] * 2),
        ("invalid", INVALID, INVALID, ["", ""]),
        ("invalid", INVALID, GREETED, ["", 'accepted, and answered {"greeting": "Hello"}']),
        ("invalid", INVALID, NO_OBJECT, ["", "-32602 None: No object."]),
    ],
)
def test_an_answer_is_held_against_the_expectation_and_the_first_one(expectation, rest, mcp, wrong):
    assert causes(shipped(), greet(expectation), rest, mcp) == wrong


TAKEN = CallAnswer(
    False, 409, "TOOL_EXECUTION_ERROR", frozenset(), {"reason": "tee_time_unavailable"}
)
BOOKED = CallAnswer(True, 200, None, frozenset(), {})


@pytest.mark.parametrize(
    ("again", "differs"),
    [(None, True), (TAKEN, False), (BOOKED, True), (replace(TAKEN, status=410), True)],
)
def test_a_write_that_is_made_is_refused_as_rest_refuses_it_by_then(again, differs):
    case = Case("golf.book_tee_time", b"{}", "one", "admitted")
    answers = {REST: BOOKED, OTHER: TAKEN}
    _, found = judged(case, shipped(), answers, is_sent=True, again=again)
    assert (found.oracle == "alike") is differs


def test_mcp_takes_no_arguments_that_are_no_object():
    case = greet("invalid", b"[]")
    refused = replace(INVALID, errors=frozenset({("", "type")}))
    assert causes(shipped(), case, refused, NO_OBJECT) == ["", ""]
    assert causes(shipped(), case, refused, refused)[1]


@pytest.mark.parametrize(
    ("arguments", "pointer", "keyword", "is_right"),
    [
        (b'{"name":1}', "/name", "type", True),
        (b'{"name":1}', "", "type", False),
        (b"{}", "/name", "required", True),
        (b'{"name":"a","b\\u0082":1}', "/b", "additionalProperties", True),
        (b'{"name":"a","b":1}', "/name/b", "additionalProperties", False),
    ],
)
def test_a_pointer_leads_to_what_the_authority_refuses(arguments, pointer, keyword, is_right):
    refused = replace(INVALID, errors=frozenset({(pointer, keyword)}))
    found = causes(shipped(), greet("invalid", arguments), refused, refused)
    assert (found == ["", ""]) is is_right


def test_what_is_refused_as_invalid_has_sent_nothing():
    for expectation in ("invalid", "admitted"):
        assert all(causes(shipped(), greet(expectation), INVALID, INVALID, is_sent=True))


@pytest.mark.parametrize(
    ("sent", "arrived", "place"),
    [
        (b'{"name":"Ada","age":1}', b'{"age":1,"name":"Ada"}', None),
        (b'{"name":" Ada"}', b'{"name":"Ada"}', "/name"),
        (b'{"age":"1"}', b'{"age":1}', "/age"),
        (b'{"age":1}', b'{"age":true}', "/age"),
        (b'{"age":-1.7976931348623157e+308}', b'{"age":-17976931348623157%b}' % (b"0" * 292), None),
        (b'{"age":9007199254740993}', b'{"age":9007199254740992}', "/age"),
        (b'{"ages":[1,2]}', b'{"ages":[1]}', "/ages"),
        (b'{"name":"Ada","age":null}', b'{"name":"Ada"}', "/"),
    ],
)
def test_a_tool_gets_what_its_caller_sent(sent, arrived, place):
    entry = shipped().find("example.greet")
    found = [
        each.cause for each in changed_on_the_way(greet("admitted", sent), entry, REST, arrived)
    ]
    wanted = [] if place is None else [f"{place}: the tool has got another value than was sent"]
    assert found == wanted


@pytest.mark.parametrize(
    ("made", "body", "is_right"),
    [
        (b'{"greeting":"Hello"}', {"greeting": "Hello"}, True),
        (b'{"all":[1,2]}', {"all": [1]}, False),
        (b'{"all":[1],"none":null}', {"all": [1]}, False),
        (b'{"all":false}', {"all": 0}, False),
        (b'{"greeting":"Hello\xe2\x80\xae"}', {"greeting": "Hello"}, True),
        (b'{"greeting":"Hello\\u0000"}', {"greeting": "Hello"}, True),
        (b'{"greeting":"\xe2\x9d\xa4\xef\xb8\x8f"}', {"greeting": "\u2764"}, False),
    ],
)
def test_a_caller_gets_what_the_tool_has_made(made, body, is_right):
    entry, answer = shipped().find("example.greet"), replace(GREETED, body=body)
    found = [*changed_on_the_way_back(greet("admitted"), entry, made, answer)]
    assert (found == []) is is_right


def test_fields_are_a_matter_of_the_gateway():
    entry = next(each for each in shipped().entries if each.members is not None)
    case = Case(entry.id, b'{"a":1,"fields":["b"]}', "one", "admitted")
    assert [*changed_on_the_way(case, entry, REST, b'{"a":1}')] == []


def test_what_varies_is_not_compared():
    hi = replace(GREETED, body={"greeting": "Hi"})
    varies = frozenset({"/greeting"})
    assert causes(shipped(), greet("result"), GREETED, hi, varies=varies) == ["", ""]


def test_an_imported_write_may_end_otherwise_the_second_time(catalogue):
    """It has changed what the mock keeps: a thing can be deleted once."""
    (tool,) = (each.id for each in catalogue.entries if each.id.endswith("delete_pet"))
    case = Case(tool, b"{}", "made", "admitted")
    done = CallAnswer(True, 200, None, frozenset(), {})
    gone = CallAnswer(
        False, 502, "UPSTREAM_REJECTED", frozenset(), {"type": "/problems/upstream-rejected"}
    )
    assert causes(catalogue, case, done, gone) == ["", ""]
    assert causes(catalogue, case, done, DOWN)[1]


def test_what_the_mock_cannot_answer_is_skipped():
    impossible = replace(DOWN, body={"detail": "The upstream answered 501."})
    answers = {REST: GREETED, OTHER: impossible}
    verdicts = judged(greet("admitted"), shipped(), answers)
    assert [each.outcome for each in verdicts] == ["skipped", "skipped"]
    assert judged(greet("result"), shipped(), answers)[1].outcome == "failed"


def test_a_failure_says_how_to_make_the_call_again():
    case = greet("result", msgspec.json.encode({"name": "O'Hara"}))
    (line,) = failures(judged(case, shipped(), {REST: DOWN}))
    assert line.startswith("one at REST: 503 UPSTREAM_UNAVAILABLE: It is down.; ")
    assert line.endswith("""; gateway test --replay 'example.greet {"name":"O'"'"'Hara"}'""")
