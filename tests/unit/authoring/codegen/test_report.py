"""What the generator says of contracts: findings of the lint, in text, JSON and SARIF."""

import json
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
from gateway.authoring.contracts.finding import ContractRefused, Finding, Severity, ordered
from gateway.authoring.contracts.policies import written_grants
from gateway.authoring.contracts.tree import read_tree
from gateway.cli.authoring.findings import as_json, as_lines, as_sarif
from gateway.profiles.clients import PROFILES
from gateway.profiles.rules import SchemaRule

ERROR = Finding(
    path="tools/my books/find.yaml",
    line=7,
    pointer="/post/x-mcp/name",
    rule="tool/mcp-name",
    message="x is not y",
    fix="Write books_find.",
)
NOTE = Finding(
    path="common/a.json",
    line=1,
    pointer="",
    rule="schema/amber-keyword",
    message="anyOf is checked at run time",
    fix="No change is needed.",
    severity=Severity.NOTE,
)


def test_text_leads_with_file_and_line_and_ends_with_a_count() -> None:
    assert as_lines([ERROR, NOTE]) == [
        "schemas/tools/my books/find.yaml:7: error tool/mcp-name /post/x-mcp/name: x is not y",
        "  fix: Write books_find.",
        "schemas/common/a.json:1: note schema/amber-keyword: anyOf is checked at run time",
        "  fix: No change is needed.",
        "1 error, 1 note",
    ]


def test_nothing_found_is_said_in_words() -> None:
    assert as_lines([]) == ["0 errors, 0 notes"]


def test_json_carries_every_part_and_the_counts() -> None:
    document = json.loads(as_json([ERROR, NOTE], "contracts"))
    assert (document["errors"], document["notes"]) == (1, 1)
    assert document["findings"][0] == {
        "path": "contracts/tools/my books/find.yaml",
        "line": 7,
        "pointer": "/post/x-mcp/name",
        "rule": "tool/mcp-name",
        "message": "x is not y",
        "fix": "Write books_find.",
        "severity": "error",
    }


def test_sarif_has_what_the_standard_requires() -> None:
    """SARIF 2.1.0 §3.13, §3.14, §3.18, §3.19, §3.27, §3.28, §3.30."""
    document = json.loads(as_sarif([ERROR, NOTE], "0.1.0"))
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = document["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["semanticVersion"]) == ("gateway lint", "0.1.0")
    rules = driver["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result, finding in zip(run["results"], (ERROR, NOTE), strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == finding.rule
        assert result["level"] == finding.severity.value
        assert finding.message in result["message"]["text"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert place["region"]["startLine"] == finding.line
        assert " " not in place["artifactLocation"]["uri"]
    logical = run["results"][0]["locations"][0]["logicalLocations"]
    assert logical == [{"fullyQualifiedName": "/post/x-mcp/name", "kind": "member"}]


def test_sarif_without_findings_is_a_run_without_results() -> None:
    """A code host closes old alerts only when `results` is there and empty."""
    assert json.loads(as_sarif([], "0.1.0"))["runs"][0]["results"] == []


def test_findings_are_read_in_the_order_of_the_files_without_repetition() -> None:
    assert ordered([ERROR, NOTE, ERROR]) == (NOTE, ERROR)


def test_a_refusal_reports_the_first_finding_and_how_many_more() -> None:
    refused = ContractRefused([ERROR, NOTE])
    assert str(refused).startswith("common/a.json:1: schema/amber-keyword /: anyOf")
    assert str(refused).endswith("and 1 more")


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
