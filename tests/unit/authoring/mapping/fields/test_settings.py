"""Settings of the upstream in field maps: known, checked, proved and sent."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from gateway.authoring.mapping.fields import BindingSource, Coverage, check, prove
from gateway.contract.context import CallFacts
from gateway.contract.operation import HttpBinding
from gateway.contract.upstream import QueryRule, ReplyFacts, SettingRule

Make = Callable[..., BindingSource]
Load = Callable[[BindingSource], HttpBinding]

TOPIC = SettingRule(name="topic", description="Where to.", mock="news", pattern="^[a-z]{1,8}$")
CALL = CallFacts(id="call-1", now="2026-11-20T10:00:00Z", settings={"topic": "news"})
TEXT = {"type": "string"}


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
