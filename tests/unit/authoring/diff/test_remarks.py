"""Defaults, and what will end: nothing that a message shows, and something that callers ask."""

import json

import pytest

from gateway.authoring.diff.compare import Comparer
from gateway.authoring.diff.sides import read_document

LIMIT = {"type": "integer"}


def document(path, *, schema=True, parameter=None, operation=None):
    """A document whose component `T` is sent and answered."""
    content = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/T"}}}}
    post = {
        "parameters": [{"name": "limit", "in": "query", "schema": LIMIT, **(parameter or {})}],
        "requestBody": content,
        "responses": {"200": {"description": "", **content}},
        **(operation or {}),
    }
    whole = {
        "openapi": "3.1.0",
        "info": {"title": "A", "version": "1"},
        "paths": {"/a": {"post": post}, "/b": {"post": post}},
        "components": {"schemas": {"T": schema}},
    }
    path.write_text(json.dumps(whole), "utf-8")
    return read_document(path, path.name).subjects


@pytest.fixture
def changed(tmp_path):
    """The changes of two documents: rule, severity, verdict and sentence."""

    def compare(old, new, level="api"):
        sides = [document(tmp_path / f"{at}.json", **each) for at, each in enumerate((old, new))]
        found = Comparer(level).changes(*sides)
        return {(each.rule, each.severity, each.verdict.value, each.sentence) for each in found}

    return compare


def test_another_default_of_an_optional_parameter_is_a_warning(changed):
    old, new = ({"parameter": {"schema": {**LIMIT, "default": each}}} for each in (30, 100))
    text = "query parameters: limit: default 30 → 100"
    assert ("input-default-changed", "warning", "policy", text) in changed(old, new)
    assert {text for *_, text in changed({}, new)} == {
        "query parameters: limit: default none → 100"
    }
    assert {text for *_, text in changed(new, {})} == {
        "query parameters: limit: default 100 → none"
    }
    assert changed(new, {"parameter": {"schema": {**LIMIT, "default": 100.0}}}) == set()


def test_the_default_of_a_required_parameter_means_nothing(changed):
    old, new = (
        {"parameter": {"required": True, "schema": {**LIMIT, "default": each}}} for each in (30, 9)
    )
    assert changed(old, new) == set()


def member(**facts):
    below = {"type": "array", "items": {"type": "object", "properties": {"m": facts}}}
    both = {"below": below, "self": {"$ref": "#/components/schemas/T"}}
    return {"schema": {"type": "object", "properties": both}}


SHARED = " (a shared part; it reaches 1 more: POST /b)"


def test_a_default_in_a_component_is_said_once_in_each_direction(changed):
    text = f"application/json: below[].m: default false → true{SHARED}"
    assert changed(member(default=False), member(default=True)) == {
        ("input-default-changed", "warning", "policy", f"body {text}"),
        ("output-default-changed", "info", "safe", f"reply 200 {text}"),
    }
    assert {text for *_, text in changed(member(default=1), member(default=True))} == {
        f"{each} application/json: below[].m: default 1 → true{SHARED}"
        for each in ("body", "reply 200")
    }
    assert {rule for rule, *_ in changed(member(), member(readOnly=True, default=1))} == {
        "output-default-changed"
    }


@pytest.mark.parametrize(
    ("edit", "where"),
    [
        ({"operation": {"deprecated": True}}, "the deprecation is new"),
        ({"parameter": {"deprecated": True}}, "query parameters: limit is deprecated now"),
        (
            {"schema": {"properties": {"m": {"type": "string", "deprecated": True}}}},
            f"body application/json: m is deprecated now{SHARED}",
        ),
    ],
)
def test_what_will_end_works_and_is_told(changed, edit, where):
    plain = {"schema": {"properties": {"m": {"type": "string"}}}}
    assert ("deprecated", "warning", "policy", where) in changed(plain, {**plain, **edit})
    assert {severity for _, severity, *_ in changed(plain, {**plain, **edit}, "wire")} == {"info"}
    back = changed({**plain, **edit}, plain)
    assert {each[:3] for each in back} == {("deprecation-withdrawn", "info", "safe")}


def test_a_comparer_says_it_each_time(tmp_path):
    one = document(tmp_path / "one.json", **member(default=1))
    other = document(tmp_path / "other.json", **member(default=2))
    comparer = Comparer("api")
    found = comparer.changes(one, other)
    assert len(found) == 2
    assert comparer.changes(one, other) == found


def test_a_component_that_will_end_is_told_once_and_a_reference_where_it_is(changed):
    def members(own, *beside):
        refs = [{"$ref": "#/components/schemas/T/$defs/E", **each} for each in beside]
        shared = {"$defs": {"E": {"type": "string", **own}}}
        return {"schema": {**shared, "properties": dict(zip("abc", refs, strict=False))}}

    plain = members({}, {}, {}, {})
    ended = {"deprecated": True}
    texts = {text for *_, text in changed(plain, members(ended, {}, {}, {}))}
    assert texts == {
        f"{each} application/json: a is deprecated now{SHARED}" for each in ("body", "reply 200")
    }
    texts = {text for *_, text in changed(plain, members({}, {}, ended, ended))}
    assert texts == {
        f"{each} application/json: {name} is deprecated now{SHARED}"
        for each in ("body", "reply 200")
        for name in "bc"
    }


def test_components_that_contain_themselves_out_of_step_come_to_an_end(changed):
    def tree(*names):
        return {name: {"$ref": "#/components/schemas/T"} for name in names}

    names = [f"m{number}" for number in range(12)]
    inner = {"properties": tree(*names)}
    old = {"schema": {"properties": dict.fromkeys(names, inner), "default": 1}}
    new = {"schema": {"properties": tree(*names)}}
    assert {text for *_, text in changed(old, new)} == {
        f"{each} application/json: m0.m0: default 1 → none{SHARED}"
        for each in ("body", "reply 200")
    }
