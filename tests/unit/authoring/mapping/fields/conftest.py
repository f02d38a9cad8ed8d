"""A tool and an upstream small enough to see whole, of which each test changes one thing."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from gateway.authoring.mapping.fields import BindingSource, compile_binding
from gateway.contract.context import CallFacts
from gateway.contract.operation import HttpBinding
from gateway.contract.upstream import (
    HeaderRule,
    ReplyFacts,
    Upstream,
    UpstreamOperation,
    UpstreamRequest,
)

CALL = CallFacts(id="call-1", now="2026-11-20T10:00:00Z")


def shape(required: tuple[str, ...] = (), /, **members: Any) -> dict[str, Any]:
    """An open object, as upstreams answer; every member is required unless `required` is given."""
    names = list(required or members)
    return {"type": "object", "properties": members, "required": [n for n in names if n in members]}


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """The same object without room for other members."""
    return {**schema, "additionalProperties": False}


@pytest.fixture
def tool() -> Callable[..., BindingSource]:
    """Makes `shop.search`: one argument `q` in, the mapped `result` out."""

    def make(
        *,
        result: Mapping[str, Any] | None = None,
        output: dict[str, Any] | None = None,
        body: dict[str, Any] | None = None,
        inputs: dict[str, Any] | None = None,
        request: Mapping[str, Any] | None = None,
        parameters: tuple[dict[str, Any], ...] = (),
        request_schema: dict[str, Any] | None = None,
        path: str = "/things",
        binding: Mapping[str, Any] | None = None,
    ) -> BindingSource:
        operation = UpstreamOperation(
            id="searchThings",
            method="GET",
            path=path,
            parameters=parameters,
            request_schema=request_schema,
            replies={"200": body if body is not None else shape(id={"type": "string"})},
        )
        spare = UpstreamOperation(
            id="createThing",
            method="POST",
            path="/things",
            replies={"2XX": shape(link={"type": "string"})},
        )
        x_binding = {
            "upstream": "shop",
            "operationId": "searchThings",
            "request": request or {},
            "response": {"200": result if result is not None else {"id": "$response.body#/id"}},
            **(binding or {}),
        }
        return BindingSource(
            tool_id="shop.search",
            x_binding=x_binding,
            input_schema=inputs or closed(shape(q={"type": "string"})),
            output_schema=output or closed(shape(id={"type": "string"})),
            upstream=Upstream(
                name="shop",
                title="Shop",
                base_url=None,
                headers=(HeaderRule(name="X-Token", template="{credential.token}"),),
                operations=(operation, spare),
            ),
            declared_errors=frozenset({"gone"}),
        )

    return make


@pytest.fixture
def load() -> Callable[[BindingSource], HttpBinding]:
    """Compiles a binding and runs the module that it becomes."""

    def run(source: BindingSource) -> HttpBinding:
        namespace: dict[str, Any] = {"__name__": "generated.bindings.shop.search"}
        exec(compile(compile_binding(source), "search.py", "exec"), namespace)  # noqa: S102 - the text under test
        binding = namespace["BINDING"]
        assert isinstance(binding, HttpBinding)
        return binding

    return run


@pytest.fixture
def send(
    load: Callable[[BindingSource], HttpBinding],
) -> Callable[[BindingSource, dict[str, Any]], UpstreamRequest]:
    """The request that a binding makes of arguments."""
    return lambda source, arguments: load(source).request(arguments, CALL)


@pytest.fixture
def answer(load: Callable[[BindingSource], HttpBinding]) -> Callable[..., dict[str, Any]]:
    """The result that a binding makes of a reply's body."""

    def run(source: BindingSource, body: Any, /, **facts: Any) -> dict[str, Any]:
        reply = ReplyFacts(
            status=200, headers=facts.pop("headers", {}), body=body, elapsed_ms=facts.pop("ms", 7)
        )
        return load(source).results["200"](facts.pop("arguments", {"q": "x"}), CALL, reply)

    return run


@pytest.fixture
def one(tool: Callable[..., BindingSource]) -> Callable[..., BindingSource]:
    """A binding with a single result member `x`, mapped from the body's member `x`."""

    def make(
        value: Any, source: Any, target: Any, *, optional: bool = False, needed: bool = True
    ) -> BindingSource:
        body = {
            "type": "object",
            "properties": {"x": source},
            "required": [] if optional else ["x"],
        }
        output = {
            "type": "object",
            "properties": {"x": target},
            "required": ["x"] if needed else [],
            "additionalProperties": False,
        }
        return tool(result={"x": value}, body=body, output=output)

    return make
