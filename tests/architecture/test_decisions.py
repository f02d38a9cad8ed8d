"""The decisions under docs/decisions are numbered, dated by their order, and one page each."""

import re
from typing import Final

import pytest

NAME: Final = re.compile(r"^(\d{4})-[a-z0-9-]+\.md$")
PARTS: Final = ("## Context", "## Decision", "## Consequences", "## Rejected")
LINES: Final = 80
ENTRIES: Final = 35
WORDS: Final = 120
"""Of an entry of the page that readers of the site get, without its numbers' links."""


@pytest.fixture(scope="module")
def decisions(root):
    """Name to text, in order."""
    folder = root / "docs" / "decisions"
    pages = sorted(folder.glob("*.md"))
    return {page.name: page.read_text("utf-8") for page in pages}


def test_numbers_are_unique_and_consecutive(decisions):
    numbers = [int(name[:4]) for name in decisions if NAME.match(name)]
    assert numbers == list(range(1, len(decisions) + 1))


def test_every_decision_has_its_four_parts_and_a_status(decisions):
    """Context, decision, consequences, what was rejected."""
    incomplete = [
        name
        for name, text in decisions.items()
        if not text.startswith(f"# {name[:4]} ")
        or "\nStatus: " not in text
        or [part for part in PARTS if f"\n{part}\n" not in text]
    ]
    assert incomplete == []


def test_every_decision_is_one_page(decisions):
    assert [name for name, text in decisions.items() if text.count("\n") > LINES] == []


def test_the_page_names_every_decision_once_in_few_short_entries(root, decisions):
    page = (root / "docs" / "decisions.md").read_text("utf-8")
    assert sorted(re.findall(r"\]\(decisions/([^)]+)\)", page)) == sorted(decisions)
    entries = page.split("\n### ")[1:]
    assert len(entries) <= ENTRIES
    bodies = [re.sub(r"\]\([^)]*\)", "]", each.partition("\n#")[0]) for each in entries]
    assert [body for body in bodies if len(body.partition("\n")[2].split()) > WORDS] == []
