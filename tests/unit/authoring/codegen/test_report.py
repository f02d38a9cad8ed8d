"""Findings as text, JSON and SARIF."""

import json

from gateway.authoring.contracts.finding import ContractRefused, Finding, Severity, ordered
from gateway.cli.authoring.findings import as_json, as_lines, as_sarif

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
