"""Which version a change needs, and what the lint says of a lock that lacks it."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from gateway.authoring.contracts.finding import Finding
from gateway.authoring.diff.changes import ChangeVerdict, ContractChange
from gateway.authoring.diff.facets import Facets
from gateway.authoring.diff.rules import RULES
from gateway.authoring.versions.bumps import (
    Bump,
    Release,
    bump_of,
    is_enough,
    needs,
    others,
    raised,
    steps_of,
    version_findings,
)
from gateway.authoring.versions.lock import FILE, Key, Lock, LockEntry, RecordedLock, read_lock

A, B, HOOK = ("tool", "a.one"), ("tool", "a.two"), ("webhook", "desk")
WAS, IS = (Facets(input=each * 64, description="d" * 64) for each in "01")
TOLD = Facets(input="0" * 64, description="e" * 64)


def change(
    rule: str, subject: str = "a.one", verdict: ChangeVerdict = ChangeVerdict.POLICY
) -> ContractChange:
    severity = RULES[rule].severity
    return ContractChange(
        rule=rule, subject=subject, verdict=verdict, severity=severity, text="it differs"
    )


BREAKING = change("input-narrowed", verdict=ChangeVerdict.BREAKING)
SAFE = change("input-widened", verdict=ChangeVerdict.SAFE)
DESCRIBED = change("tool-description-changed")


@pytest.mark.parametrize(
    ("found", "bump"),
    [
        (BREAKING, Bump.MAJOR),
        (change("input-narrowed", verdict=ChangeVerdict.UNDECIDED), Bump.MAJOR),
        (SAFE, Bump.MINOR),
        (DESCRIBED, Bump.PATCH),
        (change("readonly-hint-dropped"), Bump.MAJOR),
        (change("timeout-lowered"), Bump.MINOR),
        (change("hint-relaxed"), Bump.PATCH),
    ],
)
def test_a_verdict_or_a_rule_says_what_a_change_needs(found: ContractChange, bump: Bump) -> None:
    assert bump_of(found) is bump


@pytest.mark.parametrize(
    ("version", "bump", "after"),
    [
        ("1.4.2", Bump.MAJOR, "2.0.0"),
        ("1.4.2", Bump.MINOR, "1.5.0"),
        ("1.4.2", Bump.PATCH, "1.4.3"),
        ("1.4.2", Bump.NONE, "1.4.2"),
        ("0.4.2", Bump.MAJOR, "0.5.0"),
        ("0.4.2", Bump.MINOR, "0.4.3"),
        ("0.4.2", Bump.PATCH, "0.4.3"),
    ],
)
def test_versions_are_raised_as_semver_says(version: str, bump: Bump, after: str) -> None:
    assert raised(version, bump) == after


def test_a_later_version_is_enough() -> None:
    assert is_enough("1.10.0", "1.9.3", Bump.MINOR)
    assert is_enough("2.0.0", "1.9.3", Bump.MINOR)
    assert not is_enough("1.9.4", "1.9.3", Bump.MINOR)


def test_the_most_severe_change_decides() -> None:
    (need,) = needs({A: WAS}, {A: IS}, [DESCRIBED, BREAKING, SAFE]).values()
    assert (need.bump, need.facets, need.changes[0]) == (Bump.MAJOR, ("input",), BREAKING)
    assert need.reason == "input-narrowed: it differs, and 2 more"


def test_a_proof_that_nothing_changed_leaves_a_patch() -> None:
    """Such as a schema that is written otherwise: hashes differ, values do not."""
    assert needs({A: WAS}, {A: IS}, [])[A].bump is Bump.PATCH
    assert needs({A: WAS}, {A: WAS}, []) == {}


def test_without_a_proof_facets_decide() -> None:
    assert needs({A: WAS}, {A: IS}, None)[A].bump is Bump.MINOR
    assert needs({A: WAS}, {A: TOLD}, None)[A].bump is Bump.PATCH


def test_types_of_messages_belong_to_their_webhook() -> None:
    found = [
        change("input-narrowed", f"{name} lent", ChangeVerdict.BREAKING)
        for name in ("desk", "desks")
    ]
    assert needs({HOOK: WAS}, {HOOK: IS}, found)[HOOK].changes == (found[0],)
    assert others(found, [HOOK]) == [found[1]]
    assert others([change("agent-removed", "agent desk")], [HOOK])


def recorded(folder: Path, entries: dict[Key, LockEntry]) -> RecordedLock:
    (folder / FILE).write_text(Lock(entries=entries).text(), "utf-8")
    found = read_lock(folder)
    assert found is not None
    return found


def release(version: str, facets: Facets, changes: Sequence[ContractChange] | None) -> Release:
    def prove() -> Sequence[ContractChange]:
        if changes is None:
            raise LookupError
        return changes

    return Release(Lock(entries={A: LockEntry(version, facets)}), "0a1b", prove)


def unproved() -> Sequence[ContractChange]:
    raise AssertionError("the contracts are compared although nothing depends on it")


def found(
    folder: Path,
    entry: LockEntry,
    now: Facets,
    last: Release | None = None,
    before: Release | None = None,
) -> list[Finding]:
    return list(version_findings(recorded(folder, {A: entry}), {A: now}, last, before))


def rules(findings: Sequence[Finding]) -> list[str]:
    return [each.rule for each in findings]


def test_a_lock_of_the_contracts_is_clean_and_nothing_is_proved(tmp_path: Path) -> None:
    same = Release(Lock(entries={A: LockEntry("1.0.0", WAS)}), "0a1b", unproved)
    assert found(tmp_path, LockEntry("1.0.0", WAS), WAS, same, same) == []


def test_a_change_without_a_bump_names_the_version_and_the_reason(tmp_path: Path) -> None:
    last = release("1.2.0", WAS, [BREAKING])
    (finding,) = found(tmp_path, LockEntry("1.2.0", WAS), IS, last)
    assert (finding.rule, finding.pointer) == ("version/bump-missing", "/tools/a.one/version")
    assert finding.line == (tmp_path / FILE).read_text().split("version:")[0].count("\n") + 1
    assert "needs 2.0.0 (input-narrowed: it differs; since 0a1b)" in finding.message
    assert PurePosixPath(finding.path).name == "contracts.lock"


def test_without_git_the_finding_says_what_was_compared(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, LockEntry("1.2.0", WAS), IS)
    assert finding.rule == "version/bump-missing"
    assert "needs 1.3.0 at least (changed: input; only the hashes were compared" in finding.message
    unread = release("1.2.0", WAS, None)
    assert found(tmp_path, LockEntry("1.2.0", WAS), IS, unread) == [finding]


def test_a_bump_that_is_too_small(tmp_path: Path) -> None:
    last = release("1.2.0", WAS, [BREAKING])
    (finding,) = found(tmp_path, LockEntry("1.3.0", IS), IS, last)
    assert finding.rule == "version/bump-too-small"
    assert "needs 2.0.0" in finding.message
    assert rules(found(tmp_path, LockEntry("1.3.0", WAS), IS, last)) == ["version/bump-too-small"]
    assert found(tmp_path, LockEntry("1.3.0", IS), IS, release("1.2.0", WAS, [SAFE])) == []
    assert found(tmp_path, LockEntry("2.0.0", IS), IS, last) == []


def test_a_bump_that_was_committed_is_checked_too(tmp_path: Path) -> None:
    last = Release(Lock(entries={A: LockEntry("1.3.0", IS)}), "2c3d", unproved)
    before = release("1.2.0", WAS, [BREAKING])
    assert rules(found(tmp_path, LockEntry("1.3.0", IS), IS, last, before)) == [
        "version/bump-too-small"
    ]


def test_a_version_that_was_lowered(tmp_path: Path) -> None:
    last = release("1.2.0", WAS, [SAFE])
    assert rules(found(tmp_path, LockEntry("1.1.0", IS), IS, last)) == ["version/bump-too-small"]


def test_hashes_of_nothing(tmp_path: Path) -> None:
    last = release("1.2.0", WAS, [BREAKING])
    edited = LockEntry("1.2.0", Facets(input="9" * 64, description="d" * 64))
    (finding,) = found(tmp_path, edited, WAS, last)
    assert (finding.rule, finding.pointer) == ("version/lock-edited", "/tools/a.one")
    assert "a.one (input)" in finding.message


def test_a_version_written_by_hand_wants_its_hashes(tmp_path: Path) -> None:
    last = release("1.2.0", WAS, [SAFE])
    (finding,) = found(tmp_path, LockEntry("1.3.0", WAS), IS, last)
    assert (finding.rule, finding.pointer) == ("version/lock-edited", "/tools/a.one")
    assert "gateway release --write" in finding.fix


def test_contracts_and_entries_without_each_other(tmp_path: Path) -> None:
    lock = recorded(tmp_path, {A: LockEntry("1.0.0", WAS)})
    missing, unknown = version_findings(lock, {B: WAS}, None, None)
    assert (missing.rule, missing.message) == (
        "version/entry-missing",
        "the tool a.two has no entry",
    )
    assert (unknown.rule, unknown.pointer) == ("version/entry-unknown", "/tools/a.one")


def steps(was: dict[Key, LockEntry], now: dict[Key, Facets], changes: Any, **declared: str) -> Any:
    written = {A: LockEntry(declared["a"], WAS)} if declared else {}
    found = steps_of(Lock(entries=was), now, changes, Lock(entries=written), "1.0.0")
    return [(each.id, each.old, each.new, each.bump.name) for each in found]


def test_a_release_raises_adds_and_removes() -> None:
    was = {A: LockEntry("1.2.0", WAS), HOOK: LockEntry("1.0.0", WAS)}
    gone = change("webhook-removed", "desk lent", ChangeVerdict.BREAKING)
    assert steps(was, {A: IS, B: WAS}, [SAFE, gone]) == [
        ("a.one", "1.2.0", "1.3.0", "MINOR"),
        ("a.two", None, "1.0.0", "MINOR"),
        ("desk", "1.0.0", None, "MAJOR"),
    ]
    assert steps(was, {A: WAS, HOOK: WAS}, []) == []


def test_a_release_keeps_a_version_that_an_author_chose() -> None:
    was = {A: LockEntry("1.2.0", WAS)}
    assert steps(was, {A: IS}, [SAFE], a="2.0.0") == [("a.one", "1.2.0", "2.0.0", "MINOR")]
    assert steps(was, {A: IS}, [BREAKING], a="1.3.0") == [("a.one", "1.2.0", "2.0.0", "MAJOR")]
