"""The Python of field maps: expressions, places, literals, and modules of bindings."""

import ast
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gateway.authoring.mapping.fields import BindingSource, compile_binding
from gateway.authoring.mapping.fields.nodes import ReadExpression
from gateway.authoring.mapping.fields.parse import parse_expression
from gateway.authoring.mapping.fields.pycode import Module, literal, snake
from gateway.contract.operation import HttpBinding
from tests.unit.authoring.mapping.fields.shapes import members_of
from tests.unit.tables import each_of

Make = Callable[..., BindingSource]
Answer = Callable[..., dict[str, Any]]

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


def test_errors_and_the_fallback_are_part_of_the_binding(
    tool: Make, load: Callable[[BindingSource], HttpBinding]
) -> None:
    binding = load(
        tool(
            binding={
                "errors": {"404": {"reason": "gone"}, "4XX": {"result": {"id": {"const": "none"}}}},
                "fallback": {
                    "on": ["403", "5XX"],
                    "operationId": "createThing",
                    "response": {"2XX": {"id": "$response.body#/link"}},
                },
            }
        )
    )

    assert (binding.upstream, binding.upstream_operation) == ("shop", "searchThings")
    assert binding.errors["404"].reason == "gone"
    assert binding.errors["4XX"].result is not None
    assert binding.fallback_on == ("403", "5XX")
    assert binding.fallback is not None
    assert binding.fallback.upstream_operation == "createThing"
    assert list(binding.fallback.results) == ["2XX"]


def test_a_handler_is_called_with_its_model_and_answers_with_a_dump(tool: Make) -> None:
    text = compile_binding(
        replace(tool(), x_binding={"python": "handlers.shop:run"}, package="made")
    )

    assert "from made.models.shop.search import SearchInput\n" in text
    assert "from handlers.shop import run as shop_run\n" in text
    assert "return dump(await shop_run(take(SearchInput, arguments)))" in text


def test_compiled_text_holds_no_branch_and_no_loop(one: Make, tool: Make) -> None:
    """Generated code declares: expressions only, beside the prelude `body = reply.body`."""
    value = {
        "each": "$response.body#/x",
        "item": {"a": {"value": "@", "map": {"a": 1}, "else": "skip-item"}},
    }
    source = one(
        value, {"type": "array", "items": TEXT}, {"type": "array", "items": members_of(a=WHOLE)}
    )

    for text in (compile_binding(source), compile_binding(tool())):
        banned = (
            ast.If,
            ast.For,
            ast.While,
            ast.Try,
            ast.Match,
            ast.With,
            ast.ClassDef,
            ast.Assert,
        )
        assert not [node for node in ast.walk(ast.parse(text)) if isinstance(node, banned)]


def test_names_that_would_collide_are_kept_apart(tool: Make, answer: Answer) -> None:
    """Two maps of members with one name, and a function that is called like one of ours."""
    text = {"type": "string"}
    pair = members_of(("kind",), kind=text)
    source = tool(
        body={"type": "object", "properties": {"a": text, "b": text}, "required": ["a", "b"]},
        output=members_of(("left", "right", "n"), left=pair, right=pair, n={}),
        result={
            "left": {
                "object": {
                    "kind": {"value": "$response.body#/a", "map": {"x": "1"}, "else": "error"}
                }
            },
            "right": {
                "object": {
                    "kind": {"value": "$response.body#/b", "map": {"x": "2"}, "else": "error"}
                }
            },
            "n": {"python": "json:dumps", "with": ["$response.body#/a"]},
        },
    )

    assert answer(source, {"a": "x", "b": "x"}) == {
        "left": {"kind": "1"},
        "right": {"kind": "2"},
        "n": '"x"',
    }


def test_the_same_contract_compiles_to_the_same_text(tool: Make) -> None:
    assert compile_binding(tool()) == compile_binding(tool())


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_a_literal_reads_back_as_the_same_value(value: Any) -> None:
    assert repr(ast.literal_eval(literal(value))) == repr(value)


@given(st.text(alphabet="ab cd", min_size=73, max_size=400))
def test_a_long_text_is_broken_into_short_parts(text: str) -> None:
    parts = ast.parse(literal(text), mode="eval")

    assert ast.literal_eval(parts) == text
    assert all(len(part) <= 75 for part in literal(text)[1:-1].split("' '"))


@each_of(
    ("name", "part"),
    [
        ("maxPax", "max_pax"),
        ("page[size]", "page_size"),
        ("X-Rate-Limit", "x_rate_limit"),
        ("HTTPStatus2", "http_status_2"),
        ("date_range", "date_range"),
        ("$%", "value"),
        ("日本", "value"),
    ],
)
def test_contract_names_become_parts_of_python_names(name: str, part: str) -> None:
    assert snake(name) == part


def test_equal_names_take_as_many_parents_as_they_need() -> None:
    module = Module()

    assert module.constant(("a", "kind"), "1") == "_KIND"
    assert module.constant(("b", "kind"), "2") == "_B_KIND"
    assert module.constant(("b", "kind"), "3") == "_B_KIND_2"
    assert module.function(("quotes",)) == "_quote"


def test_an_imported_name_that_is_taken_goes_by_another() -> None:
    module = Module()

    assert module.use("one.shop", "price") == "price"
    assert module.use("two.store", "price") == "store_price"
    assert module.use("two.store", "price") == "store_price"
    assert module.word("text") == "text"
    assert "from two.store import price as store_price\n" in module.text("S.", "D.", "1")


@each_of(
    ("text", "source"),
    [
        ("$inputs.query", ReadExpression("inputs", ("query",))),
        ("$inputs.a.b", ReadExpression("inputs", ("a", "b"))),
        ("$inputs#/a/b~1c/~0", ReadExpression("inputs", ("a", "b/c", "~"))),
        ("$inputs", ReadExpression("inputs")),
        ("$request.body", ReadExpression("payload")),
        ("$request.body#/data/0/id", ReadExpression("payload", ("data", "0", "id"))),
        ("$response.body", ReadExpression("body")),
        ("$response.body#/data/0/id", ReadExpression("body", ("data", "0", "id"))),
        ("$response.header.Retry-After", ReadExpression("header", ("retry-after",))),
        ("$settings.topic", ReadExpression("settings", ("topic",))),
        ("$call.id", ReadExpression("call", ("id",))),
        ("$call.elapsed_ms", ReadExpression("call", ("elapsed_ms",))),
        ("@", ReadExpression("item")),
        ("@/page[size]/", ReadExpression("item", ("page[size]", ""))),
    ],
)
def test_expressions_name_their_source(text: str, source: ReadExpression) -> None:
    assert parse_expression(text) == source


@each_of(
    "text",
    [
        "",
        "USD",
        "$inputs.",
        "$inputs/a",
        "$inputs#a",
        "$response.body/a",
        "$response.header.",
        "$call.customer",
        "$settings",
        "$settings.Topic",
        "$settings.a.b",
        "$settings#/topic",
        "@a",
        "@#/a",
        "@/~2",
        " $inputs.a",
        "$inputs.a\n",
        "$request.header.a",
        "$request.body/a",
    ],
)
def test_anything_else_is_no_expression(text: str) -> None:
    assert parse_expression(text) is None


@each_of(
    "text",
    [
        "$inputs.a.b",
        "$inputs#/a~1b",
        "$response.body#/a/0",
        "$response.header.etag",
        "@/a",
        "@",
        "$call.now",
        "$settings.a_b",
    ],
)
def test_a_source_prints_as_the_expression_it_was_read_from(text: str) -> None:
    assert str(parse_expression(text)) == text
