"""The shape of a field map: what is refused, and where the refusal points."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.authoring.mapping.fields import BindingSource, check, compile_binding
from gateway.authoring.mapping.fields.nodes import Each, HttpMap, Members, Read
from gateway.authoring.mapping.fields.parse import parse
from gateway.errors import ContractError
from tests.unit.tables import each_of

VALUES = {
    "a constant without const": ("USD", "", "expression"),
    "a bare number": (1, "", "shape"),
    "two kinds": ({"value": "@", "const": 1}, "", "shape"),
    "no kind": ({"as": "string"}, "", "shape"),
    "an unknown modifier": ({"const": 1, "as": "string"}, "/as", "shape"),
    "an unknown conversion": ({"value": "$inputs.q", "as": "money"}, "/as", "unknown-as"),
    "map beside as": ({"value": "$inputs.q", "as": "date", "map": {"a": 1}}, "/as", "shape"),
    "an empty map": ({"value": "$inputs.q", "map": {}}, "/map", "shape"),
    "else without map": ({"value": "$inputs.q", "else": "omit"}, "/else", "shape"),
    "onGap against else": (
        {"value": "$inputs.q", "map": {"a": 1}, "else": "omit", "onGap": "error"},
        "/onGap",
        "shape",
    ),
    "an unknown resort": ({"value": "$inputs.q", "onGap": "null"}, "/onGap", "shape"),
    "a resort with surplus": (
        {"value": "$inputs.q", "onGap": {"const": 1, "x": 2}},
        "/onGap",
        "shape",
    ),
    "omitIfAbsent as text": (
        {"value": "$inputs.q", "omitIfAbsent": "yes"},
        "/omitIfAbsent",
        "shape",
    ),
    "default beside omitIfAbsent": (
        {"value": "$inputs.q", "omitIfAbsent": True, "default": 1},
        "/default",
        "shape",
    ),
    "when without an expression": ({"const": 1, "when": "q"}, "/when", "expression"),
    "an object that is none": ({"object": []}, "/object", "shape"),
    "an array that is none": ({"array": {}}, "/array", "shape"),
    "a mistake in an array": ({"array": [{"const": 1}, "x"]}, "/array/1", "expression"),
    "each without item": ({"each": "$response.body#/a"}, "/item", "shape"),
    "a limit of nothing": ({"each": "$response.body", "item": "@", "limit": 0}, "/limit", "shape"),
    "a limit of true": ({"each": "$response.body", "item": "@", "limit": True}, "/limit", "shape"),
    "where about something else": (
        {"count": "$response.body", "where": {"$inputs.q": ["a"]}},
        "/where/$inputs.q",
        "expression",
    ),
    "where without values": (
        {"count": "$response.body", "where": {"@/a": []}},
        "/where/@~1a",
        "shape",
    ),
    "when of a list about something else": (
        {"count": "$response.body", "when": "$inputs.q"},
        "/when",
        "expression",
    ),
    "a function without module": ({"python": "now"}, "/python", "shape"),
    "a function with a call": ({"python": "os:system('x')"}, "/python", "shape"),
    "arguments that are no list": ({"python": "a:b", "with": "@"}, "/with", "shape"),
}


@each_of("name", VALUES)
def test_values_of_the_wrong_shape_are_refused_where_they_stand(name: str) -> None:
    """One planted mistake: one problem, and its pointer leads to it."""
    value, at, rule = VALUES[name]

    _, problems = parse({"upstream": "u", "operationId": "o", "response": {"200": {"id": value}}})

    assert [(p.pointer, p.rule) for p in problems] == [(f"/response/200/id{at}", f"binding/{rule}")]
    assert all(problem.message and problem.fix for problem in problems)


BINDINGS: dict[str, tuple[Any, str]] = {
    "not a mapping": ("python", ""),
    "python with company": ({"python": "a:b", "upstream": "u"}, "/upstream"),
    "no upstream": ({"operationId": "o", "response": {"200": {}}}, "/upstream"),
    "no operation": ({"upstream": "u", "response": {"200": {}}}, "/operationId"),
    "no response": ({"upstream": "u", "operationId": "o", "request": {}}, "/response"),
    "an unknown group": (
        {"upstream": "u", "operationId": "o", "response": {"200": {}}, "request": {"cookie": {}}},
        "/request/cookie",
    ),
    "an error as response": (
        {"upstream": "u", "operationId": "o", "response": {"404": {}}},
        "/response/404",
    ),
    "a success as error": (
        {
            "upstream": "u",
            "operationId": "o",
            "response": {"200": {}},
            "errors": {"200": {"reason": "x"}},
        },
        "/errors/200",
    ),
    "an error rule that says nothing": (
        {
            "upstream": "u",
            "operationId": "o",
            "response": {"200": {}},
            "errors": {"404": {"reason": ""}},
        },
        "/errors/404/reason",
    ),
    "an error rule that says two things": (
        {
            "upstream": "u",
            "operationId": "o",
            "response": {"200": {}},
            "errors": {"404": {"reason": "x", "result": {}}},
        },
        "/errors/404",
    ),
    "a fallback on nothing": (
        {
            "upstream": "u",
            "operationId": "o",
            "response": {"200": {}},
            "fallback": {"on": [], "operationId": "o", "response": {"200": {}}},
        },
        "/fallback/on",
    ),
    "a fallback on a number": (
        {
            "upstream": "u",
            "operationId": "o",
            "response": {"200": {}},
            "fallback": {"on": [403], "operationId": "o", "response": {"200": {}}},
        },
        "/fallback/on/0",
    ),
    "a fallback of a fallback": (
        {
            "upstream": "u",
            "operationId": "o",
            "response": {"200": {}},
            "fallback": {
                "on": ["403"],
                "operationId": "o",
                "response": {"200": {}},
                "fallback": {},
            },
        },
        "/fallback/fallback",
    ),
}


@each_of("name", BINDINGS)
def test_bindings_of_the_wrong_shape_are_refused_where_they_stand(name: str) -> None:
    text, at = BINDINGS[name]

    binding, problems = parse(text)

    assert binding is None
    assert [problem.pointer for problem in problems] == [at]


def test_every_mistake_is_reported_in_one_run(tool: Callable[..., BindingSource]) -> None:
    source = tool(result={"a": "x", "b": {"value": "@", "as": "no"}, "c": 1})

    assert [problem.pointer for problem in check(source)] == [
        "/response/200/a",
        "/response/200/b/as",
        "/response/200/c",
    ]


def test_a_binding_with_a_mistake_is_never_compiled(tool: Callable[..., BindingSource]) -> None:
    """The message names tool, place and fix, in one line."""
    with pytest.raises(ContractError, match=r"^shop\.search: x-binding/response/200/id: is not an"):
        compile_binding(tool(result={"id": "USD"}))


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ("@/a", Read),
        ({"value": "@/a", "as": "string"}, Read),
        ({"object": {"value": "@/a"}}, Members),
        ({"value": "@/a", "currency": "@/b"}, Members),
        ({"id": "@/a"}, Members),
        ({}, Members),
    ],
)
def test_an_item_is_members_unless_it_reads_as_a_value(item: Any, kind: type) -> None:
    text = {
        "upstream": "u",
        "operationId": "o",
        "response": {"200": {"ids": {"each": "$response.body", "item": item}}},
    }

    binding, _ = parse(text)

    assert isinstance(binding, HttpMap)
    ids = binding.results["200"].values["ids"]
    assert isinstance(ids, Each)
    assert type(ids.item) is kind


def test_names_that_are_not_text_are_refused() -> None:
    """YAML readers of the older kind make a boolean of `on`, and a number of `200`."""
    text = {"upstream": "u", "operationId": "o", "response": {200: {}}, "errors": {True: {}}}

    _, problems = parse(text)

    assert [problem.pointer for problem in problems] == ["/response", "/errors"]
