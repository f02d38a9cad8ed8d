"""What counts as an expression, and what it names."""

import pytest

from gateway.codegen.fieldmap.expressions import parse_expression
from gateway.codegen.fieldmap.nodes import Source


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("$inputs.query", Source("inputs", ("query",))),
        ("$inputs.a.b", Source("inputs", ("a", "b"))),
        ("$inputs#/a/b~1c/~0", Source("inputs", ("a", "b/c", "~"))),
        ("$inputs", Source("inputs")),
        ("$request.body", Source("payload")),
        ("$request.body#/data/0/id", Source("payload", ("data", "0", "id"))),
        ("$response.body", Source("body")),
        ("$response.body#/data/0/id", Source("body", ("data", "0", "id"))),
        ("$response.header.Retry-After", Source("header", ("retry-after",))),
        ("$settings.topic", Source("settings", ("topic",))),
        ("$call.id", Source("call", ("id",))),
        ("$call.elapsed_ms", Source("call", ("elapsed_ms",))),
        ("@", Source("item")),
        ("@/page[size]/", Source("item", ("page[size]", ""))),
    ],
)
def test_expressions_name_their_source(text: str, source: Source) -> None:
    assert parse_expression(text) == source


@pytest.mark.parametrize(
    "text",
    [
        "",
        "USD",
        "$inputs.",
        "$inputs/a",
        "$inputs#a",
        "$response.body/a",
        "$response.header.",
        "$call.tenant",
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


@pytest.mark.parametrize(
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
