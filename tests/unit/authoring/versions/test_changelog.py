"""The group Contract of the CHANGELOG: what people wrote stays; repetitions change nothing."""

import pytest

from gateway.authoring.diff.changes import ChangeVerdict, ContractChange
from gateway.authoring.versions.bumps import Bump, Need, VersionStep
from gateway.authoring.versions.changelog import entries_of, notable, with_entries
from gateway.errors import ConfigurationError

BLOCK = "<!-- gateway release: since 0a1b -->\n\n- one\n\n<!-- end of gateway release -->"


def change(text: str, verdict: ChangeVerdict = ChangeVerdict.POLICY) -> ContractChange:
    return ContractChange(
        rule="title-changed", subject="agent a", verdict=verdict, severity="error", text=text
    )


def step(bump: Bump, old: str | None, new: str | None, *texts: str) -> VersionStep:
    need = Need(bump=bump, facets=("input",), changes=tuple(map(change, texts)))
    return VersionStep(kind="tool", id="a.one", old=old, new=new, bump=bump, need=need)


def test_what_breaks_comes_first() -> None:
    text = entries_of(
        [
            step(Bump.MINOR, None, "1.0.0"),
            step(Bump.PATCH, "1.0.0", "1.0.1"),
            step(Bump.MAJOR, "1.0.0", "2.0.0", "it is gone", "more"),
            step(Bump.MAJOR, "3.0.0", None),
        ],
        [change("a may call less")],
    )
    assert text.splitlines() == [
        "- **Breaking**: tool `a.one` 2.0.0 (was 1.0.0): it is gone; more.",
        "- **Breaking**: tool `a.one` 3.0.0 is removed.",
        "- Compatible: tool `a.one` 1.0.0 is new.",
        "- Compatible: tool `a.one` 1.0.1 (was 1.0.0): changed: input.",
        "- `agent a`: a may call less.",
    ]


def test_texts_of_contracts_are_data() -> None:
    text = entries_of([step(Bump.MAJOR, "1.0.0", "2.0.0", "<!-- x -->\n## [a](b)\u202e\x07")], [])
    assert "\n" not in text
    assert "<!--" not in text.replace("\\<", "")
    assert "\\[a\\]" in text or "\\[a](b)" in text
    assert "\u202e" not in text
    assert "\x07" not in text


def test_many_changes_are_counted() -> None:
    text = entries_of([step(Bump.MAJOR, "1.0.0", "2.0.0", *map(str, range(13)))], [])
    assert text.endswith("8; 9; and 3 more.")


def test_a_file_is_made() -> None:
    text = with_entries(None, "- one", "0a1b")
    assert text == f"# Changelog\n\n## Unreleased\n\n### Contract\n\n{BLOCK}\n"
    assert with_entries(text, "- one", "0a1b") == text


BEFORE = {
    "no version": "# Changelog\n\nWords.\n",
    "only a version": "# Changelog\n\n## 1.0.0\n\n### Added\n\n- x\n",
    "nothing unreleased": "# Changelog\n\n## Unreleased\n\n## 1.0.0\n",
    "another group": "# Changelog\n\n## Unreleased\n\n### Added\n\n- x\n\n## 1.0.0\n\n- y\n",
    "the group": "# Changelog\n\n## Unreleased\n\n### Contract\n\nBy hand.\n\n### Added\n\n- x\n",
    "that of a version": "# C\n\n## Unreleased\n\nA.\n\n## 1.0.0\n\n### Contract\n\n- y\n",
    "empty": "",
}


@pytest.mark.parametrize("name", BEFORE)
def test_what_people_wrote_stays(name: str) -> None:
    before = BEFORE[name]
    text = with_entries(before, "- one", "0a1b")
    assert with_entries(text, "- one", "0a1b") == text
    assert [line for line in before.splitlines() if line not in text.splitlines()] == []
    assert text.count(BLOCK) == 1
    unreleased = text[text.index("## Unreleased") :]
    assert unreleased.index("### Contract") < unreleased.index(BLOCK)
    if "### Added" in before:
        assert text.index(BLOCK) < text.index("### Added")


def test_entries_since_one_release_are_replaced_and_others_stay() -> None:
    once = with_entries(BEFORE["the group"], "- one", "0a1b")
    again = with_entries(once, "- two", "0a1b")
    assert again == once.replace("- one", "- two")
    later = with_entries(again, "- three", "2c3d")
    assert later.index("- three") < later.index("- two") < later.index("By hand.")


def test_entries_without_their_end_are_not_guessed() -> None:
    text = with_entries(None, "- one", "0a1b").replace("<!-- end of gateway release -->", "")
    with pytest.raises(ConfigurationError, match="without <!-- end of gateway release -->"):
        with_entries(text, "- two", "0a1b")


def test_only_what_matters_is_told() -> None:
    safe = change("safe", ChangeVerdict.SAFE)
    assert notable([safe, change("not")]) == [change("not")]
