"""The lint's findings of what clients are shown, for tools of authors and imported ones."""

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from gateway.authoring.codegen import acceptance
from gateway.authoring.codegen.acceptance import client_findings
from gateway.authoring.codegen.imported import with_imported
from gateway.authoring.codegen.ir import Contracts, ContractSource, IndexContract, PolicyContract
from gateway.authoring.codegen.lowering import lower
from gateway.authoring.codegen.render.artifact import document
from gateway.authoring.contracts.finding import Severity
from gateway.authoring.contracts.policies import written_grants
from gateway.authoring.contracts.sources.tree import read_tree
from gateway.profiles.clients import PROFILES
from gateway.profiles.rules import SchemaRule

SOURCE = ContractSource(path="policies/agents.yaml", closure=(), sha256="")
SCHEMAS = Path(__file__).parents[4] / "schemas"
PLAIN = {"type": "object", "properties": {}}


def contracts(*schemas, definitions=None):
    """The contracts with one imported tool for each of `schemas`, which the agent may all call."""
    operations = [
        {
            "id": f"vendor.tool_{n}",
            "tool": f"tool_{n}",
            "title": "Tool",
            "description": "Tool.",
            "effect": "read",
            "input_schema": schema,
        }
        for n, schema in enumerate(schemas)
    ]
    facts = {"connector": "vendor", "title": "Vendor", "operations": operations}
    record = document("imported/vendor.json", facts | {"definitions": definitions or {}})
    grants = {"agent": ["*"], "other": []}
    written = {agent: written_grants(agent, {"grants": each}) for agent, each in grants.items()}
    policies = PolicyContract(written=written, granted={}, source=SOURCE)
    index = IndexContract(document={}, source=SOURCE)
    own = Contracts(index=index, common=(), tools=(), upstreams=(), policies=policies)
    return with_imported(own, [record])


def rules(found):
    return [(each.rule, each.path) for each in found]


def test_schemas_that_can_be_shown_to_all_have_no_findings():
    union = {"oneOf": [{"$ref": "#/$defs/A"}, {"type": "object"}]}
    loop = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}
    assert list(client_findings(contracts(PLAIN, union, loop, definitions={"A": loop}))) == []


def test_a_schema_that_stays_too_large_is_refused_by_name():
    wide = {"type": "object", "properties": {f"p{n}": {} for n in range(5_001)}}
    found = list(client_findings(contracts(wide)))
    assert {each.rule for each in found} == {"client/refused"}
    assert [each.severity for each in found] == [Severity.ERROR] * 2
    assert found[0].path == "upstreams/vendor/import.yaml"
    assert "vendor.tool_0" in found[0].message
    assert "properties 5,001, at most 5,000" in found[0].message


def test_an_agent_with_more_tools_than_a_client_lists_is_noted():
    (found,) = client_findings(contracts(*[PLAIN] * 129))
    assert (found.rule, found.severity) == ("client/long-list", Severity.NOTE)
    assert found.message.startswith("agent may call 129 tools, and Visual Studio Code")
    assert list(client_findings(contracts(*[PLAIN] * 128))) == []


def test_a_profile_that_narrows_a_schema_is_found(generated_contracts, monkeypatch):
    closing = SchemaRule(
        id="test/closing",
        meaning="Nothing.",
        found=lambda _: iter([""]),
        widened=lambda schema: {**schema, "properties": {}},
        is_root=True,
    )
    wrong = replace(PROFILES["claude"], rules=(closing,))
    monkeypatch.setattr(acceptance, "_PROFILES", (wrong,))
    found = {each.rule for each in client_findings(generated_contracts)}
    assert "client/narrowed" in found


@pytest.fixture(scope="module")
def generated_contracts():
    return lower(read_tree(SCHEMAS))


def test_the_contracts_of_the_catalogue_have_no_findings(generated_contracts):
    assert msgspec.to_builtins(list(client_findings(generated_contracts))) == []
