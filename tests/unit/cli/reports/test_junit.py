"""The JUnit form, read by a parser that shares nothing with the writer."""

import re

import pytest
from lxml import etree

from gateway.cli.reports.junit import junit
from tests.reports import HOSTILE, hostile, usual

ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {"name", "time", "tests", "failures", "errors", "skipped"},
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"classname", "name", "time"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "skipped": {"message"},
    "system-out": set(),
}
"""What the schema of Jenkins' xunit plug-in (junit-10.xsd) allows, as far as it is written here."""


def read(report):
    return etree.fromstring(junit(report).encode())


def test_suites_are_subjects_and_cases_are_checks():
    root = read(usual())
    names = [
        (suite.get("name"), [case.get("name") for case in suite if case.tag == "testcase"])
        for suite in root
    ]
    assert names == [
        ("gmail/send_email", ["verdicts-equal", "live"]),
        (
            "golf/search_tee_times",
            ["model-not-stricter", "model-not-stricter #2", "verdicts-equal"],
        ),
    ]


def test_the_counts_are_those_of_the_elements():
    root = read(usual())
    for element in (root, *root):
        assert int(element.get("tests")) == len(element.findall(".//testcase"))
        assert int(element.get("failures")) == len(element.findall(".//failure"))
        assert int(element.get("errors")) == len(element.findall(".//error"))
    assert (root.get("failures"), root.get("errors")) == ("1", "1")


def test_a_failure_says_place_input_and_replay():
    failure = read(usual()).find(".//failure")
    assert failure.get("message").startswith("The model refuses what the schema accepts.")
    for part in (
        "schemas/tools/golf/search_tee_times.json:12 /input/properties/players",
        'input: {"players": 1.0}',
        "gateway test --replay",
        "curl -sS",
        '"jsonrpc"',
    ):
        assert part in failure.text


def test_a_warning_fails_nothing_and_is_shown():
    case = read(usual()).find(".//testcase[@name='verdicts-equal'][system-out]")
    assert [each.tag for each in case] == ["system-out"]
    assert case[0].text.startswith("warning: Slow.")


def test_coverage_is_in_the_properties_of_its_suite():
    found = {each.get("name"): each.get("value") for each in read(usual()).iter("property")}
    assert found == {"keywords": "13/14", "mutants killed": "19", "mutants survived": "1"}


@pytest.mark.parametrize("kind", HOSTILE)
def test_any_text_is_only_text(kind):
    root = read(hostile(HOSTILE[kind]))
    for element in root.iter():
        assert set(element.attrib) == ATTRIBUTES[element.tag]
        assert re.fullmatch(r"\d+\.\d{3}", element.get("time", "0.000"))
    assert len(root.findall(".//testcase")) == len(hostile(HOSTILE[kind]).checks)


def test_long_texts_are_cut_with_a_note():
    text = junit(hostile(HOSTILE["long"]))
    assert len(text) < 1_000_000
    assert "characters are not shown)" in text
