"""The modules that bindings become: their names, their imports, and what they may not hold."""

import ast
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from gateway.authoring.mapping.fields import BindingSource, compile_binding
from gateway.contract.operation import HttpBinding

Make = Callable[..., BindingSource]
Answer = Callable[..., dict[str, Any]]

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


def inputs(required: tuple[str, ...] = (), **members: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": members,
        "required": list(required),
        "additionalProperties": False,
    }


def test_errors_and_the_fallback_are_part_of_the_binding(
    tool: Make, load: Callable[[BindingSource], HttpBinding]
) -> None:
    binding = load(
        tool(
            binding={
                "errors": {
                    "404": {"reason": "gone"},
                    "4XX": {"result": {"id": {"const": "none"}}},
                },
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
        value, {"type": "array", "items": TEXT}, {"type": "array", "items": inputs(a=WHOLE)}
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
    pair = inputs(("kind",), kind=text)
    source = tool(
        body={
            "type": "object",
            "properties": {"a": text, "b": text},
            "required": ["a", "b"],
        },
        output=inputs(("left", "right", "n"), left=pair, right=pair, n={}),
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
