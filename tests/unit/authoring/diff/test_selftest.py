"""Edits of which the truth is known, compared as `gateway diff --self-test` does."""

import pytest

from gateway.authoring.diff.selftest import Edit, TriedEdit, tried_edits


@pytest.fixture(scope="module")
def tried():
    return tried_edits()


def test_nothing_false_is_said(tried):
    assert [(each.edit.name, each.said) for each in tried if each.is_wrong] == []


def test_none_of_them_is_undecided(tried):
    assert [each.edit.name for each in tried if each.said == "undecided"] == []


def test_there_are_many_edits_of_each_kind(tried):
    assert len(tried) >= 150
    assert {each.edit.label for each in tried} == {"same", "safe", "breaking"}
    assert {each.edit.kind for each in tried} == {"request", "response", "event", "paths"}
    names = [each.edit.name for each in tried]
    assert len(names) == len(set(names))


def test_many_of_them_are_in_public_changelogs(tried):
    seen = [each.edit.seen for each in tried if each.edit.seen]
    assert len(seen) >= 60
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize(
    ("label", "said", "is_wrong"),
    [
        ("safe", "breaking", True),
        ("breaking", "safe", True),
        ("same", "safe", True),
        ("breaking", "undecided", False),
        ("safe", "safe", False),
    ],
)
def test_a_false_statement_is_wrong(label, said, is_wrong):
    edit = Edit(name="an edit", kind="request", old={}, new={}, label=label)
    assert TriedEdit(edit=edit, said=said).is_wrong is is_wrong
