"""The page, read by a parser: tests/clients/test_report_page.py opens it in a browser."""

import base64
import hashlib
import re
from importlib.metadata import version

import msgspec
import pytest
from lxml import html

from gateway.authoring.diff.changes import ChangePlace, ChangeVerdict, ContractChange, Direction
from gateway.cli.reports.changes import report_of_changes
from gateway.cli.reports.page import page
from gateway.cli.reports.record import Check, Report
from tests.reports import HOSTILE, hostile, usual

ATTRIBUTES = {
    *("id", "class", "lang", "href", "rel", "charset", "name", "content", "http-equiv"),
    *("type", "hidden", "role", "scope", "tabindex", "open", "data-outcomes", "value"),
    *("placeholder", "spellcheck", "autocomplete", "width", "height", "viewbox"),
    *("preserveaspectratio", "aria-label", "aria-hidden"),
}


def read(report):
    return html.document_fromstring(page(report))


def rows(tree):
    body = tree.get_element_by_id("matrix").find(".//tbody")
    return [[" ".join(cell.text_content().split()) for cell in row] for row in body]


def test_the_matrix_has_a_row_for_each_contract_and_those_that_fail_are_first():
    tree = read(usual())
    heads = [each.text_content() for each in tree.findall(".//div[@id='matrix']//thead//th")]
    assert heads == ["contract", "verdicts-equal", "model-not-stricter", "live"]
    assert rows(tree) == [
        ["golf/search_tee_times", "! warning", "✗ failed", ""],
        ["gmail/send_email", "✓ passed", "", "- skipped"],
    ]


def test_the_matrix_is_a_table_with_headers():
    table = read(usual()).get_element_by_id("matrix").find("table")
    assert {each.get("scope") for each in table.findall(".//thead//th")} == {"col"}
    assert all(row[0].tag == "th" and row[0].get("scope") == "row" for row in table.find("tbody"))
    assert table.find("caption").text_content()


@pytest.mark.parametrize("of", ["checks", "changes"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_any_text_is_only_text(kind, of):
    tree = read(hostile(HOSTILE[kind], of))
    usual_tags = {each.tag for each in read(usual()).iter()}
    for element in tree.iter():
        assert element.tag in usual_tags | {"div"}
        assert set(element.attrib) <= ATTRIBUTES
        assert re.match(r"#[a-z0-9_-]+$|data:,$", element.get("href", "#x"))
    assert [each.tag for each in tree.iter("script", "style")] == ["style", "script"]


@pytest.mark.parametrize("kind", HOSTILE)
def test_every_anchor_is_there_once(kind):
    tree = read(hostile(HOSTILE[kind]))
    ids = [each.get("id") for each in tree.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    links = {each.get("href")[1:] for each in tree.iter("a")}
    assert links <= set(ids)


def test_names_that_differ_only_in_signs_have_their_own_anchors():
    checks = [Check(subject=each, check="c", outcome="failed") for each in ("a.b", "a/b", "A b")]
    tree = read(Report(command="c", seconds=0.0, checks=tuple(checks)))
    assert len({each.get("id") for each in tree.find_class("contract")}) == 3
    assert len({each.get("id") for each in tree.find_class("finding")}) == 3


def test_only_its_own_style_and_script_may_run():
    tree = read(usual())
    policy = tree.find(".//meta[@http-equiv='Content-Security-Policy']").get("content")
    for tag in ("style", "script"):
        (element,) = tree.iter(tag)
        digest = base64.b64encode(hashlib.sha256(element.text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")


def test_a_finding_has_its_input_its_place_and_its_lines_to_paste():
    finding = read(usual()).find_class("finding")[0]
    shown = [each.text for each in finding.iter("pre")]
    replay = usual().checks[1].replay
    assert shown == ['{"players": 1.0}', replay.command, replay.curl, replay.rpc]
    assert "search_tee_times.json:12 /input/properties/players" in finding.text_content()


def test_coverage_and_survivors_are_shown():
    text = " ".join(read(usual()).text_content().split())
    for part in (
        "keywords 13 of 14",
        "mutants killed 19 of 20",
        "/input/properties/cc/maxItems",
        "/input/x: minimum 1 → 0",
        f"seed 11, gateway {version('contract-gateway')}",
    ):
        assert part in text


def test_a_line_to_paste_is_whole_or_not_there():
    long = msgspec.structs.replace(usual().checks[1].replay, curl="curl " + "x" * 100_000)
    check = msgspec.structs.replace(usual().checks[1], replay=long)
    finding = read(Report(command="c", seconds=0.0, checks=(check,))).find_class("finding")[0]
    assert "curl xxx" not in finding.text_content()
    assert "Too long for this page" in finding.text_content()


def test_a_change_shows_what_each_side_makes_of_the_witness():
    change = ContractChange(
        rule="input-narrowed",
        subject="golf/search_tee_times",
        direction=Direction.TOOL_INPUT,
        verdict=ChangeVerdict.BREAKING,
        severity="error",
        text="narrowed",
        old=ChangePlace("old.json", "/a"),
        new=ChangePlace("new.json", "/b"),
        witness={"passengers": 9},
        accepted_by="old",
    )
    tree = read(report_of_changes([change], "gateway diff a b", 0.5))
    sides = [[text.strip() for text in side.itertext()] for side in tree.find_class("sides")[0]]
    assert sides == [
        ["accepted", "by the old side", "old.json /a"],
        ["refused", "by the new side", "new.json /b"],
    ]
    assert rows(tree) == [["golf/search_tee_times", "✗ breaking"]]
    text = tree.find_class("finding")[0].text_content()
    assert '{"passengers":9}' in text
    assert "error: A value that was accepted is refused now." in text


def test_a_page_of_many_failures_stays_small():
    failed = usual().checks[1]
    checks = tuple(
        msgspec.structs.replace(failed, subject=f"tool/{number % 200}", cause="", text="x" * 9000)
        for number in range(1500)
    )
    text = page(Report(command="c", seconds=0.0, checks=checks))
    assert len(text) < 2_000_000
    assert "500 more findings are left out here." in text
