"""Queries of overlays: the part of RFC 9535 that is supported, and the rest refused by name."""

import pytest

from gateway.openapi.overlay.jsonpath import parse_query
from gateway.openapi.overlay.scanner import BadQuery

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


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("$", [()]),
        ("$.info.title", [("info", "title")]),
        ("$['info']['title']", [("info", "title")]),
        ("$.info['title', 'none']", [("info", "title")]),
        ('$.paths["/pets"].get.tags[0]', [("paths", "/pets", "get", "tags", 0)]),
        ("$.paths['/pets'].get.tags[-1]", [("paths", "/pets", "get", "tags", 1)]),
        ("$.paths['/it\\'s'].get", [("paths", "/it's", "get")]),
        ("$.paths['/pets'].*.tags", [("paths", "/pets", m, "tags") for m in ("get", "post")]),
        ("$..deprecated", [("paths", "/pets", "get", "deprecated")]),
        ("$..title", [("info", "title")]),
        ("$.paths.*[?@.deprecated == true]", [("paths", "/pets", "get")]),
        ("$.paths.*[?@['x-rank'] > 1 && !@.deprecated]", [("paths", "/pets", "post")]),
        (
            "$.paths['/pets'][?@.deprecated || @.x-rank]",
            [("paths", "/pets", "get"), ("paths", "/pets", "post")],
        ),
        ("$.paths.*.*.tags[?@ == 'a']", [("paths", "/pets", "get", "tags", 0)]),
        ("$.paths.*.*[?(@.x == 1)]", []),
        ("$.nothing.at.all[3]", []),
    ],
)
def test_queries_find_places(query, found):
    assert parse_query(query).find(STORE) == found


def test_a_place_that_is_selected_twice_is_found_once():
    assert parse_query("$.info['title','title']").find(STORE) == [("info", "title")]


@pytest.mark.parametrize(
    "query",
    [
        "",
        "paths",
        "$.",
        "$[",
        "$[]",
        "$['a",
        "$.paths[0:2]",
        "$.paths[?length(@.tags) > 1]",
        "$.paths[?@.a == $.b]",
        "$.paths[?@.a ==]",
        "$.paths[?'a']",
        "$.paths trailing",
        f"$[?{'(' * 200}@.a{')' * 200}]",
    ],
)
def test_what_is_not_supported_is_refused(query):
    with pytest.raises(BadQuery, match="character"):
        parse_query(query)


def test_true_is_not_one_in_a_comparison():
    assert parse_query("$[?@ == 1]").find([1, True, 1.0]) == [(0,), (2,)]
