"""The SARIF form: what the specification and GitHub code scanning require, written here again."""

import json
import re
from urllib.parse import urlsplit

import msgspec
import pytest

from gateway.cli.reports.record import Report
from gateway.cli.reports.sarif import sarif
from tests.reports import HOSTILE, hostile, usual


def run_of(report):
    log = json.loads(sarif(report))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    return run


def test_results_are_findings_the_worst_first():
    found = [(each["level"], each["ruleId"]) for each in run_of(usual())["results"]]
    assert found == [
        ("error", "model-not-stricter"),
        ("error", "model-not-stricter"),
        ("warning", "verdicts-equal"),
    ]


def test_every_result_has_its_rule():
    run = run_of(usual())
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_a_result_has_file_line_and_pointer():
    first = run_of(usual())["results"][0]
    (location,) = first["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "schemas/tools/golf/search_tee_times.json"},
        "region": {"startLine": 12},
    }
    assert location["logicalLocations"][0]["fullyQualifiedName"] == (
        "golf/search_tee_times /input/properties/players"
    )
    assert first["properties"]["input"] == '{"players": 1.0}'


def test_a_finding_is_the_same_on_another_line_and_with_another_input():
    one = usual()
    failed = msgspec.structs.replace(one.checks[1], line=40, input="{}")
    other = msgspec.structs.replace(one, checks=(one.checks[0], failed, *one.checks[2:]))
    prints = [
        [each["partialFingerprints"] for each in run_of(report)["results"]]
        for report in (one, other)
    ]
    assert prints[0] == prints[1]


def test_each_finding_has_its_own_fingerprint():
    failed = usual().checks[1]
    run = run_of(Report(command="c", seconds=0.0, checks=(failed, failed)))
    prints = [each["partialFingerprints"]["primaryLocationLineHash"] for each in run["results"]]
    assert len(set(prints)) == 2
    assert all(re.fullmatch(r"[0-9a-f]{32}:\d+", each) for each in prints)


def test_more_results_than_github_takes_are_left_out_with_a_note():
    failed = usual().checks[1]
    run = run_of(Report(command="c", seconds=0.0, checks=(failed,) * 5003))
    assert len(run["results"]) == 5000
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == "3 more results are left out"


@pytest.mark.parametrize("kind", HOSTILE)
def test_any_text_is_only_text(kind):
    run = run_of(hostile(HOSTILE[kind]))
    for result in run["results"]:
        assert result["level"] in {"error", "warning", "note"}
        assert result["message"]["text"]
        assert not re.search(r"\]\(", result["message"]["text"])
        (location,) = result["locations"]
        uri = urlsplit(location["physicalLocation"]["artifactLocation"]["uri"])
        assert (uri.scheme, uri.netloc) == ("", "")
        assert re.fullmatch(r"[\w.~/%-]+", uri.path)
        assert location["physicalLocation"]["region"]["startLine"] >= 1
    assert re.fullmatch(r"[\w-]+/", run["automationDetails"]["id"])
