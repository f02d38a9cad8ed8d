"""The Markdown form, as a parser that shares nothing with the writer renders it."""

import re

import msgspec
import pytest
from lxml import html
from markdown_it import MarkdownIt

from gateway.cli.reports.markdown import markdown
from gateway.cli.reports.record import Check, Report
from tests.reports import HOSTILE, hostile, usual

KEEPS_MENTIONS = {"code", "pre"}
"""GitHub looks for mentions, issues and emoji in all other elements."""
TAGS = KEEPS_MENTIONS | {
    *("div", "h3", "p", "table", "thead", "tbody", "tr", "th", "td"),
    *("details", "summary", "em"),
}


def rendered(report):
    # GitHub makes links of bare addresses, too.
    renderer = MarkdownIt("gfm-like", {"html": True, "linkify": False})
    return html.fragment_fromstring(renderer.render(markdown(report)), create_parent="div")


def test_it_begins_with_the_result():
    assert markdown(usual()).startswith("### 2 of 4 checks fail, 1 skipped\n")
    assert "1 failed, 1 undecided, 1 warning, 1 skipped, 1 passed in 2.0 s" in markdown(usual())


def test_the_table_has_the_findings_and_the_details_are_folded():
    page = rendered(usual())
    rows = [[cell.text_content() for cell in row] for row in page.iter("tr")]
    assert rows[1] == [
        "failed",
        "golf/search_tee_times",
        "model-not-stricter",
        "The model refuses what the schema accepts.",
    ]
    (details,) = page.iter("details")
    assert details.get("open") is None
    assert "gateway test --replay" in details.text_content()


def test_coverage_and_the_mutation_score_are_one_line():
    assert "Keywords covered: 13 of 14. Mutants killed: 19 of 20 (95.0%)." in markdown(usual())


@pytest.mark.parametrize("of", ["checks", "changes"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_any_text_is_only_text(kind, of):
    page = rendered(hostile(HOSTILE[kind], of))
    for element in page.iter():
        assert element.tag in TAGS
        assert set(element.attrib) <= {"style"}
        if element.tag not in KEEPS_MENTIONS:
            own = (element.text or "") + "".join(child.tail or "" for child in element)
            assert not re.search(r"[@\[<`]|http|alert|planted|\u202e", own)


@pytest.mark.parametrize("kind", HOSTILE)
def test_nothing_is_left_that_makes_a_link_of_an_address(kind):
    assert not re.search(r"https?:|www\.|\w@\w", markdown(hostile(HOSTILE[kind])))


def test_a_comment_is_never_longer_than_github_takes():
    long = [
        msgspec.structs.replace(usual().checks[1], subject=f"tool/{number}", text="a.b\n" * 900)
        for number in range(300)
    ]
    text = markdown(Report(command="gateway verify", seconds=1.0, checks=tuple(long)))
    assert 30_000 < len(text) < 65_536
    assert text.endswith("The rest does not fit into a comment: the other forms have it._\n")
    assert text.count("<details>") == text.count("</details>")


def test_findings_of_one_cause_are_one():
    failed = usual().checks[1]
    report = Report(command="c", seconds=0.0, checks=(failed,) * 7)
    assert "7 of one cause" in markdown(report)
    assert markdown(report).count("<pre>") == 1


def test_what_was_left_out_is_not_counted_as_checked():
    skipped = Check(subject="s", check="c", outcome="skipped")
    passed = Check(subject="s", check="c", outcome="passed")
    for checks, said in (
        ((skipped, skipped), "### Nothing was checked, 2 skipped\n"),
        ((skipped, passed), "### None of 1 check fails, 1 skipped\n"),
    ):
        assert markdown(Report(command="c", seconds=0.0, checks=checks)).startswith(said)
