"""What counts as an expression, and what it names."""

from gateway.authoring.mapping.fields.nodes import ReadExpression
from gateway.authoring.mapping.fields.parse import parse_expression
from tests.unit.tables import each_of


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
