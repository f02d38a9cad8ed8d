"""What an audit record may hold of a call's arguments."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.audit.facts import MAX_ARGUMENTS_BYTES, cut, redact, sensitive_texts

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [
        ("/a", {"a": "<redacted>", "b/c": {"~": 2}, "l": [{"x": 3}, {"x": 4}]}),
        ("/b~1c/~0", {"a": 1, "b/c": {"~": "<redacted>"}, "l": [{"x": 3}, {"x": 4}]}),
        ("/l/1/x", {"a": 1, "b/c": {"~": 2}, "l": [{"x": 3}, {"x": "<redacted>"}]}),
        ("/l/*/x", {"a": 1, "b/c": {"~": 2}, "l": [{"x": "<redacted>"}, {"x": "<redacted>"}]}),
        ("/a/b/c", {"a": 1, "b/c": {"~": 2}, "l": [{"x": 3}, {"x": 4}]}),
        ("/none", {"a": 1, "b/c": {"~": 2}, "l": [{"x": 3}, {"x": 4}]}),
    ],
)
def test_what_a_pointer_leads_to_is_redacted(pointer, expected) -> None:
    assert redact({"a": 1, "b/c": {"~": 2}, "l": [{"x": 3}, {"x": 4}]}, (pointer,)) == expected


@pytest.mark.parametrize(
    ("pointers", "expected"),
    [
        (("/a", "/l/*/x"), {"a": "<redacted>", "l": [{"x": "<redacted>", "y": 2}]}),
        (("/l/*/x", "/l/0/y"), {"a": 1, "l": [{"x": "<redacted>", "y": "<redacted>"}]}),
        (("/l/*", "/l/0/y"), {"a": 1, "l": ["<redacted>"]}),
        (("/*/*/y",), {"a": 1, "l": [{"x": 1, "y": "<redacted>"}]}),
        (("",), {"a": "<redacted>", "l": "<redacted>"}),
    ],
)
def test_several_pointers_are_redacted_together(pointers, expected) -> None:
    arguments = {"a": 1, "l": [{"x": 1, "y": 2}]}
    assert redact(arguments, pointers) == expected
    assert arguments == {"a": 1, "l": [{"x": 1, "y": 2}]}


@pytest.mark.parametrize(
    ("pointers", "expected"),
    [
        ((), set()),
        (("/card",), {"4242"}),
        (("/none", "/note"), set()),
        (("/people/*/name",), {"Ada", "Bob"}),
        (("/people/1",), {"Bob", "1815"}),
        (("/people",), {"Ada", "Bob", "1815"}),
        (("/*/*/born",), {"1815"}),
        (("",), {"4242", "Ada", "Bob", "1815"}),
    ],
)
def test_sensitive_texts_are_those_at_the_pointers(pointers, expected) -> None:
    """A text of two characters is in many sentences, so it is not one of them."""
    people = [{"name": "Ada"}, {"name": "Bob", "born": 1815, "is_known": True}]
    arguments = {"card": "4242", "note": "no", "people": people}
    assert sensitive_texts(arguments, pointers) == expected


@given(st.dictionaries(st.text(), VALUES, max_size=5))
def test_arguments_that_fit_are_kept_whole(arguments) -> None:
    assert len(msgspec.json.encode(arguments)) > MAX_ARGUMENTS_BYTES or cut(arguments) == arguments


@given(st.dictionaries(st.text(), st.integers(0, 20_000), max_size=30))
def test_nothing_larger_than_the_cap_is_kept(sizes) -> None:
    kept = cut({name: "x" * size for name, size in sizes.items()})

    assert len(msgspec.json.encode(kept)) <= MAX_ARGUMENTS_BYTES


def test_a_large_member_is_replaced_by_its_size_and_the_others_stay() -> None:
    assert cut({"a": 1, "text": "x" * 100_000, "b": 2}) == {
        "a": 1,
        "text": "<cut: 100011 bytes>",
        "b": 2,
    }
