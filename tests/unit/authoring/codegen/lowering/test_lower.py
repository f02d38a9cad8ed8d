"""What the contracts say, read into records, and the files of resources and prompts."""

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.authoring.codegen.ir import Contracts
from gateway.authoring.codegen.lowering import lower, lower_offered, sensitive_pointers
from gateway.authoring.contracts.tree import read_tree
from gateway.contract.agent_view import AgentView
from gateway.contract.offered import PromptImage, PromptResource
from gateway.contract.operation import DeclaredError, Effect
from gateway.contract.schemas.keywords import SCHEMA_LISTS, SCHEMA_MAPS, SCHEMA_VALUES
from gateway.errors import ContractError
from tests.unit.edits import Edit, edited

GOLDEN = Path(__file__).parents[4] / "golden"


@pytest.fixture
def lowered(tmp_path: Path) -> Callable[..., Contracts]:
    """Lowers one of the golden folders, after an edit."""

    def lower_folder(feature: str, edit: Edit = lambda _: None) -> Contracts:
        schemas = tmp_path / "schemas"
        shutil.rmtree(schemas, ignore_errors=True)
        shutil.copytree(GOLDEN / feature / "in", schemas)
        edit(schemas)
        return lower(read_tree(schemas))

    return lower_folder


def test_a_tool_says_what_its_contract_says(lowered: Callable[..., Contracts]) -> None:
    (tool,) = lowered("http_binding").tools

    assert (tool.id, tool.connector, tool.tool) == ("demo.show", "demo", "show")
    assert (tool.title, tool.effect, tool.timeout_seconds) == ("Show entries", Effect.READ, 30.0)
    assert tool.route == "/v1/demo/show"
    assert tool.errors == (
        DeclaredError(reason="no_such_account", status=404, title="There is no such account."),
    )
    assert [example.name for example in tool.input_examples] == ["first", "two"]
    assert tool.output_examples[0].value["total"] == 1
    assert tool.x_binding["operationId"] == "listEntries"


def test_published_schemas_are_self_contained(lowered: Callable[..., Contracts]) -> None:
    """While models keep the references that they can import."""
    (tool,) = lowered("shared").tools

    assert "$ref" not in json.dumps([tool.input_schema, tool.output_schema])
    assert tool.input_schema["properties"]["airport"] == {
        "title": "ICAO airport",
        "description": "Where to.",
        "type": "string",
        "pattern": "^[A-Z]{4}$",
    }
    assert tool.input_model.schema["properties"]["airport"] == {
        "$ref": "common/places.json#/$defs/IcaoAirport",
        "description": "Where to.",
    }
    assert tool.input_model.schema["properties"]["local"]["type"] == "object"


def test_schema_files_are_components_of_the_published_path(
    lowered: Callable[..., Contracts],
) -> None:
    (tool,) = lowered("shared").tools

    body = tool.path_item["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body == {"$ref": "#/components/schemas/demo.show.input"}
    assert sorted(tool.components) == ["demo.show.input", "demo.show.output", "problem"]
    assert tool.components["demo.show.input"] == tool.input_schema


def test_an_upstream_is_read_with_its_operations(lowered: Callable[..., Contracts]) -> None:
    (contract,) = lowered("http_binding").upstreams
    upstream = contract.upstream

    assert (upstream.name, upstream.base_url) == ("demo", "https://ledger.example/v1")
    assert [(each.name, each.is_required) for each in upstream.credentials] == [
        ("api_key", True),
        ("tenant", False),
    ]
    assert upstream.rate is not None
    assert upstream.rate.reset_seconds == "X-Reset"
    (operation,) = upstream.operations
    assert (operation.id, operation.method) == ("listEntries", "GET")
    assert [each["name"] for each in operation.parameters] == ["account", "limit"]
    assert sorted(operation.replies) == ["200", "404"]
    assert operation.examples["200"] == {"data": [{"id": "E-1", "amount": 12.5, "note": None}]}


def test_every_tool_means_every_tool_that_destroys_nothing(
    lowered: Callable[..., Contracts],
) -> None:
    grants = lowered("policies").policies.grants

    assert grants == {
        "administrator": ("words.greet",),
        "cleaner": ("words.forget", "words.greet"),
        "guest": ("words.greet",),
        "writer": ("words.greet",),
    }


def test_policies_say_how_agents_see_their_tools(lowered: Callable[..., Contracts]) -> None:
    assert lowered("policies").policies.views == {
        "cleaner": AgentView(list="search"),
        "writer": AgentView(list="full", profile="gemini"),
    }


def test_a_tool_changes_with_whatever_it_refers_to(lowered: Callable[..., Contracts]) -> None:
    """And with nothing else: its hash is of its closure."""
    before = lowered("shared").tools[0].source
    shared = lowered("shared", edited("common/places.json", "such as KTEB", "like KTEB"))
    policy = lowered("shared", edited("policies/agents.yaml", "Every tool", "All"))

    assert [str(path) for path in before.closure] == [
        "common/places.json",
        "common/problem.json",
        "tools/demo/show.input.json",
        "tools/demo/show.output.json",
        "tools/demo/show.yaml",
    ]
    assert shared.tools[0].source.sha256 != before.sha256
    assert policy.tools[0].source == before


def test_two_definitions_that_would_be_one_class_are_refused(
    lowered: Callable[..., Contracts],
) -> None:
    clash = edited("common/places.json", '"Day": {', '"icao_airport": {"type": "null"}, "Day": {')

    with pytest.raises(
        ContractError, match=r"common/places\.json: .* the same Python name IcaoAirport"
    ):
        lowered("shared", clash)


@pytest.mark.parametrize(
    ("schema", "pointers"),
    [
        ({"properties": {"a": {"type": "string"}}}, ()),
        ({"properties": {"a": {"writeOnly": True}, "b": {"x-sensitive": True}}}, ("/a", "/b")),
        ({"properties": {"a": {"writeOnly": False, "x-sensitive": "yes"}}}, ()),
        ({"properties": {"a/b": {"properties": {"c~": {"writeOnly": True}}}}}, ("/a~1b/c~0",)),
        ({"properties": {"a": {"items": {"x-sensitive": True}}}}, ("/a/*",)),
        ({"properties": {"a": {"prefixItems": [{}, {"writeOnly": True}]}}}, ("/a/1",)),
        ({"additionalProperties": {"writeOnly": True}}, ("/*",)),
        ({"patternProperties": {"^x": {"writeOnly": True}}}, ("/*",)),
        ({"properties": {"a": {"anyOf": [{"writeOnly": True}, {"writeOnly": True}]}}}, ("/a",)),
        ({"if": {}, "then": {"properties": {"a": {"writeOnly": True}}}}, ("/a",)),
        ({"x-sensitive": True}, ("",)),
        ({"properties": {"n" * 100: {"writeOnly": True}}}, (f"/{'n' * 100}",)),
        ({"contentSchema": {"properties": {"a": {"writeOnly": True}}}}, ("",)),
        ({"dependentSchemas": {"a": {"properties": {"b": {"writeOnly": True}}}}}, ("/b",)),
    ],
)
def test_what_no_log_may_hold_is_found_wherever_it_is_marked(
    schema: dict[str, Any], pointers: tuple[str, ...]
) -> None:
    assert sensitive_pointers(schema) == pointers


MARKED = {
    "properties": ("/name",),
    "patternProperties": ("/*",),
    "dependentSchemas": ("",),
    "$defs": (),
    "allOf": ("",),
    "anyOf": ("",),
    "oneOf": ("",),
    "prefixItems": ("/0",),
    "additionalProperties": ("/*",),
    "items": ("/*",),
    "contains": ("/*",),
    "not": ("",),
    "if": ("",),
    "then": ("",),
    "else": ("",),
    "propertyNames": ("",),
    "unevaluatedItems": ("/*",),
    "unevaluatedProperties": ("/*",),
    "contentSchema": ("",),
}
"""What a mark directly under each keyword hides. Definitions describe only what refers to them."""


@pytest.mark.parametrize("keyword", sorted(SCHEMA_MAPS | SCHEMA_LISTS | SCHEMA_VALUES))
@pytest.mark.parametrize("mark", ["writeOnly", "x-sensitive"])
def test_a_mark_is_found_under_every_keyword_that_holds_a_schema(keyword: str, mark: str) -> None:
    """A keyword that is new fails here until somebody says what its marks hide."""
    marked: Any = {mark: True}
    if keyword in SCHEMA_MAPS:
        marked = {"name": marked}
    if keyword in SCHEMA_LISTS:
        marked = [marked]

    assert sensitive_pointers({keyword: marked}) == MARKED[keyword]


SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>\n'
PROMPT = """title: Look
description: Shows something.
messages:
  - role: user
    image: {file: a.svg, mimeType: image/svg+xml}
  - role: user
    resource: {uri: "x://a", file: a.svg, mimeType: image/svg+xml}
"""


def test_an_image_is_bytes_also_if_its_format_is_a_text(tmp_path: Path) -> None:
    folder = tmp_path / "prompts/hello"
    (folder / "files").mkdir(parents=True)
    (folder / "look.yaml").write_text(PROMPT)
    (folder / "files/a.svg").write_bytes(SVG.replace("\n", "\r\n").encode())

    (prompt,) = lower_offered(read_tree(tmp_path)).prompts
    image, resource = (each.content for each in prompt.messages)

    assert isinstance(image, PromptImage)
    assert base64.b64decode(image.blob).decode() == SVG
    assert isinstance(resource, PromptResource)
    assert (resource.data, resource.blob) == (SVG, None)
