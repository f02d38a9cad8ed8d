"""Queries of overlays: RFC 9535 as its library has it, with our limits."""

import pytest

from gateway.authoring.openapi.overlay import BadQuery, Looks, find_places, parse_query
from gateway.authoring.openapi.reading.source import DEFAULT
from tests.unit.tables import each_of

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
