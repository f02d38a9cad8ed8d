"""What a field map says, held against its two contracts: one planted mistake per rule."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.authoring.lint.rules import RULES
from gateway.authoring.mapping import fields as fieldmap
from gateway.authoring.mapping.fields import BindingSource, check, compile_binding
from gateway.errors import ContractError
from tests.unit.authoring.mapping.fields.shapes import members_of
from tests.unit.tables import each_of

Make = Callable[..., BindingSource]

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
QUERY = {"name": "q", "in": "query", "required": True, "schema": TEXT}


def rules(source: BindingSource) -> list[tuple[str, str]]:
    return [(found.pointer, found.rule.removeprefix("binding/")) for found in check(source)]


def body(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": list(members)}


def test_a_sound_binding_has_no_problems(tool: Make) -> None:
    assert rules(tool()) == []


@each_of(
    ("errors", "problems"),
    [
        ({"404": {"reason": "gone"}, "4XX": {"reason": "gone"}}, []),
        ({"404": {"reason": "lost"}}, [("/errors/404/reason", "unknown-error")]),
        ({"404": {"result": {"a": {"const": 1}}}}, [("/errors/404", "field-map")]),
        *(
            ({status: {"reason": "gone"}}, [(f"/errors/{status}", "field-map")])
            for status in ("401", "403", "408", "429", "500", "5XX")
        ),
    ],
)
def test_a_call_of_an_import_declares_mistakes_of_its_callers(errors: Any, problems: Any) -> None:
    source = BindingSource(
        tool_id="shop.search",
        x_binding={"upstream": "vendor", "operationId": "search", "errors": errors},
        input_schema={},
        output_schema={},
        declared_errors=frozenset({"gone"}),
    )
    assert rules(source) == problems


def test_a_call_of_an_import_names_its_operation_and_errors() -> None:
    errors = {"404": {"reason": "gone"}, "4XX": {"reason": "refused"}}
    text = compile_binding(
        BindingSource(
            tool_id="shop.search",
            x_binding={"upstream": "vendor", "operationId": "search", "errors": errors},
            input_schema={},
            output_schema={},
            declared_errors=frozenset({"gone", "refused"}),
        )
    )
    made: dict[str, Any] = {}
    exec(text, made)  # noqa: S102 - the text is what the test is about
    binding = made["BINDING"]
    assert (binding.upstream, binding.operation) == ("vendor", "search")
    assert binding.errors == {**dict.fromkeys(range(400, 500), "refused"), 404: "gone"}


def test_a_python_binding_is_checked_by_its_shape_alone(tool: Make) -> None:
    source = tool()
    handler = BindingSource(
        tool_id="shop.search",
        x_binding={"python": "gateway.connectors.shop:search"},
        input_schema=source.input_schema,
        output_schema=source.output_schema,
    )

    assert rules(handler) == []


BINDINGS: dict[str, tuple[dict[str, Any], tuple[str, str]]] = {
    "an unknown upstream": ({"upstream": "store"}, ("/upstream", "unknown-upstream")),
    "an unknown operation": ({"operationId": "x"}, ("/operationId", "unknown-operation")),
    "an unknown operation to fall back on": (
        {"fallback": {"on": ["403"], "operationId": "x", "response": {"200": {}}}},
        ("/fallback/operationId", "unknown-operation"),
    ),
    "an undeclared error": (
        {"errors": {"404": {"reason": "lost"}}},
        ("/errors/404/reason", "unknown-error"),
    ),
    "an error that reads the body": (
        {"errors": {"404": {"result": {"id": "$response.body#/id"}}}},
        ("/errors/404/result/id", "unknown-source"),
    ),
    "an error that leaves out a required member": (
        {"errors": {"404": {"result": {}}}},
        ("/errors/404/result", "member-unmapped"),
    ),
}


@pytest.mark.parametrize("name", BINDINGS)
def test_a_mistake_in_a_binding_is_reported_where_it_stands(tool: Make, name: str) -> None:
    changed, problem = BINDINGS[name]

    assert rules(tool(binding=changed)) == [problem]


def test_statuses_are_those_of_the_upstream_contract(tool: Make) -> None:
    """One that is not declared, and for want of it one that is not mapped."""
    source = tool(binding={"response": {"201": {"id": {"const": "a"}}}})

    assert rules(source) == [("/response/201", "unknown-status"), ("/response", "status-unmapped")]


REQUESTS: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "an unknown parameter": (
        {"request": {"query": {"z": "$inputs.q"}}},
        [("/request/query/z", "unknown-member")],
    ),
    "a required parameter left out": (
        {"parameters": (QUERY,)},
        [("/request/query", "member-unmapped")],
    ),
    "a path parameter left out": (
        {
            "path": "/things/{id}",
            "parameters": ({"name": "id", "in": "path", "required": True, "schema": TEXT},),
        },
        [("/request/path", "member-unmapped")],
    ),
    "a path parameter that may be absent": (
        {
            "path": "/things/{id}",
            "parameters": ({"name": "id", "in": "path", "required": True, "schema": TEXT},),
            "inputs": members_of(id=TEXT),
            "request": {"path": {"id": {"value": "$inputs.id", "omitIfAbsent": True}}},
        },
        [("/request/path/id", "required-may-be-absent")],
    ),
    "a body for an operation without one": (
        {"request": {"body": {"q": "$inputs.q"}}},
        [("/request/body", "unknown-member")],
    ),
    "no body for an operation that needs one": (
        {"request_schema": body(q=TEXT)},
        [("/request", "member-unmapped")],
    ),
    "a member of the body left out": (
        {"request_schema": body(q=TEXT, r=TEXT), "request": {"body": {"q": "$inputs.q"}}},
        [("/request/body", "member-unmapped")],
    ),
    "a deep member of the body left out": (
        {"request_schema": body(a=body(b=TEXT)), "request": {"body": {"a": {"object": {}}}}},
        [("/request/body/a", "member-unmapped")],
    ),
    "a piped list in the query": (
        {
            "parameters": ({**QUERY, "style": "pipeDelimited"},),
            "request": {"query": {"q": "$inputs.q"}},
        },
        [("/request/query/q", "unsupported-style")],
    ),
    "an object in the query": (
        {
            "parameters": ({**QUERY, "schema": {}},),
            "inputs": members_of(("q",), q=body(a=TEXT)),
            "request": {"query": {"q": "$inputs.q"}},
        },
        [("/request/query/q", "not-text")],
    ),
    "null in the query": (
        {
            "parameters": ({**QUERY, "schema": {}},),
            "inputs": members_of(("q",), q={"type": ["string", "null"]}),
            "request": {"query": {"q": "$inputs.q"}},
        },
        [("/request/query/q", "not-text")],
    ),
    "objects in a list in the query": (
        {
            "parameters": ({**QUERY, "schema": {"type": "array"}},),
            "inputs": members_of(("q",), q={"type": "array", "items": body(a=TEXT)}),
            "request": {"query": {"q": "$inputs.q"}},
        },
        [("/request/query/q", "not-text")],
    ),
    "onGap in a request": (
        {
            "parameters": (QUERY,),
            "request": {"query": {"q": {"value": "$inputs.q", "onGap": "omit"}}},
        },
        [
            ("/request/query/q", "required-may-be-absent"),
            ("/request/query/q/onGap", "gap-in-request"),
        ],
    ),
    "an argument that the upstream does not take": (
        {
            "parameters": ({**QUERY, "schema": {"type": "string", "maxLength": 5}},),
            "request": {"query": {"q": "$inputs.q"}},
        },
        [("/request/query/q", "unsendable")],
    ),
    "an argument that does not convert": (
        {
            "parameters": ({**QUERY, "schema": {"type": "string", "format": "date"}},),
            "request": {"query": {"q": {"value": "$inputs.q", "as": "date"}}},
        },
        [("/request/query/q", "unsendable")],
    ),
    "an argument that the map does not know": (
        {
            "parameters": (QUERY,),
            "inputs": members_of(("q",), q={"enum": ["a", "b"]}),
            "request": {"query": {"q": {"value": "$inputs.q", "map": {"a": "A"}}}},
        },
        [("/request/query/q", "unsendable")],
    ),
    "a reply in a request": (
        {"parameters": (QUERY,), "request": {"query": {"q": "$response.header.X-Id"}}},
        [("/request/query/q", "unknown-source")],
    ),
    "a duration in a request": (
        {
            "parameters": (QUERY,),
            "request": {"query": {"q": {"value": "$call.elapsed_ms", "as": "string"}}},
        },
        [("/request/query/q", "unknown-source")],
    ),
}


@each_of("name", REQUESTS)
def test_a_mistake_in_a_request_is_reported_where_it_stands(tool: Make, name: str) -> None:
    changed, problems = REQUESTS[name]

    assert rules(tool(**changed)) == problems


def test_headers_that_the_upstream_sets_are_not_asked_of_the_binding(tool: Make) -> None:
    token = {"name": "X-TOKEN", "in": "header", "required": True, "schema": TEXT}
    other = {"name": "X-Trace", "in": "header", "required": True, "schema": TEXT}

    assert rules(tool(parameters=(token,))) == []
    assert rules(tool(parameters=(other,))) == [("/request/header", "member-unmapped")]
    assert rules(tool(parameters=(other,), request={"header": {"x-trace": "$call.id"}})) == []


VALUES: dict[str, tuple[Any, Any, Any, tuple[str, str]]] = {
    "a member that the upstream does not send": (
        "$response.body#/y",
        TEXT,
        TEXT,
        ("", "unknown-source"),
    ),
    "a part of a text": ("$response.body#/x/y", TEXT, TEXT, ("", "unknown-source")),
    "an argument that nobody declares": ("$inputs.z", TEXT, TEXT, ("", "unknown-source")),
    "an item outside lists": ("@/x", TEXT, TEXT, ("", "unknown-source")),
    "a condition that leads nowhere": (
        {"const": "a", "when": "$inputs.z"},
        TEXT,
        TEXT,
        ("", "unknown-source"),
    ),
    "a function's argument that leads nowhere": (
        {"python": "shop.fields:price", "with": ["$response.body#/z"]},
        TEXT,
        TEXT,
        ("", "unknown-source"),
    ),
    "a filter that leads nowhere": (
        {"count": "$response.body#/x", "where": {"@/z": [1]}},
        {"type": "array", "items": body(a=TEXT)},
        WHOLE,
        ("", "unknown-source"),
    ),
    "a filter for a value that never comes": (
        {"count": "$response.body#/x", "where": {"@/a": ["Z"]}},
        {"type": "array", "items": body(a={"enum": ["A"]})},
        WHOLE,
        ("/where/@~1a", "where-unreachable"),
    ),
    "each of a text": (
        {"each": "$response.body#/x", "item": "@"},
        TEXT,
        {"type": "array", "items": TEXT},
        ("", "not-a-list"),
    ),
    "a list for a text": (
        {"each": "$response.body#/x", "item": {"const": "a"}},
        {"type": "array", "items": TEXT},
        TEXT,
        ("", "never-admitted"),
    ),
    "an object for a text": ({"object": {}}, TEXT, TEXT, ("", "never-admitted")),
    "a number for a text": ("$response.body#/x", WHOLE, TEXT, ("", "never-admitted")),
    "a constant of another type": ({"const": 1}, TEXT, TEXT, ("", "const-not-admitted")),
    "a default of another type": (
        {"value": "$response.body#/x", "default": 1},
        TEXT,
        TEXT,
        ("/default", "const-not-admitted"),
    ),
    "a map to another type": (
        {"value": "$response.body#/x", "map": {"a": 1}},
        {"enum": ["a"]},
        TEXT,
        ("/map/a", "const-not-admitted"),
    ),
    "a map of a value that never comes": (
        {"value": "$response.body#/x", "map": {"a": "A", "z": "Z"}},
        {"enum": ["a"]},
        TEXT,
        ("/map/z", "map-unreachable"),
    ),
    "a last resort of another type": (
        {"value": "$response.body#/x", "map": {"a": "A"}, "else": {"const": 1}},
        TEXT,
        TEXT,
        ("/else/const", "const-not-admitted"),
    ),
    "an object converted": (
        {"value": "$response.body#/x", "as": "string"},
        body(a=TEXT),
        TEXT,
        ("/as", "unknown-as"),
    ),
    "an item skipped where there is none": (
        {"value": "$response.body#/x", "map": {"a": "A"}, "else": "skip-item"},
        {"enum": ["a", "b"]},
        TEXT,
        ("/else", "skip-outside-each"),
    ),
    "a required member omitted": (
        {"value": "$response.body#/x", "onGap": "omit"},
        TEXT,
        {"type": "string", "maxLength": 3},
        ("", "required-may-be-absent"),
    ),
    "a required member under a condition": (
        {"const": "a", "when": "$response.header.X"},
        TEXT,
        TEXT,
        ("", "required-may-be-absent"),
    ),
    "null without a word": (
        "$response.body#/x",
        {"type": ["string", "null"]},
        TEXT,
        ("", "optional-unhandled"),
    ),
    "an item left out from inside": (
        {"each": "$response.body#/x", "item": {"value": "@", "map": {"a": "A"}, "else": "omit"}},
        {"type": "array", "items": TEXT},
        {"type": "array", "items": TEXT},
        ("/item", "absent-item"),
    ),
}


@each_of("name", VALUES)
def test_a_mistake_in_a_value_is_reported_where_it_stands(one: Make, name: str) -> None:
    value, source, target, (at, rule) = VALUES[name]

    found = rules(one(value, source, target))

    assert (f"/response/200/x{at}", rule) in found
    assert all(pointer.startswith("/response/200/x") for pointer, _ in found)


def test_a_member_that_the_result_does_not_know_is_refused(tool: Make) -> None:
    source = tool(result={"id": "$response.body#/id", "nr": "$response.body#/id"})

    assert rules(source) == [("/response/200/nr", "unknown-member")]


def test_a_required_member_of_the_result_left_out_is_refused(tool: Make) -> None:
    assert rules(tool(result={})) == [("/response/200", "member-unmapped")]


@pytest.mark.parametrize(
    "handled", [{"omitIfAbsent": True}, {"default": "none"}, {"when": "$response.body#/x"}]
)
def test_an_optional_source_is_handled_in_one_of_three_ways(
    one: Make, handled: dict[str, Any]
) -> None:
    bare = {"value": "$response.body#/x"}

    assert rules(one(bare, TEXT, TEXT, optional=True, needed=False)) == [
        ("/response/200/x", "optional-unhandled")
    ]
    assert rules(one({**bare, **handled}, TEXT, TEXT, optional=True, needed=False)) == []


def test_the_input_schemas_default_handles_absence(tool: Make) -> None:
    inputs = members_of(q={"type": "integer", "default": 3})
    query = {"name": "q", "in": "query", "schema": WHOLE}
    source = tool(inputs=inputs, parameters=(query,), request={"query": {"q": "$inputs.q"}})

    assert rules(source) == []


def test_an_object_left_out_unless_whole_handles_the_absence_of_its_members(one: Make) -> None:
    source = {
        "type": "object",
        "properties": {"n": {"type": "number"}, "c": {"type": ["string", "null"]}},
    }
    target = members_of(("n", "c"), n={"type": "number"}, c=TEXT)
    members = {"n": "$response.body#/x/n", "c": "$response.body#/x/c"}

    whole = {"object": members, "omitIfAbsent": True}

    assert rules(one(whole, source, target, needed=False)) == []
    assert rules(one(whole, source, target)) == [("/response/200/x", "required-may-be-absent")]
    assert rules(one({"object": members}, source, target)) == [
        ("/response/200/x/object/n", "optional-unhandled"),
        ("/response/200/x/object/c", "optional-unhandled"),
    ]


def test_a_gap_must_say_what_becomes_of_it(one: Make) -> None:
    source, target = {"type": "integer", "minimum": 0}, {"type": "integer", "minimum": 1}

    problems = check(one("$response.body#/x", source, target))

    assert [problem.rule for problem in problems] == ["binding/gap-without-ongap"]
    assert "for example 0" in problems[0].message
    spoken = {"value": "$response.body#/x", "onGap": {"const": 1}}
    assert check(one(spoken, source, target)) == []


def test_more_items_than_the_result_may_hold_ask_for_a_limit(one: Make) -> None:
    source, target = (
        {"type": "array", "items": TEXT},
        {"type": "array", "items": TEXT, "maxItems": 5},
    )
    each = {"each": "$response.body#/x", "item": "@"}

    problems = check(one(each, source, target))

    assert [problem.rule for problem in problems] == ["binding/gap-without-ongap"]
    assert "limit" in problems[0].fix
    assert check(one({**each, "limit": 5}, source, target)) == []


def test_what_means_nothing_is_not_compiled(tool: Make) -> None:
    with pytest.raises(ContractError, match=r"shop\.search: x-binding/response/200/id: "):
        compile_binding(tool(result={"id": "$response.body#/nr"}))


def test_every_rule_that_can_be_broken_is_documented() -> None:
    """A problem whose rule the lint does not know could not be shown."""
    package = Path(fieldmap.__file__).parent
    texts = [path.read_text("utf-8") for path in package.rglob("*.py")]
    named = {rule for text in texts for rule in re.findall(r'"([a-z]+(?:-[a-z]+)+)"', text)}
    documented = {rule.id.removeprefix("binding/") for rule in RULES}

    assert {"unknown-source", "gap-without-ongap", "never-admitted"} <= named
    assert named - {"date-time", "skip-item"} <= documented
    assert {"shape", "expression"} <= documented
