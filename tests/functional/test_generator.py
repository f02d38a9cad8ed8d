"""The generator as a new user would use it: contracts in, an importable package out."""

import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from gateway.authoring.codegen.generate import PackageNames, generate
from gateway.authoring.contracts import meta
from gateway.catalogue import open_catalogue
from gateway.cli.operating.backup import state_of
from gateway.contract.context import CallContext, CallFacts
from gateway.contract.operation import HttpBinding, Operation, PythonBinding
from gateway.contract.upstream import ReplyFacts
from gateway.settings import read_settings

PACKAGE = "made_by_the_functional_test"
HANDLERS = ("gateway.connectors", "made_handlers")
HANDLER = f"""
from gateway.contract.connector import tool_handler
from {PACKAGE}.models.words.greet import GreetInput, GreetOutput


@tool_handler
async def greet(arguments: GreetInput) -> GreetOutput:
    return GreetOutput(greeting=f"Hello, {{arguments.name}}!")
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a package generated into an empty folder, importable while the tests run."""
    root = tmp_path_factory.mktemp("project")
    schemas = root / "schemas"
    shutil.copytree(Path(__file__).parents[1] / "golden/whole/in", schemas)
    meta.install(schemas)
    contract = schemas / "tools/words/greet.yaml"
    text = contract.read_text("utf-8").replace("gateway.connectors.example.tools", "made_handlers")
    contract.write_text(text, "utf-8")
    (root / "made_handlers.py").write_text(HANDLER, "utf-8")
    generate(schemas, root / PACKAGE, root / "docs", names=PackageNames(of_handlers=HANDLERS))
    sys.path.insert(0, str(root))
    yield PACKAGE
    sys.path.remove(str(root))
    for name in [name for name in sys.modules if name.split(".")[0] in {PACKAGE, "made_handlers"}]:
        del sys.modules[name]


def test_the_catalogue_opens_what_was_generated(package: str) -> None:
    catalogue = open_catalogue(package, HANDLERS)

    assert [entry.id for entry in catalogue.entries] == ["demo.show", "words.greet"]
    assert catalogue.find_tool("words_greet").id == "words.greet"
    assert catalogue.find_tool("greet", "words").id == "words.greet"
    assert catalogue.grants["administrator"] == {"demo.show", "words.greet"}
    assert catalogue.upstreams["demo"].soft_errors == "/errors"


async def test_a_python_binding_calls_its_handler_with_typed_arguments(package: str) -> None:
    entry = open_catalogue(package, HANDLERS).find("words.greet")
    binding = entry.operation.binding
    assert isinstance(binding, PythonBinding)

    # The handler names no upstreams, and so the context is not looked at.
    result = await binding.run({"name": "Ada"}, cast("CallContext", None))

    assert result == {"greeting": "Hello, Ada!"}
    assert entry.output.admits(result)


def test_an_http_binding_makes_the_request_and_reads_the_reply(package: str) -> None:
    entry = open_catalogue(package, HANDLERS).find("demo.show")
    binding = entry.operation.binding
    assert isinstance(binding, HttpBinding)
    call = CallFacts(id="call-1", now="2026-11-20T14:30:00.000Z")
    arguments = {"account": "A-1"}

    request = binding.request(arguments, call)
    body = {"data": [{"id": "E-1", "amount": 12.5, "note": None}, {"id": "E-2", "amount": 1}]}
    facts = ReplyFacts(status=200, headers={}, body=body, elapsed_ms=5)
    result = binding.results["200"](arguments, call, facts)

    assert (request.method, request.path) == ("GET", ("accounts", "A-1", "entries"))
    assert request.query == (("limit", "10"),)
    assert result == {
        "entries": [{"id": "E-1", "amount": 12.5}, {"id": "E-2", "amount": 1}],
        "total": 2,
    }
    assert entry.output.admits(result)


def test_gates_judge_by_the_published_schemas(package: str) -> None:
    entry = open_catalogue(package, HANDLERS).find("demo.show")

    assert entry.input.admits({"account": "A-1", "limit": 50})
    assert [v.pointer for v in entry.input.violations({"account": "a", "limit": 51})] == [
        "/account",
        "/limit",
    ]


def test_every_tool_has_a_route(package: str) -> None:
    operations: tuple[Operation, ...] = importlib.import_module(f"{package}.operations").OPERATIONS

    assert [(each.id, each.route) for each in operations] == [
        ("demo.show", "/v1/demo/show"),
        ("words.greet", "/v1/words/greet"),
    ]


def test_the_openapi_document_is_self_contained_and_hides_the_bindings(package: str) -> None:
    text = open_catalogue(package, HANDLERS).openapi.decode()

    assert '"/v1/demo/show"' in text
    assert "x-binding" not in text
    assert "listEntries" not in text
    assert ".json" not in text.replace("application/json", "")


def test_a_gateway_with_connector_packages_of_its_own_can_be_copied(package: str) -> None:
    generated = Path(str(importlib.import_module(package).__file__)).parent
    flags = {"package": package, "handler_packages": HANDLERS}
    settings = read_settings({}, None, flags | {"schemas": generated.parent / "schemas"})

    assert state_of(settings).package == package
