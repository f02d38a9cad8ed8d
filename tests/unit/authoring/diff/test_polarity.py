"""Each direction both ways: what may grow must not shrink, and what may shrink must not grow."""

import json

import pytest

from gateway.authoring.diff.changes import ChangePlace, Direction
from gateway.authoring.diff.compare import Comparer
from gateway.authoring.diff.documents import CALLED, SERVED, document_subjects
from gateway.authoring.diff.surface import ExchangedSchema, Subject
from gateway.authoring.openapi.reading.normalise import normalise
from gateway.authoring.openapi.reading.source import read_source

SHORT, LONG = {"type": "string", "maxLength": 5}, {"type": "string", "maxLength": 9}
READ = {
    Direction.TOOL_INPUT: True,
    Direction.TOOL_OUTPUT: False,
    Direction.WEBHOOK: True,
    Direction.WEBHOOK_REPLY: False,
    Direction.EVENT: False,
    Direction.EVENT_REPLY: True,
    Direction.UPSTREAM_REQUEST: True,
    Direction.UPSTREAM_RESPONSE: False,
    Direction.REQUEST: True,
    Direction.RESPONSE: False,
}
"""Whether who wrote the contract reads it, so that it may grow."""


def verdicts(old, new):
    return {each.verdict.value for each in Comparer("api").changes(old, new)}


@pytest.mark.parametrize("direction", Direction)
def test_a_direction_may_grow_or_shrink_but_not_both(direction):
    def side(schema):
        part = ExchangedSchema(
            name="value",
            direction=direction,
            schema=schema,
            locate=lambda at: ChangePlace("a.json", at),
        )
        return {
            "a": Subject(
                name="a", kind="tool", place=ChangePlace("a.json", ""), parts={"value": part}
            )
        }

    grown, shrunk = verdicts(side(SHORT), side(LONG)), verdicts(side(LONG), side(SHORT))
    safe, breaking = (grown, shrunk) if READ[direction] else (shrunk, grown)
    assert (safe, breaking) == ({"safe"}, {"breaking"})


# Places of documents.

JSON = {"application/json": {"schema": "THE SCHEMA"}}
BODY, REPLY = {"content": JSON}, {"description": "", "content": JSON}
DONE = {"200": {"description": ""}}
HEADER = {"200": {"description": "", "headers": {"X-A": {"schema": "THE SCHEMA"}}}}


def parameter(where):
    return {"name": "p", "in": where, "required": True, "schema": "THE SCHEMA"}


def operation(**members):
    return {"responses": DONE, **members}


def path(**members):
    return {"paths": {"/a/{p}": {"post": operation(**members)}}}


def callback(**members):
    return path(callbacks={"c": {"/b": {"post": operation(**members)}}})


def webhook(**members):
    return {"paths": {}, "webhooks": {"w": {"post": operation(**members)}}}


OF_ALL = {
    "path parameter": (path(parameters=[parameter("path")]), True),
    "query parameter": (path(parameters=[parameter("query")]), True),
    "header parameter": (path(parameters=[parameter("header")]), True),
    "cookie parameter": (path(parameters=[parameter("cookie")]), True),
    "request": (path(requestBody=BODY), True),
    "response": (path(responses={"200": REPLY}), False),
    "error": (path(responses={"4XX": REPLY}), False),
    "any status": (path(responses={"default": REPLY}), False),
    "response header": (path(responses=HEADER), False),
    "callback": (callback(requestBody=BODY), False),
    "callback parameter": (callback(parameters=[parameter("query")]), False),
    "callback reply": (callback(responses={"200": REPLY}), True),
}
OF_3_1 = {
    "webhook": (webhook(requestBody=BODY), False),
    "webhook parameter": (webhook(parameters=[parameter("header")]), False),
    "webhook reply": (webhook(responses={"200": REPLY}), True),
}
LINES = {"content": {"application/jsonl": {"itemSchema": "THE SCHEMA"}}}
OF_3_2 = {
    "method": ({"paths": {"/a": {"query": operation(requestBody=BODY)}}}, True),
    "other method": (
        {"paths": {"/a": {"additionalOperations": {"COPY": operation(requestBody=BODY)}}}},
        True,
    ),
    "items of a request": (path(requestBody=LINES), True),
    "items of a response": (path(responses={"200": {"description": "", **LINES}}), False),
}
OLD_RESPONSE = {"200": {"description": "", "schema": "THE SCHEMA"}}
OF_2_0 = {
    "body": (path(parameters=[{"name": "b", "in": "body", "schema": "THE SCHEMA"}]), True),
    "response": (path(responses=OLD_RESPONSE), False),
}
OLD_PARAMETERS = ("path", "query", "header", "formData")
PLACES = [
    *(("3.0.3", name) for name in OF_ALL),
    *(("3.1.0", name) for name in OF_ALL | OF_3_1),
    *(("3.2.0", name) for name in OF_ALL | OF_3_1 | OF_3_2),
    *(("2.0", name) for name in OF_2_0),
]


def subjects(tmp_path, version, content, schema, roles):
    written = json.dumps(content).replace('"THE SCHEMA"', json.dumps(schema or {}))
    document = {"info": {"title": "A", "version": "1"}, **json.loads(written)}
    file = tmp_path / "a.json"
    file.write_text(json.dumps({_member(version): version, **document}), "utf-8")
    found = document_subjects(normalise(read_source(file, root=tmp_path)), "", roles)
    return {each.name: each for each in found}


def _member(version):
    return "swagger" if version == "2.0" else "openapi"


@pytest.mark.parametrize("roles", [SERVED, CALLED], ids=["served", "called"])
@pytest.mark.parametrize(("version", "name"), PLACES)
def test_a_place_of_a_document_has_its_polarity(tmp_path, version, name, roles):
    tables = OF_2_0 if version == "2.0" else OF_ALL | OF_3_1 | OF_3_2
    content, grows = tables[name]
    short, long = (subjects(tmp_path, version, content, each, roles) for each in (SHORT, LONG))
    grown, shrunk = verdicts(short, long), verdicts(long, short)
    safe, breaking = (grown, shrunk) if grows else (shrunk, grown)
    assert (safe, breaking) == ({"safe"}, {"breaking"})


@pytest.mark.parametrize("where", OLD_PARAMETERS)
def test_a_parameter_of_swagger_has_its_schema_beside_its_name(tmp_path, where):
    def side(schema):
        described = {"name": "p", "in": where, "required": True, **schema}
        content = {"consumes": ["multipart/form-data"], **path(parameters=[described])}
        return subjects(tmp_path, "2.0", content, None, SERVED)

    if_grown, if_shrunk = (
        verdicts(side(SHORT), side(LONG)),
        verdicts(side(LONG), side(SHORT)),
    )
    assert (if_grown, if_shrunk) == ({"safe"}, {"breaking"})
