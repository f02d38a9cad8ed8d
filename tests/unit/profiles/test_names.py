"""Short names: within the limit, different from all others, the same next year."""

import pytest

from gateway.profiles import refusals
from gateway.profiles.refusals import short_names

LONG = "github_actions_list_self_hosted_runners_for_enterprise"


def test_only_long_names_are_shortened() -> None:
    assert short_names(["a_b", "c" * 20], 20) == {}
    (short,) = short_names([LONG, "a_b"], 30).values()
    assert len(short) <= 30
    assert short.startswith("github_actions_list_")


def test_a_new_tool_does_not_rename_the_others() -> None:
    before = short_names([LONG, f"{LONG}_a"], 30)
    after = short_names([LONG, f"{LONG}_a", *(f"{LONG}_{n}" for n in range(500))], 30)
    assert {name: after[name] for name in before} == before
    assert len(set(after.values())) == len(after)


def test_a_short_name_is_never_the_name_of_another_tool() -> None:
    (taken,) = short_names([LONG], 30).values()
    (other,) = short_names([LONG, taken], 30).values()
    assert other != taken
    assert len(other) <= 30


def test_equal_short_names_become_different(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "_DIGEST", 0)
    found = short_names([f"{LONG}_{n}" for n in range(40)], 30)
    assert len(set(found.values())) == 40
    assert all(len(short) <= 30 for short in found.values())
