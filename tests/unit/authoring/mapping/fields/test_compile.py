"""What compiled field maps do: requests out, results in, and what is left out on the way."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET

from gateway.authoring.mapping.fields import BindingSource, check
from gateway.contract.fields.fieldmap import Unmappable
from gateway.contract.upstream import UpstreamRequest
from tests.unit.authoring.mapping.fields.shapes import members_of
from tests.unit.tables import each_of

Make = Callable[..., BindingSource]
Send = Callable[[BindingSource, dict[str, Any]], UpstreamRequest]
Answer = Callable[..., dict[str, Any]]

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
X = "$response.body#/x"


def parameter(
    name: str, schema: dict[str, Any], group: str = "query", **more: Any
) -> dict[str, Any]:
    return {"name": name, "in": group, "schema": schema, **more}


def test_path_segments_are_filled_in_as_plain_text(tool: Make, send: Send) -> None:
    """The backend that sends them encodes them; a slash stays inside its segment."""
    source = tool(
        path="/shops/{shop}/things/{id}.json",
        inputs=members_of(("shop", "id"), shop=TEXT, id=WHOLE),
        parameters=(parameter("shop", TEXT, "path"), parameter("id", WHOLE, "path")),
        request={"path": {"shop": "$inputs.shop", "id": "$inputs.id"}},
    )

    request = send(source, {"shop": "a/b", "id": 7})

    assert (request.operation, request.method) == ("searchThings", "GET")
    assert request.path == ("shops", "a/b", "things", "7.json")
    assert request.path_arguments == ("", "/shop", "", "/id")
    assert (request.query, request.headers, request.body) == ((), (), UNSET)


def test_the_root_has_no_segments(tool: Make, send: Send) -> None:
    request = send(tool(path="/"), {})
    assert (request.path, request.path_arguments) == ((), ())


def test_query_values_become_text_and_absent_ones_are_left_out(tool: Make, send: Send) -> None:
    source = tool(
        inputs=members_of(
            ("on",), on={"type": "boolean"}, n=WHOLE, size={"type": "integer", "default": 10}
        ),
        parameters=tuple(parameter(name, {}) for name in ("on", "n", "page[size]", "v", "t")),
        request={
            "query": {
                "on": "$inputs.on",
                "n": {"value": "$inputs.n", "omitIfAbsent": True},
                "page[size]": "$inputs.size",
                "v": {"const": 2},
                "t": "$call.now",
            }
        },
    )

    at = ("t", "2026-11-20T10:00:00Z")
    assert send(source, {"on": True}).query == (
        ("on", "true"),
        ("page[size]", "10"),
        ("v", "2"),
        at,
    )
    assert send(source, {"on": False, "n": 3.0, "size": 5}).query == (
        ("on", "false"),
        ("n", "3"),
        ("page[size]", "5"),
        ("v", "2"),
        at,
    )


@pytest.mark.parametrize(
    ("style", "query"),
    [
        ({}, (("a", "1"), ("t", "x"), ("t", "y"), ("z", "2"))),
        ({"explode": False}, (("a", "1"), ("t", "x,y"), ("z", "2"))),
    ],
)
def test_lists_in_queries_follow_the_upstreams_style(
    tool: Make, send: Send, style: dict[str, Any], query: tuple[tuple[str, str], ...]
) -> None:
    lists = {"type": "array", "items": {"type": "string", "pattern": "^[a-z]$"}}
    source = tool(
        inputs=members_of(t=lists),
        parameters=(parameter("a", {}), parameter("t", lists, **style), parameter("z", {})),
        request={
            "query": {
                "a": {"const": 1},
                "t": {"value": "$inputs.t", "omitIfAbsent": True},
                "z": {"const": 2},
            }
        },
    )

    assert check(source) == []
    assert send(source, {"t": ["x", "y"]}).query == query
    assert send(source, {}).query == (("a", "1"), ("z", "2"))


def test_a_comma_inside_a_value_never_splits_it(tool: Make, send: Send) -> None:
    lists = {"type": "array", "items": TEXT}
    source = tool(
        inputs=members_of(("t",), t=lists),
        parameters=(parameter("t", lists, explode=False),),
        request={"query": {"t": "$inputs.t"}},
    )

    assert [found.rule for found in check(source)] == ["binding/unsendable"]
    with pytest.raises(Unmappable) as refused:
        send(source, {"t": ["a,b"]})
    assert refused.value.pointer == "/t"


def test_headers_keep_the_spelling_of_the_contract(tool: Make, send: Send) -> None:
    source = tool(
        parameters=(parameter("X-Trace", TEXT, "header"),),
        request={"header": {"X-Trace": "$call.id"}},
    )

    assert send(source, {"q": "x"}).headers == (("X-Trace", "call-1"),)


def test_a_body_is_built_from_objects_arrays_and_conditions(tool: Make, send: Send) -> None:
    leg = {"type": "object", "properties": {"to": TEXT, "day": TEXT}, "required": ["to"]}
    source = tool(
        inputs=members_of(
            ("to",),
            to=TEXT,
            back={"type": "string", "format": "date-time"},
            n={"type": ["integer", "null"]},
        ),
        request_schema={
            "type": "object",
            "properties": {
                "legs": {"type": "array", "items": leg},
                "n": {"type": ["integer", "null"]},
            },
            "required": ["legs"],
        },
        request={
            "body": {
                "legs": {
                    "array": [
                        {"object": {"to": "$inputs.to"}},
                        {
                            "when": "$inputs.back",
                            "object": {
                                "to": {"const": "home"},
                                "day": {"value": "$inputs.back", "as": "date"},
                            },
                        },
                    ]
                },
                "n": {"value": "$inputs.n", "omitIfAbsent": True},
            }
        },
    )

    assert check(source) == []
    assert send(source, {"to": "a"}).body == {"legs": [{"to": "a"}]}
    sent = {"to": "a", "back": "2026-11-20T23:30:00-02:00", "n": None}
    assert send(source, sent).body == {
        "legs": [{"to": "a"}, {"to": "home", "day": "2026-11-21"}],
        "n": None,
    }


def test_an_arguments_null_is_not_absence(tool: Make, send: Send) -> None:
    source = tool(
        inputs=members_of(n={"type": ["string", "null"]}),
        parameters=(parameter("n", TEXT),),
        request={"query": {"n": {"value": "$inputs.n", "map": {"null": "none"}, "else": "omit"}}},
    )
    source.x_binding["request"]["query"]["n"]["omitIfAbsent"] = True

    assert send(source, {"n": None}).query == (("n", "none"),)
    assert send(source, {"n": "x"}).query == ()
    assert send(source, {}).query == ()


@each_of(
    ("value", "body", "result"),
    [
        ({"value": X, "omitIfAbsent": True}, {}, {}),
        ({"value": X, "omitIfAbsent": True}, {"x": None}, {}),
        ({"value": X, "omitIfAbsent": True}, {"x": "a"}, {"x": "a"}),
        ({"value": X, "default": "d"}, {}, {"x": "d"}),
        ({"value": X, "default": "d"}, {"x": None}, {"x": "d"}),
        ({"value": X, "when": X}, {"x": None}, {}),
        ({"const": "c", "when": X}, {"x": "a"}, {"x": "c"}),
        ({"const": "c", "when": X}, {}, {}),
        ({"value": X, "map": {"a": "A"}, "else": "omit", "omitIfAbsent": True}, {"x": "b"}, {}),
        (
            {"value": X, "map": {"a": "A"}, "else": {"const": "B"}, "default": "d"},
            {"x": "b"},
            {"x": "B"},
        ),
        ({"value": X, "map": {"a": "A"}, "else": {"const": "B"}, "default": "d"}, {}, {"x": "d"}),
        ({"value": X, "onGap": {"const": "g"}}, {"x": "far too long"}, {"x": "g"}),
        ({"value": X, "onGap": {"const": "g"}}, {}, {"x": "g"}),
        ({"value": X, "onGap": {"const": "g"}}, {"x": "ok"}, {"x": "ok"}),
        ({"value": X, "onGap": "omit"}, {"x": "far too long"}, {}),
        ({"value": X, "onGap": "omit"}, {}, {}),
        ({"value": X, "as": "date", "onGap": "omit"}, {"x": "soon"}, {}),
    ],
)
def test_what_becomes_of_optional_values(
    one: Make, answer: Answer, value: Any, body: Any, result: Any
) -> None:
    target = {"type": "string", "maxLength": 10}
    source = one(value, {"type": ["string", "null"]}, target, optional=True, needed=False)

    assert answer(source, body) == result


@pytest.mark.parametrize(
    ("value", "body", "detail"),
    [
        ({"value": X, "map": {"a": "A"}, "else": "error"}, {"x": "b"}, "value of the map"),
        ({"value": X, "onGap": "error"}, {"x": "far too long"}, "may hold"),
        ({"value": X, "onGap": "error"}, {"x": None}, "is absent"),
        ({"value": X, "as": "date", "onGap": "error"}, {"x": "soon"}, "not a date"),
    ],
)
def test_a_refused_value_names_its_place_and_is_never_repeated(
    one: Make, answer: Answer, value: Any, body: Any, detail: str
) -> None:
    target = {"type": "string", "maxLength": 10}
    source = one(value, {"type": ["string", "null"]} if "map" not in value else TEXT, target)

    with pytest.raises(Unmappable, match=detail) as refused:
        answer(source, body)
    assert refused.value.pointer == "/x"
    assert str(body["x"]) not in str(refused.value)


def test_else_speaks_of_unknown_values_and_on_gap_of_absent_ones(one: Make, answer: Answer) -> None:
    value = {"value": X, "map": {"a": "A"}, "else": {"const": "E"}, "onGap": {"const": "G"}}
    source = one(value, {"type": ["string", "null"]}, TEXT)

    assert check(source) == []
    assert [answer(source, {"x": x})["x"] for x in ("a", "b", None)] == ["A", "E", "G"]


def test_lists_are_mapped_filtered_skipped_and_cut(one: Make, answer: Answer) -> None:
    thing = {
        "type": "object",
        "properties": {"id": WHOLE, "kind": TEXT, "tag": {"type": ["string", "null"]}},
        "required": ["id", "kind"],
    }
    target = {
        "type": "array",
        "maxItems": 2,
        "items": members_of(("nr", "kind"), nr=WHOLE, kind=TEXT),
    }
    value = {
        "each": X,
        "limit": 2,
        "when": "@/tag",
        "item": {"nr": "@/id", "kind": {"value": "@/kind", "map": {"a": "A"}, "else": "skip-item"}},
    }
    source = one(value, {"type": "array", "items": thing}, target)
    things = [
        {"id": 1, "kind": "a"},
        {"id": 2, "kind": "b", "tag": "t"},
        {"id": 3, "kind": "a", "tag": None},
        {"id": 4, "kind": "a", "tag": "t"},
        {"id": 5, "kind": "a", "tag": "t"},
        {"id": 6, "kind": "a", "tag": "t"},
    ]

    assert check(source) == []
    assert answer(source, {"x": things}) == {"x": [{"nr": 4, "kind": "A"}, {"nr": 5, "kind": "A"}]}
    assert answer(source, {"x": []}) == {"x": []}


def test_items_see_the_arguments_the_call_and_the_whole_reply(one: Make, answer: Answer) -> None:
    """But never the item of a list around theirs."""
    inner = {"type": "array", "items": TEXT}
    source = one(
        {
            "each": X,
            "item": {
                "q": "$inputs.q",
                "call": "$call.id",
                "ms": "$call.elapsed_ms",
                "of": {"count": X},
                "parts": {"each": "@", "item": {"part": "@", "q": "$inputs.q"}},
            },
        },
        {"type": "array", "items": inner},
        {
            "type": "array",
            "items": members_of(
                ("q",),
                q=TEXT,
                call=TEXT,
                ms=WHOLE,
                of=WHOLE,
                parts={"type": "array", "items": members_of(part=TEXT, q=TEXT)},
            ),
        },
    )

    assert check(source) == []
    assert answer(source, {"x": [["a"]]}, arguments={"q": "Q"}, ms=12) == {
        "x": [{"q": "Q", "call": "call-1", "ms": 12, "of": 1, "parts": [{"part": "a", "q": "Q"}]}]
    }


def test_counts_count_what_their_filter_holds_for(one: Make, answer: Answer) -> None:
    items = {"type": "array", "items": {"type": "object", "properties": {"a": TEXT}}}
    value = {"count": X, "where": {"@/a": ["k", "l"]}, "default": 0}
    source = one(value, items, WHOLE, optional=True)

    assert check(source) == []
    assert answer(source, {"x": [{"a": "k"}, {"a": "m"}, {}, {"a": "l"}]}) == {"x": 2}
    assert answer(source, {}) == {"x": 0}


def test_a_filter_distinguishes_true_from_one(one: Make, answer: Answer) -> None:
    mixed = {"type": "object", "properties": {"a": {"type": ["boolean", "integer"]}}}
    source = one({"count": X, "where": {"@/a": [True]}}, {"type": "array", "items": mixed}, WHOLE)

    assert answer(source, {"x": [{"a": 1}, {"a": True}, {}]}) == {"x": 1}


def test_half_an_object_is_no_object(one: Make, answer: Answer) -> None:
    price = {"type": "object", "properties": {"n": WHOLE, "c": TEXT, "note": TEXT}}
    value = {
        "object": {
            "n": "$response.body#/x/n",
            "c": "$response.body#/x/c",
            "note": {"value": "$response.body#/x/note", "omitIfAbsent": True},
        },
        "omitIfAbsent": True,
    }
    target = members_of(("n", "c"), n=WHOLE, c=TEXT, note=TEXT)
    source = one(value, price, target, optional=True, needed=False)

    assert check(source) == []
    assert answer(source, {"x": {"n": 1, "c": "EUR"}}) == {"x": {"n": 1, "c": "EUR"}}
    assert answer(source, {"x": {"n": 1, "c": "EUR", "note": "!"}})["x"]["note"] == "!"
    assert answer(source, {"x": {"n": 1}}) == {}
    assert answer(source, {}) == {}


def test_pointers_lead_through_optional_objects_and_into_lists(one: Make, answer: Answer) -> None:
    deep = {
        "type": ["object", "null"],
        "properties": {
            "a": {"type": "array", "items": {"type": "object", "properties": {"b/c": TEXT}}}
        },
    }
    value = {"value": "$response.body#/x/a/1/b~1c", "default": "none"}
    source = one(value, deep, TEXT, optional=True)

    assert check(source) == []
    assert answer(source, {"x": {"a": [{}, {"b/c": "here"}]}}) == {"x": "here"}
    for body in ({}, {"x": None}, {"x": {}}, {"x": {"a": [{}]}}, {"x": {"a": [{}, {}]}}):
        assert answer(source, body) == {"x": "none"}


def test_headers_of_the_reply_are_read_in_any_spelling(one: Make, answer: Answer) -> None:
    value = {"value": "$response.header.X-Count", "as": "integer", "onGap": {"const": 0}}
    source = one(value, TEXT, WHOLE)

    assert answer(source, {"x": "a"}, headers={"x-count": "12"}) == {"x": 12}
    assert answer(source, {"x": "a"}, headers={"x-count": "many"}) == {"x": 0}
    assert answer(source, {"x": "a"}) == {"x": 0}


def test_field_functions_are_informed_of_absence_as_none(one: Make, answer: Answer) -> None:
    """`operator:is_` is a pure function of two values, good enough to look at them."""
    value = {"python": "operator:is_", "with": [X, "$response.header.X"]}
    source = one(value, {"type": ["string", "null"]}, {"type": "boolean"}, optional=True)

    assert answer(source, {}) == {"x": True}
    assert answer(source, {"x": None}) == {"x": True}
    assert answer(source, {"x": "a"}) == {"x": False}


def test_a_field_functions_none_is_absence(one: Make, answer: Answer) -> None:
    value = {"python": "os:environ.get", "with": [X]}
    assert check(one(value, TEXT, TEXT))[0].rule == "binding/shape"

    source = one(
        {"python": "mimetypes:guess_extension", "with": [X], "omitIfAbsent": True},
        TEXT,
        TEXT,
        needed=False,
    )

    assert answer(source, {"x": "text/html"}) == {"x": ".html"}
    assert answer(source, {"x": "no/such"}) == {}
