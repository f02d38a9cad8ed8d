"""Results of imported operations: what is asked for, counted, and what their schema says."""

from typing import Any

import pytest
from msgspec.structs import replace

from gateway.contract.imported import ImportedHeader, ImportedReply
from gateway.contract.selection import ResultMembers, UnknownMembers
from gateway.contract.values.schema import Validator
from gateway.encoding.replies.content import accept_of
from gateway.encoding.replies.decoder import EventCounter
from gateway.encoding.replies.results import (
    has_structured_results,
    published_results,
    result_schema,
)
from tests.unit.encoding.operations import encoded, operation
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


JSON = ImportedReply(status="200", kind="json", media_type="application/json")
CSV = ImportedReply(status="200", kind="text", media_type="text/csv")
PROBLEM = ImportedReply(status="400", kind="json", media_type="application/problem+json")
ANY = ImportedReply(status="2XX", kind="json", media_type="*/*")
IMAGE = ImportedReply(status="default", kind="binary", media_type="image/*")
EMPTY = ImportedReply(status="204", kind="empty")
BROKEN = ImportedReply(status="200", kind="text", media_type="text/plain\r\nX: y")


@each_of(
    ("replies", "accept"),
    [
        ((JSON, PROBLEM), "application/json"),
        ((CSV,), "text/csv"),
        ((CSV, JSON, CSV), "application/json, text/csv;q=0.9"),
        ((ANY,), "application/json, */*;q=0.9"),
        ((CSV, IMAGE), "text/csv, image/*"),
        ((EMPTY, PROBLEM), ""),
        ((BROKEN,), ""),
    ],
)
def test_successes_are_accepted_and_json_is_preferred(replies, accept) -> None:
    assert accept_of(replies) == accept


def test_a_request_names_what_it_accepts() -> None:
    own = replace(operation(), replies=(CSV,))
    assert encoded(own).headers == (("Accept", "text/csv"),)
    assert encoded(operation()).headers == ()


STREAM = b": hello\n\nevent: a\ndata: 1\n\ndata\ndata: 2\r\n\r\nid: 7\n\ndata: cut"
LINES = b'{"n":1}\n\n  \n{"n":2}\r\n{"n":3}'


@each_of("size", [1, 2, 7, 1000])
@each_of(
    ("media_type", "body"),
    [("text/event-stream; charset=utf-8", STREAM), ("application/jsonl", LINES)],
)
def test_events_are_counted_in_pieces_of_any_size(media_type, body, size):
    reported = []
    counter = EventCounter(lambda done, message: reported.append((done, message)))
    for start in range(0, len(body), size):
        counter({"content-type": media_type}, body[start : start + size])
    assert reported[-1] == (2, "2 events received")
    assert [done for done, _ in reported] == sorted({done for done, _ in reported})
