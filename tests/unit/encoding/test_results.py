"""The schema of results agrees with what the decoder makes of replies."""

from typing import Any

import pytest

from gateway.contract.imported import ImportedReply
from gateway.contract.selection.members import ResultMembers, UnknownMembers
from gateway.encoding.replies.results import has_structured_results, result_schema
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
