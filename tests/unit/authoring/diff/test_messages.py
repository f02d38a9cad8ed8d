"""Changes that no schema shows: each has a message that one side has and the other has not."""

import json

import pytest

from gateway.authoring.diff import messages
from gateway.authoring.diff.changes import ChangeVerdict
from gateway.authoring.diff.compare import Comparer
from gateway.authoring.diff.sides import read_document

TEXT = {"type": "string", "minLength": 1}
DONE = {"responses": {"200": {"description": ""}}}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 5}}
PAGE = {"name": "page", "in": "query", "required": True, "schema": {"enum": [3]}}
LIST = {"name": "v", "in": "query", "schema": {"type": "array", "items": {"const": "a"}}}
MEDIA = {"application/json": {"schema": TEXT}, "text/plain": {"schema": TEXT}}
KEYS = {
    "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "bearer": {"type": "http", "scheme": "bearer"},
}


def post(**members):
    return {"/a": {"post": {**DONE, **members}}}


def body(*types, **members):
    return {"content": {each: MEDIA[each] for each in types}, **members}


def answer(*types):
    return {"200": {"description": "", **body(*types)}}


def compared(tmp_path, old, new):
    sides = []
    for name, paths in (("old", old), ("new", new)):
        path = tmp_path / f"{name}.json"
        document = {
            "openapi": "3.1.0",
            "info": {"title": "A", "version": "1"},
            "paths": paths,
            "components": {"securitySchemes": KEYS},
        }
        path.write_text(json.dumps(document), "utf-8")
        sides.append(read_document(path, name))
    return Comparer("api").changes(sides[0].subjects, sides[1].subjects)


REQUEST = {"method": "POST", "path": "/a"}
CHANGES = {
    "an operation": (
        {"/a/{id}": {"get": {**DONE, "parameters": [ID, PAGE]}}},
        {},
        ("operation-removed", "old", "no operation has this method and path"),
        {"method": "GET", "path": "/a/5", "query": {"page": 3}},
    ),
    "a body": (
        post(requestBody=body("application/json")),
        post(),
        ("body-removed", "old", "it takes no body"),
        {**REQUEST, "content-type": "application/json", "body": "r"},
    ),
    "no body": (
        post(requestBody=body("application/json")),
        post(requestBody=body("application/json", required=True)),
        ("body-required", "old", "it needs a body"),
        REQUEST,
    ),
    "a media type": (
        post(requestBody=body("application/json", "text/plain")),
        post(requestBody=body("application/json")),
        ("request-type-removed", "old", "it takes no body of the type text/plain"),
        {**REQUEST, "content-type": "text/plain", "body": "r"},
    ),
    "a media type of an answer": (
        post(responses=answer("application/json", "text/plain")),
        post(responses=answer("application/json")),
        ("reply-type-removed", "old", "it has no reply 200 text/plain"),
        {"operation": "POST /a", "reply 200 text/plain": "r"},
    ),
    "a status": (
        post(responses={**DONE["responses"], "201": {"description": ""}}),
        post(),
        ("success-removed", "old", "201 is never answered"),
        {"operation": "POST /a", "status": "201"},
    ),
    "a form of lists": (
        post(parameters=[LIST]),
        post(parameters=[{**LIST, "explode": False}]),
        ("parameter-style", "old", "query v is written in another way: form, explode False"),
        {**REQUEST, "style": {"query v": "form, explode True"}, "query": {"v": ["a", "a"]}},
    ),
    "credentials": (
        post(security=[{"key": []}]),
        post(security=[{"bearer": []}]),
        ("security-narrowed", "old", "the credentials are not enough"),
        {
            **REQUEST,
            "credentials": {'{"in":"header","name":"x-key","type":"apiKey"}': []},
        },
    ),
    "a callback": (
        post(callbacks={"done": {"/b": post(requestBody=body("application/json"))["/a"]}}),
        post(),
        ("callback-removed", "old", "it has no callback of this name"),
        {"callback": "POST /a callback done /b POST", "body application/json": "r"},
    ),
    "the body of a callback": (
        post(callbacks={"done": {"/b": post(requestBody=body("application/json"))["/a"]}}),
        post(callbacks={"done": {"/b": post()["/a"]}}),
        ("body-removed", "old", "it has no body"),
        {"callback": "POST /a callback done /b POST", "body application/json": "r"},
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_breaks_is_shown_by_a_message(tmp_path, name):
    old, new, expected, message = CHANGES[name]
    found = [each for each in compared(tmp_path, old, new) if each.rule == expected[0]]
    assert [(each.rule, each.accepted_by, each.refusal) for each in found] == [expected]
    assert found[0].verdict is ChangeVerdict.BREAKING
    assert found[0].witness == message


def test_a_path_that_another_one_serves_breaks_by_rule_alone(tmp_path):
    """No request shows it: the other operation answers."""
    template = {"/a/{id}": {"get": {**DONE, "parameters": [{**ID, "schema": TEXT}]}}}
    (change,) = compared(tmp_path, {"/a/me": {"get": DONE}, **template}, template)
    assert (change.rule, change.verdict, change.severity) == (
        "operation-removed",
        ChangeVerdict.POLICY,
        "error",
    )
    assert change.accepted_by is None


def test_values_are_valid_for_the_side_that_has_the_message(tmp_path):
    """A schema that no value meets has no message, and is no reason to fail."""
    never = {"content": {"application/json": {"schema": {"type": "string", "enum": [1]}}}}
    (change, _) = compared(tmp_path, post(requestBody=never), post())
    assert (change.rule, change.verdict) == ("body-removed", ChangeVerdict.POLICY)


def test_a_change_after_the_last_message_is_told_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(messages, "_MOST_MESSAGES", 2)
    paths = {f"/{each}": {"get": DONE} for each in "abcd"}
    found = compared(tmp_path, paths, {})
    assert [(each.subject, each.severity) for each in found] == [
        (f"GET /{each}", "error") for each in "abcd"
    ]
    assert [each.verdict.value for each in found] == ["breaking"] * 2 + ["policy"] * 2
    said = "the operation is gone"
    assert [each.text for each in found] == [said] * 4
    assert [each.sentence for each in found] == [said] * 2 + [
        f"{said}; no message was made after 2"
    ] * 2


QUERIED = {"/a?b=1&c={c}": {"get": DONE}, "/a?c={c}&b=2": {"get": DONE}}


@pytest.mark.parametrize("version", ["2.0", "3.0.3", "3.1.0"])
def test_paths_of_azure_with_a_query_are_compared(tmp_path, version):
    kind = {"swagger": version} if version == "2.0" else {"openapi": version}

    def found(old, new):
        sides = []
        for name, paths in (("old", old), ("new", new)):
            path = tmp_path / f"{name}.json"
            path.write_text(json.dumps({**kind, "info": {}, "paths": {}, **paths}), "utf-8")
            sides.append(read_document(path, name).subjects)
        return Comparer("api").changes(*sides)

    old = {"x-ms-paths": QUERIED}
    assert found(old, {"x-ms-paths": {f"/a?c={{c}}&b={n}": {"get": DONE} for n in (1, 2)}}) == ()
    assert found(old, {"paths": QUERIED}) == ()
    (change,) = found(old, {"x-ms-paths": {"/a?b=1&c={c}": {"get": DONE}}})
    assert (change.rule, change.verdict.value) == ("operation-removed", "breaking")
    assert change.subject == "GET /a?b=2&c={}"
    assert change.old.pointer == "/x-ms-paths/~1a?c={c}&b=2/get"
