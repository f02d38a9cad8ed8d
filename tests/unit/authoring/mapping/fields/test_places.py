"""Compiled field maps: settings of the upstream, and where expressions lead in schemas."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.authoring.mapping.fields import BindingSource, Coverage, check, prove
from gateway.authoring.mapping.fields.nodes import ItemFilter, ReadExpression
from gateway.authoring.mapping.fields.parse import parse_expression
from gateway.authoring.mapping.fields.scope import Scope, SourceValues, UnknownSource
from gateway.contract.context import CallFacts
from gateway.contract.operation import HttpBinding
from gateway.contract.upstream import QueryRule, ReplyFacts, SettingRule
from tests.unit.tables import each_of

TEXT = {"type": "string"}


def place(schema: dict[str, Any], expression: str, *, is_input: bool = False) -> SourceValues:
    source = parse_expression(expression)
    assert source is not None
    body = None if is_input else schema
    return Scope(inputs=schema, body=body, is_reply=not is_input).find(source)


def thing(required: tuple[str, ...] = ("a",), **members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": list(required)}


@each_of(
    ("schema", "may_be_absent"),
    [
        (thing(a=TEXT), False),
        (thing((), a=TEXT), True),
        (thing(a={"type": ["string", "null"]}), True),
        ({**thing(a=TEXT), "type": ["object", "null"]}, True),
        ({"allOf": [thing((), a=TEXT), {"type": "object", "required": ["a"]}]}, False),
        ({"anyOf": [thing(a=TEXT), {"type": "null"}]}, True),
        ({"oneOf": [thing(a=TEXT), thing(("a", "b"), a={"type": "string"}, b=TEXT)]}, False),
        ({"oneOf": [thing(a=TEXT), thing((), a=TEXT)]}, True),
        ({"type": "object", "additionalProperties": TEXT}, True),
        ({"properties": {"a": TEXT}, "required": ["a"]}, True),
    ],
)
def test_a_member_is_certain_only_when_every_reply_has_it(
    schema: dict[str, Any], may_be_absent: bool
) -> None:
    """The last schema has no type: a reply that is no object at all would be valid."""
    found = place(schema, "$response.body#/a")

    assert found.may_be_absent is may_be_absent


def test_null_stands_for_absence_in_replies_and_for_itself_in_arguments() -> None:
    nullable = thing(a={"type": ["string", "null"]})

    assert place(nullable, "$response.body#/a").schema == TEXT
    argument = place(nullable, "$inputs.a", is_input=True)
    assert argument.schema == {"type": ["string", "null"]}
    assert not argument.may_be_absent


def test_an_arguments_default_ends_its_absence() -> None:
    schema = thing((), a={"type": "integer", "default": 3})

    assert not place(schema, "$inputs.a", is_input=True).may_be_absent
    assert place(schema, "$inputs.a", is_input=True).default == 3
    assert place(schema, "$response.body#/a").may_be_absent


@each_of(
    ("schema", "expression"),
    [
        (thing(a=TEXT), "$response.body#/b"),
        (thing(a=TEXT), "$response.body#/a/b"),
        (thing(a={"type": "array", "items": TEXT}), "$response.body#/a/x"),
        (thing(a={"type": "array", "prefixItems": [TEXT], "items": False}), "$response.body#/a/1"),
        (thing(a=False), "$response.body#/a"),
        ({"oneOf": [TEXT, {"type": "integer"}]}, "$response.body#/a"),
        (thing(a=TEXT), "@/a"),
    ],
)
def test_what_nobody_declares_is_nowhere(schema: dict[str, Any], expression: str) -> None:
    with pytest.raises(UnknownSource):
        place(schema, expression)


def test_elements_are_certain_up_to_the_least_length() -> None:
    schema = thing(a={"type": "array", "minItems": 1, "items": TEXT})

    assert not place(schema, "$response.body#/a/0").may_be_absent
    assert place(schema, "$response.body#/a/1").may_be_absent


def test_what_a_condition_names_is_certain_and_so_is_the_way_there() -> None:
    schema = thing((), a={"type": ["object", "null"], "properties": {"b": TEXT}, "required": ["b"]})
    scope = Scope(inputs={}, body=schema, is_reply=True)

    known = scope.assuming(ReadExpression("body", ("a",)))

    assert scope.find(ReadExpression("body", ("a", "b"))).may_be_absent
    assert not known.find(ReadExpression("body", ("a",))).may_be_absent
    assert not known.find(ReadExpression("body", ("a", "b"))).may_be_absent


def test_what_is_known_of_an_item_is_forgotten_in_the_next_list() -> None:
    inner = {"type": "array", "items": thing((), a=TEXT)}
    body = {"type": "array", "items": thing(("b",), a=TEXT, b=inner)}
    scope = Scope(inputs={}, body=body, is_reply=True)
    keep = ItemFilter(needed=ReadExpression("item", ("a",)))

    outer = scope.entering(scope.find(ReadExpression("body")), keep)
    deeper = outer.entering(outer.find(ReadExpression("item", ("b",))), ItemFilter())

    assert not outer.find(ReadExpression("item", ("a",))).may_be_absent
    assert deeper.find(ReadExpression("item", ("a",))).may_be_absent
    assert deeper.find(ReadExpression("item", ("a",))).pointer == "/*/b/*/a"


def test_a_filter_leaves_only_the_values_it_allows() -> None:
    body = {"type": "array", "items": thing(a={"enum": ["k", "l", "m"]})}
    scope = Scope(inputs={}, body=body, is_reply=True)

    item = scope.entering(
        scope.find(ReadExpression("body")),
        ItemFilter(allowed={ReadExpression("item", ("a",)): ("k", "z")}),
    )

    assert item.find(ReadExpression("item", ("a",))).schema == {"enum": ["k"]}


Make = Callable[..., BindingSource]
Load = Callable[[BindingSource], HttpBinding]

TOPIC = SettingRule(name="topic", description="Where to.", mock="news", pattern="^[a-z]{1,8}$")
CALL = CallFacts(id="call-1", now="2026-11-20T10:00:00Z", settings={"topic": "news"})


def set_up(source: BindingSource, **rules: Any) -> BindingSource:
    """`source` with a setting, and with more rules of its upstream."""
    assert source.upstream is not None
    return replace(source, upstream=replace(source.upstream, settings=(TOPIC,), **rules))


def test_a_setting_is_read_in_requests_and_in_results(tool: Make, load: Load) -> None:
    source = set_up(
        tool(
            parameters=({"name": "topic", "in": "query", "schema": TEXT},),
            request={"query": {"topic": "$settings.topic"}},
            result={"id": "$settings.topic"},
        )
    )
    binding = load(source)

    assert check(source) == []
    assert binding.request({"q": "x"}, CALL).query == (("topic", "news"),)
    reply = ReplyFacts(status=200, headers={}, body={"id": "A"}, elapsed_ms=7)
    assert binding.results["200"]({"q": "x"}, CALL, reply) == {"id": "news"}


def test_a_setting_that_is_not_declared_leads_nowhere(tool: Make) -> None:
    (found,) = check(set_up(tool(result={"id": "$settings.topics"})))

    assert (found.pointer, found.rule) == ("/response/200/id", "binding/unknown-source")
    assert found.fix == "Did you mean topic?"


def test_without_settings_the_fix_says_where_they_are_declared(tool: Make) -> None:
    (found,) = check(tool(result={"id": "$settings.topic"}))

    assert "x-upstream.settings" in found.fix


def test_a_setting_is_never_absent(tool: Make) -> None:
    """So that what could stand for its absence has nothing to say."""
    output = {"type": "object", "properties": {"id": TEXT}, "required": ["id"]}

    assert check(set_up(tool(result={"id": "$settings.topic"}, output=output))) == []


def test_the_pattern_of_a_setting_is_what_is_known_of_it(tool: Make) -> None:
    def verdict(target: dict[str, Any]) -> Coverage:
        output = {"type": "object", "properties": {"id": target}, "required": ["id"]}
        source = set_up(tool(result={"id": "$settings.topic"}, output=output))
        return prove(source)[0].verdict

    assert verdict(TEXT) is Coverage.PROVED
    assert verdict({**TEXT, "pattern": TOPIC.pattern}) is Coverage.PROVED
    assert verdict({**TEXT, "pattern": "^[0-9]+$"}) is not Coverage.PROVED


def test_a_setting_that_no_number_can_be_is_not_sent_as_one(tool: Make) -> None:
    body = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    source = set_up(tool(request_schema=body, request={"body": {"n": "$settings.topic"}}))

    assert check(source)[0].rule == "binding/never-admitted"


def test_a_required_parameter_that_every_request_bears_is_not_asked_of_a_binding(
    tool: Make,
) -> None:
    key = {"name": "key", "in": "query", "required": True, "schema": TEXT}
    source = tool(parameters=(key,))

    assert [each.rule for each in check(source)] == ["binding/member-unmapped"]
    rule = QueryRule(name="key", template="{credential.token}")
    assert check(set_up(source, query=(rule,))) == []
