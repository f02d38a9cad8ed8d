"""What is generated of imported operations, and of schemas that contain themselves."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.authoring.codegen.generate import generate
from gateway.authoring.codegen.imported import with_imported
from gateway.authoring.codegen.ir import Contracts, ContractSource, IndexContract, PolicyContract
from gateway.authoring.codegen.lowering import sensitive_pointers
from gateway.authoring.codegen.render.artifact import document
from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.contracts.policies import written_grants
from gateway.contract.policies.limits import AgentLimits
from gateway.contract.values.schema import Validator
from gateway.errors import ContractError

SOURCE = ContractSource(path="policies/agents.yaml", closure=(), sha256="")


INPUT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["size"],
    "properties": {"size": {"$ref": "#/$defs/Size"}},
}


def contracts(**grants):
    written = {agent: written_grants(agent, {"grants": each}) for agent, each in grants.items()}
    policies = PolicyContract(written=written, granted={}, source=SOURCE)
    index = IndexContract(document={}, source=SOURCE)
    return Contracts(index=index, common=(), tools=(), upstreams=(), policies=policies)


def record(connector, **tools):
    operations = [
        {
            "id": f"{connector}.{tool}",
            "tool": tool,
            "title": tool,
            "description": tool,
            "effect": effect,
            "tags": ["public"] if effect == "read" else [],
            "input_schema": INPUT,
        }
        for tool, effect in tools.items()
    ]
    facts = {"connector": connector, "title": connector, "operations": operations}
    facts["definitions"] = {"Size": {"type": "integer"}}
    return document(f"imported/{connector}.json", facts)


def test_the_star_grants_all_that_destroy_nothing():
    found = with_imported(
        contracts(boss=("*",), agent=("a.drop",)),
        [record("a", get="read", put="write", drop="destroy")],
    )
    assert found.policies.grants == {"boss": ("a.get", "a.put"), "agent": ("a.drop",)}


def test_a_grant_of_no_tool_is_refused():
    with pytest.raises(ContractError, match=r"a\.got"):
        with_imported(contracts(agent=("a.got",)), [record("a", get="read")])


@pytest.mark.parametrize(
    ("grant", "ids"),
    [
        ("a.*", ("a.get", "a.put")),
        ({"tools": "*", "effects": ["destroy"]}, ("a.drop",)),
        ({"tools": "a.*", "tags": ["public"]}, ("a.get",)),
    ],
)
def test_conditions_know_the_tools_of_imports(grant, ids):
    found = with_imported(
        contracts(agent=(grant,)), [record("a", get="read", put="write", drop="destroy")]
    )
    assert found.policies.grants == {"agent": ids}


def test_a_condition_on_arguments_is_checked_against_the_imported_operation():
    made = record("a", get="read", put="write")
    grant = {"tools": "a.put", "arguments": {"properties": {"size": {"maximum": 5}}}}
    given = {"tools": "a.put", "arguments": {"properties": {"seize": {"maximum": 5}}}}

    found = with_imported(contracts(agent=(grant,)), [made])
    assert [each.tools for each in found.policies.granted["agent"].conditions] == [{"a.put"}]
    with pytest.raises(ContractRefused) as refused:
        with_imported(contracts(agent=(given,)), [made])
    (finding,) = refused.value.findings
    assert finding.message == "a.put has no argument seize"
    assert finding.pointer == "/agents/agent/grants/0/arguments/properties/seize"
    assert finding.fix == "Did you mean size?"


def test_a_budget_that_pays_for_no_call_of_a_tool_is_refused():
    own = contracts(agent=("a.get",), other=("a.get",))
    limits = {"agent": AgentLimits(budget=4), "other": AgentLimits(budget=5)}
    own = replace(own, policies=replace(own.policies, limits=limits))
    made = record("a", get="read")
    text = made.content.decode().replace('"title"', '"limits": {"cost": 5}, "title"', 2)
    with pytest.raises(ContractError, match=r"a\.get costs 5, and the budget of agent .* is 4"):
        with_imported(own, [replace(made, text=text)])


def test_two_tools_with_the_same_mcp_name_are_refused():
    with pytest.raises(ContractError, match="a_b_c"):
        with_imported(contracts(), [record("a", b_c="read"), record("a_b", c="read")])


SEQUEL = '"sequels": {"description": "What follows.", "type": "array", "maxItems": 9, "items": '
BOOK = '"properties": {\n        "isbn": {"$ref": "#/$defs/Isbn"}'
DATA = '"isbn": {\n          "$ref": "../common/library.json#/$defs/Isbn"\n        }'


@pytest.fixture
def generated(schemas: Path) -> Path:
    """Books with sequels, in an event and in what a webhook receives."""
    library = schemas / "common" / "library.json"
    text = library.read_text()
    assert BOOK in text
    library.write_text(text.replace(BOOK, f'{BOOK}, {SEQUEL}{{"$ref": "#/$defs/Book"}}}}'))
    event = schemas / "events" / "book.lent.v1.json"
    assert DATA in event.read_text()
    book = '"book": {"$ref": "../common/library.json#/$defs/Book"}'
    event.write_text(event.read_text().replace(DATA, f"{DATA}, {book}"))
    payload = schemas / "webhooks" / "desk" / "book_lent.payload.json"
    value = json.loads(payload.read_text())
    value["properties"]["before"] = {"description": "What was lent before.", "$ref": "#"}
    payload.write_text(json.dumps(value, indent=2))
    out = schemas.parent / "generated"
    generate(schemas, out)
    return out


def loaded(file: Path) -> Any:
    return json.loads(file.read_text())


def test_an_event_is_published_with_its_definitions(generated: Path) -> None:
    schema = loaded(generated / "events.json")["gateway.book.lent.v1"]["schema"]
    assert schema["$defs"].keys() == {"library.Book"}
    for name in ("asyncapi.json", "openapi.json"):
        text = (generated / name).read_text()
        schemas = json.loads(text)["components"]["schemas"]
        assert "$defs" not in text
        assert set(re.findall(r'"#/components/schemas/([^"]+)"', text)) <= schemas.keys()
        assert "library.Book" in schemas


def test_a_webhook_checks_what_is_inside(generated: Path) -> None:
    schema = loaded(generated / "webhooks.json")["desk"]["book_lent"]
    assert schema["$defs"].keys() == {"webhooks.desk.book_lent.payload"}
    violations = Validator(schema).violations({"before": {"before": 7}})
    assert "/before/before" in {each.pointer for each in violations}


def test_what_repeats_a_secret_is_secret_as_a_whole() -> None:
    node = {
        "properties": {
            "key": {"type": "string", "x-sensitive": True},
            "next": {"$ref": "#/$defs/Node"},
            "name": {"type": "string"},
        }
    }
    schema = {"properties": {"node": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}
    assert sensitive_pointers(schema) == ("/node/key", "/node/next")
