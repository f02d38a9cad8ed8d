"""Compiled field maps against a naive interpreter of the same text, on generated replies."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.authoring.mapping.fields import BindingSource, check, compile_binding
from gateway.contract.context import CallFacts
from gateway.contract.operation import HttpBinding
from gateway.contract.upstream import ReplyFacts, Upstream, UpstreamOperation
from gateway.contract.values.schema import Validator

CALL: Final = CallFacts(id="call-1", now="2026-11-20T10:00:00Z")
BODY: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["rows"],
    "properties": {
        "total": {"type": ["integer", "null"]},
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "seen"],
                "properties": {
                    "id": {"type": "integer"},
                    "kind": {"type": "string", "enum": ["a", "b", "c"]},
                    "seen": {"type": "string", "format": "date"},
                    "price": {
                        "type": ["object", "null"],
                        "properties": {
                            "amount": {"type": "number"},
                            "currency": {"type": ["string", "null"]},
                        },
                    },
                    "tags": {"type": "array", "items": {"type": ["string", "null"]}},
                },
            },
        },
    },
}
OUTPUT: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "total": {"type": "integer"},
        "open": {"type": "integer"},
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["nr"],
                "properties": {
                    "nr": {"type": "string"},
                    "kind": {"enum": ["A", "B"]},
                    "seen": {"type": "string", "format": "date"},
                    "price": {"type": "object", "properties": {"n": {}, "c": {"maxLength": 2}}},
                    "cheap": {"type": "number", "maximum": 1},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "source": {"enum": ["shop"]},
                },
            },
        },
    },
}
RESULT: Final[dict[str, Any]] = {
    "total": {"value": "$response.body#/total", "default": -1},
    "open": {"count": "$response.body#/rows", "where": {"@/kind": ["a", "c"]}},
    "rows": {
        "each": "$response.body#/rows",
        "limit": 3,
        "when": "@/kind",
        "item": {
            "nr": {"value": "@/id", "as": "string"},
            "kind": {"value": "@/kind", "map": {"a": "A", "b": "B"}, "else": "skip-item"},
            "seen": {"value": "@/seen", "as": "date"},
            "price": {
                "omitIfAbsent": True,
                "object": {
                    "n": "@/price/amount",
                    "c": {"value": "@/price/currency", "onGap": {"const": "?"}},
                },
            },
            "cheap": {"value": "@/price/amount", "onGap": "omit"},
            "tags": {"each": "@/tags", "when": "@", "item": "@", "omitIfAbsent": True},
            "source": {"const": "shop", "when": "@/price"},
        },
    },
}
NOTHING: Final = object()


class Skipped(Exception):
    """An item is to be left out."""


def interpret(value: Any, body: Any, item: Any, schema: dict[str, Any]) -> Any:
    """What the format's description says of `value`, read off one modifier after the other."""
    if isinstance(value, str):
        value = {"value": value}
    if "each" not in value and "count" not in value and _absent(value.get("when"), body, item):
        return NOTHING
    if "const" in value:
        return value["const"]
    if "object" in value:
        return interpret_object(value, body, item, schema)
    if "each" in value or "count" in value:
        return interpret_list(value, body, item, schema)
    return interpret_read(value, read(value["value"], body, item), schema)


def interpret_read(value: dict[str, Any], found: Any, schema: dict[str, Any]) -> Any:
    if found is NOTHING:
        if "default" in value:
            return value["default"]
        gap = value.get("onGap", "omit")
        return NOTHING if gap == "omit" else gap["const"]
    if "map" in value:
        if found not in value["map"]:
            raise Skipped
        return value["map"][found]
    found = str(found) if value.get("as") == "string" else found
    if "onGap" in value and not Validator(schema).admits(found):
        return NOTHING if value["onGap"] == "omit" else value["onGap"]["const"]
    return found


def interpret_object(value: Any, body: Any, item: Any, schema: dict[str, Any]) -> Any:
    members = interpret_members(value["object"], body, item, schema)
    is_half = value.get("omitIfAbsent") and len(members) < len(value["object"])
    return NOTHING if is_half else members


def interpret_members(members: Any, body: Any, item: Any, schema: dict[str, Any]) -> dict[str, Any]:
    properties = schema["properties"]
    found = {n: interpret(value, body, item, properties[n]) for n, value in members.items()}
    return {name: value for name, value in found.items() if value is not NOTHING}


def interpret_list(value: Any, body: Any, item: Any, schema: dict[str, Any]) -> Any:
    items = read(value.get("each", value.get("count")), body, item)
    if items is NOTHING:
        return NOTHING
    kept = [
        each
        for each in items
        if not _absent(value.get("when"), body, each)
        and all(read(at, body, each) in allowed for at, allowed in value.get("where", {}).items())
    ]
    if "count" in value:
        return len(kept)
    results = []
    for each in kept:
        try:
            results.append(interpret_item(value["item"], body, each, schema["items"]))
        except Skipped:
            continue
    return results[: value.get("limit")]


def interpret_item(value: Any, body: Any, item: Any, schema: dict[str, Any]) -> Any:
    if isinstance(value, str):
        return interpret(value, body, item, schema)
    return interpret_members(value, body, item, schema)


def read(expression: str, body: Any, item: Any) -> Any:
    root, _, pointer = (
        expression.partition("#") if expression[0] == "$" else ("@", "", expression[1:])
    )
    value = item if root == "@" else body
    for step in pointer.split("/")[1:]:
        value = value.get(step) if isinstance(value, dict) else None
    return NOTHING if value is None else value


def _absent(when: str | None, body: Any, item: Any) -> bool:
    return when is not None and read(when, body, item) is NOTHING


@pytest.fixture(scope="module")
def source() -> BindingSource:
    operation = UpstreamOperation(id="rows", method="GET", path="/rows", replies={"200": BODY})
    return BindingSource(
        tool_id="shop.rows",
        x_binding={"upstream": "shop", "operationId": "rows", "response": {"200": RESULT}},
        input_schema={"type": "object", "additionalProperties": False},
        output_schema=OUTPUT,
        upstream=Upstream(name="shop", title="Shop", base_url=None, operations=(operation,)),
    )


@pytest.fixture(scope="module")
def compiled(source: BindingSource) -> Callable[[Any], dict[str, Any]]:
    namespace: dict[str, Any] = {"__name__": "rows"}
    exec(compile(compile_binding(source), "rows.py", "exec"), namespace)  # noqa: S102 - the text under test
    binding: HttpBinding = namespace["BINDING"]
    return lambda body: binding.results["200"](
        {}, CALL, ReplyFacts(status=200, headers={}, body=body, elapsed_ms=1)
    )


def optional(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=members)


WORDS: Final = st.sampled_from(["", "x", "EUR", "é"])
ROWS: Final = st.builds(
    lambda must, may: must | may,
    st.fixed_dictionaries(
        {"id": st.integers(-5, 5), "seen": st.dates().map(lambda day: day.isoformat())}
    ),
    optional(
        kind=st.sampled_from("abc"),
        price=st.none()
        | optional(
            amount=st.integers(-2, 2) | st.just(0.5), currency=st.none() | WORDS, more=WORDS
        ),
        tags=st.lists(st.none() | WORDS, max_size=3),
        unknown=WORDS,
    ),
)
BODIES: Final = st.builds(
    lambda rows, may: {"rows": rows, **may},
    st.lists(ROWS, max_size=6),
    optional(total=st.none() | st.integers(0, 9)),
)


def test_the_map_under_test_is_sound(source: BindingSource) -> None:
    assert check(source) == []


@given(body=BODIES)
def test_compiled_and_interpreted_results_are_equal(
    compiled: Callable[[Any], dict[str, Any]], body: dict[str, Any]
) -> None:
    assert Validator(BODY).admits(body)

    result = compiled(body)

    assert result == interpret_members(RESULT, body, None, OUTPUT)
    assert Validator(OUTPUT).violations(result) == ()


def test_the_interpreter_sees_the_difference_of_a_wrong_compiler(
    compiled: Callable[[Any], dict[str, Any]],
) -> None:
    """The comparison can fail: a reply that the map must cut, skip and default."""
    row = {"id": 1, "seen": "2026-01-31", "kind": "a", "price": {"amount": 2, "currency": None}}
    body = {"rows": [row, {**row, "kind": "c"}, row, row, row], "total": None}

    assert compiled(body) == interpret_members(RESULT, body, None, OUTPUT)
    assert (
        compiled(body)["rows"]
        == [
            {
                "nr": "1",
                "kind": "A",
                "seen": "2026-01-31",
                "price": {"n": 2, "c": "?"},
                "source": "shop",
            }
        ]
        * 3
    )
    assert (compiled(body)["total"], compiled(body)["open"]) == (-1, 5)
