"""The schema of results agrees with what the decoder makes of replies."""

from typing import Any

import pytest

from gateway.contract.imported import ImportedHeader, ImportedReply
from gateway.contract.selection import ResultMembers, UnknownMembers
from gateway.contract.values.schema import Validator
from gateway.encoding.replies.results import (
    has_structured_results,
    published_results,
    result_schema,
)
from tests.unit.encoding.operations import operation
from tests.unit.tables import each_of

PLACE = {"type": "object", "properties": {"name": {"type": "string"}}}
REF = {"$ref": "#/$defs/place"}


def reply(schema: Any, kind: Any = "json", status: str = "200") -> ImportedReply:
    return ImportedReply(status=status, kind=kind, schema=schema)


def admitted(name: str, *replies: ImportedReply) -> bool:
    found = operation(replies=replies)
    members = ResultMembers(lambda: result_schema(found, {"place": PLACE}))
    try:
        members.selection([name])
    except UnknownMembers:
        return False
    return True


@each_of(
    ("name", "replies", "expected"),
    [
        ("name", [reply(REF)], True),
        ("nam", [reply(REF)], False),
        ("result.name", [reply({"type": "array", "items": REF})], True),
        ("result.nam", [reply({"type": "array", "items": REF})], False),
        ("name", [reply({"type": "array", "items": REF})], False),
        ("anything", [reply(True)], True),
        ("anything", [reply({"type": "object"})], True),
        ("k.nam", [reply({"type": "object", "additionalProperties": REF})], False),
        ("k.name", [reply({"type": "object", "additionalProperties": REF})], True),
        ("events.name", [reply(REF, "events")], True),
        ("events.nam", [reply(REF, "events")], False),
        ("name", [reply(REF), reply({"type": "array"}, status="2XX")], True),
        ("name", [reply({"type": "array"}), reply(REF, status="400")], False),
        ("text", [reply(REF), reply(True, "text")], True),
    ],
)
def test_names_of_results(name: str, replies: list[ImportedReply], expected: bool) -> None:
    assert admitted(name, *replies) is expected


@pytest.mark.parametrize(
    ("replies", "expected"),
    [
        ([reply(REF)], True),
        ([reply(REF, status="default")], True),
        ([reply(True, "text")], False),
        ([reply(True, "empty", "204")], False),
        ([reply(REF, status="404")], False),
        ([], False),
    ],
)
def test_which_operations_have_structured_results(
    replies: list[ImportedReply], expected: bool
) -> None:
    assert has_structured_results(operation(replies=tuple(replies))) is expected


def published(*replies: ImportedReply, is_enforced: bool = True) -> Any:
    return published_results(replies, {"place": PLACE}, is_enforced=is_enforced)


STRICT = {**PLACE, "required": ["name"], "additionalProperties": False}


@each_of(
    ("replies", "valid", "invalid"),
    [
        ([reply(STRICT)], [{"name": "a"}, {}], [{"name": 1}, {"other": 1}]),
        ([reply(REF)], [{"name": "a", "more": 1}], [{"name": 1}]),
        (
            [reply({"type": "array", "items": REF})],
            [{"result": [{"name": "a"}]}],
            [{"result": {}}, {"other": 1}],
        ),
        ([reply({"anyOf": [STRICT, {"type": "null"}]})], [{"name": "a"}, {"result": None}], []),
        ([reply(True, "text")], [{"text": "a"}], [{"text": 1}]),
        ([reply(True, "binary")], [{"content_type": "a/b", "size": 1}], [{"size": 1}]),
        (
            [reply(True, "redirect", status="302")],
            [{"location": "https://a.example/"}],
            [{"location": 1}, {"any": 1}],
        ),
        ([reply(REF, "events")], [{"events": [{"name": "a"}]}], [{"events": [1]}]),
        ([reply(STRICT), reply(True, "empty", "202")], [{"any": 1}, {"name": "a"}], []),
        ([reply(STRICT), reply(True, "empty", "204")], [{"name": "a"}, {}], [{"any": 1}]),
        ([reply(STRICT), reply({"type": "array"}, status="default")], [{}], [{"result": []}]),
        ([reply(STRICT, status="default")], [{"name": "a"}], [{"name": 1}]),
        ([reply(STRICT), reply(True, status="404")], [{"name": "a"}], [{"any": 1}]),
    ],
)
def test_results_are_valid_by_what_is_published(
    replies: list[ImportedReply], valid: list[Any], invalid: list[Any]
) -> None:
    validator = Validator(published(*replies))
    assert [each for each in valid if not validator.admits(each)] == []
    assert [each for each in invalid if validator.admits(each)] == []


def test_headers_are_a_part_of_the_published_results() -> None:
    limit = ImportedHeader(name="X-Limit", schema={"type": "integer"})
    for schema in (STRICT, REF, {"allOf": [STRICT]}):
        headed = ImportedReply(status="200", kind="json", schema=schema, headers=(limit,))
        validator = Validator(published(headed))
        assert validator.admits({"name": "a", "_headers": {"X-Limit": 1}})
        assert not validator.admits({"name": "a", "_headers": {"X-Limit": "many"}})
        assert validator.admits({"_headers": {"X-Limit": 1}})


def test_a_result_that_may_break_the_document_is_any_object() -> None:
    assert published(reply(STRICT), is_enforced=False) == {"type": "object"}
    assert published() == {"type": "object"}
    assert published(reply(True, "empty", "200")) == {"type": "object"}
