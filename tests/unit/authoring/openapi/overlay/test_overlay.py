"""Overlays change a copy of the document: update, remove, copy; and say what matches nothing."""

import json
from pathlib import PurePosixPath

import pytest

from gateway.authoring.contracts.document import read_document
from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.openapi.overlay import (
    BadQuery,
    Looks,
    apply_overlay,
    find_places,
    parse_query,
)
from gateway.authoring.openapi.reading.source import DEFAULT
from tests.unit.tables import each_of

DOCUMENT = {
    "openapi": "3.1.0",
    "tags": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
    "paths": {"/pets": {"get": {"summary": "List", "tags": ["a"], "x-old": {"deep": 1}}}},
}


@pytest.fixture
def overlaid(tmp_path):
    """Applies actions to the document."""

    def _overlaid(*actions, **members):
        value = {
            "overlay": "1.1.0",
            "info": {"title": "Ours", "version": "1"},
            "actions": list(actions),
        }
        (tmp_path / "overlay.json").write_text(json.dumps({**value, **members}), "utf-8")
        return apply_overlay(read_document(tmp_path, PurePosixPath("overlay.json")), DOCUMENT)

    return _overlaid


def test_objects_are_merged_arrays_joined_and_values_replaced(overlaid):
    update = {"summary": "Pets", "tags": ["b"], "x-old": {"more": 2}}
    found = overlaid({"target": "$.paths['/pets'].get", "update": update})
    operation = found.value["paths"]["/pets"]["get"]
    assert operation == {"summary": "Pets", "tags": ["a", "b"], "x-old": {"deep": 1, "more": 2}}
    assert DOCUMENT["paths"]["/pets"]["get"]["summary"] == "List"


def test_an_update_of_an_array_adds_one_item(overlaid):
    found = overlaid({"target": "$.tags", "update": {"name": "d"}})
    assert [each["name"] for each in found.value["tags"]] == ["a", "b", "c", "d"]


def test_a_single_value_is_replaced(overlaid):
    found = overlaid({"target": "$.paths['/pets'].get.summary", "update": "Pets"})
    assert found.value["paths"]["/pets"]["get"]["summary"] == "Pets"


def test_several_items_are_removed_although_indexes_change(overlaid):
    found = overlaid({"target": "$.tags[?@.name != 'b']", "remove": True})
    assert found.value["tags"] == [{"name": "b"}]


def test_items_are_removed_in_any_order_of_their_selectors(overlaid):
    found = overlaid({"target": "$.tags[0,2]", "remove": True})
    assert found.value["tags"] == [{"name": "b"}]
    found = overlaid({"target": "$.tags[2,0]", "remove": True})
    assert found.value["tags"] == [{"name": "b"}]


def test_a_copy_is_merged_into_the_target(overlaid):
    found = overlaid(
        {"target": "$.paths['/pets']", "update": {"post": {}}},
        {"target": "$.paths['/pets'].post", "copy": "$.paths['/pets'].get"},
    )
    item = found.value["paths"]["/pets"]
    assert item["post"] == item["get"]
    assert item["post"] is not item["get"]


def test_actions_see_the_result_of_earlier_ones(overlaid):
    found = overlaid(
        {"target": "$.tags[0]", "remove": True}, {"target": "$.tags[0]", "update": {"first": True}}
    )
    assert found.value["tags"][0] == {"name": "b", "first": True}


def test_a_target_that_matches_nothing_is_a_note_that_names_it(overlaid):
    found = overlaid({"target": "$.paths['/dogs']", "remove": True})
    (note,) = found.notes
    assert (note.rule, note.pointer) == ("overlay/unmatched", "/actions/0/target")
    assert "/dogs" in note.message


@pytest.mark.parametrize(
    ("action", "rule"),
    [
        ({"update": {}}, "overlay/malformed"),
        ({"target": "$.a", "remve": True}, "overlay/unknown-member"),
        ({"target": "$.a[1:b]", "remove": True}, "overlay/target"),
        ({"target": "$", "remove": True}, "overlay/remove"),
        ({"target": "$.paths", "copy": "$.tags[*]"}, "overlay/copy"),
        ("text", "overlay/malformed"),
    ],
)
def test_actions_that_cannot_be_applied_are_refused(overlaid, action, rule):
    with pytest.raises(ContractRefused) as refused:
        overlaid(action)
    assert [each.rule for each in refused.value.findings] == [rule]


@pytest.mark.parametrize("version", ["2.0.0", 1.0, None])
def test_other_versions_are_refused(overlaid, version):
    with pytest.raises(ContractRefused, match=r"overlay is not 1\.0"):
        overlaid({"target": "$.a", "remove": True}, overlay=version)


STORE = {
    "paths": {
        "/pets": {
            "get": {"tags": ["a", "b"], "deprecated": True},
            "post": {"tags": ["b"], "x-rank": 2},
        },
        "/it's": {"get": {"tags": []}},
    },
    "info": {"title": "Shop"},
}


def found(query, document=STORE):
    return find_places(parse_query(query), document, Looks())


@each_of(
    ("query", "places"),
    [
        ("$", [()]),
        ("$.info['title', 'none']", [("info", "title")]),
        ('$.paths["/pets"].get.tags[-1]', [("paths", "/pets", "get", "tags", 1)]),
        ('$.paths["/pets"].get.tags[0:1]', [("paths", "/pets", "get", "tags", 0)]),
        ("$.paths['/it\\'s'].get", [("paths", "/it's", "get")]),
        ("$..title", [("info", "title")]),
        ("$.paths.*[?@['x-rank'] > 1 && !@.deprecated]", [("paths", "/pets", "post")]),
        ("$.paths.*[?length(@.tags) == 2]", [("paths", "/pets", "get")]),
        ("$.paths.*.*.tags[?match(@, '[a]')]", [("paths", "/pets", "get", "tags", 0)]),
        ("$.nothing.at.all[3]", []),
    ],
)
def test_queries_find_places(query, places):
    assert found(query) == places


def test_a_place_that_is_selected_twice_is_found_once():
    assert found("$.info['title','title']") == [("info", "title")]


@each_of(
    "query",
    [
        "",
        "paths",
        "$.",
        "$[",
        "$['a",
        "$.x-internal",
        "$.paths[?@.a ==]",
        "$.paths[?unknown(@)]",
        "$.paths trailing",
        f"$[?{'!' * 1_500}@.a]",
        f"$.{'a' * 2_000}",
    ],
)
def test_what_is_not_a_query_is_refused(query):
    with pytest.raises(BadQuery):
        parse_query(query)


def test_a_document_may_be_as_deep_as_it_can_be_read():
    inner = document = {}
    for _ in range(DEFAULT.depth):
        inner["a"] = inner = {}
    assert len(found("$..a", document)) == DEFAULT.depth


def test_a_deeper_one_is_refused():
    inner = document = {}
    for _ in range(3 * DEFAULT.depth):
        inner["a"] = inner = {}
    with pytest.raises(BadQuery, match="recursion limit"):
        found("$..a", document)


@pytest.mark.parametrize(
    "query",
    [
        "$" + "[*,*]" * 40,
        "$" + "['a','a']" * 40,
        "$..*..*..*..*",
        "$..[?@..[?@..[?@..none]]]",
        "$..[?$..[?$..none]]",
        "$[?@" + "[*,*]" * 40 + ".none]",
    ],
)
def test_a_query_that_looks_at_too_much_is_refused(query, monkeypatch):
    monkeypatch.setattr("gateway.authoring.openapi.overlay.MAX_LOOKS", 100_000)
    value = {"x": 1}
    for _ in range(60):
        value = {"a": value, "b": [1, 2, 3]}
    with pytest.raises(BadQuery, match="look at more than 100,000 values"):
        found(query, value)


def test_the_queries_of_one_overlay_are_counted_together(monkeypatch):
    monkeypatch.setattr("gateway.authoring.openapi.overlay.MAX_LOOKS", 100)
    looks = Looks()
    for _ in range(3):
        find_places(parse_query("$..title"), STORE, looks)
    with pytest.raises(BadQuery):
        find_places(parse_query("$..title"), STORE, looks)


def test_what_a_large_document_needs_is_not_refused():
    document = {"paths": {f"/{n}": {"get": {"tags": ["a"]}} for n in range(20_000)}}
    assert len(found("$..[?@.tags].tags[0]", document)) == 20_000
