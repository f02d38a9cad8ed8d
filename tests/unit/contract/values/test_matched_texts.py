"""Patterns of documents match in linear time, and whole texts where all of the text counts."""

from gateway.contract.values.schema import is_whole_match, matcher
from tests.unit.tables import each_of


@each_of(
    ("pattern", "text", "expected"),
    [
        ("[a-z]+", "abc", True),
        ("[a-z]+", "abc\n", False),
        ("[a-z]+", "xabc7", False),
        ("a|bc", "bc", True),
        ("a|bc", "abc", False),
        ("(a+)+b", "a" * 10_000, False),
        ("(?=a)a", "a", False),
    ],
)
def test_a_whole_text_is_matched(pattern, text, expected):
    assert is_whole_match(pattern, text) is expected


def test_a_part_of_a_text_is_matched():
    matches = matcher("^(a+)+$|b")
    assert matches is not None
    assert matches("a" * 10_000)
    assert matches("abc")
    assert not matches("a" * 10_000 + "c")
    assert matcher("(a)\\1") is None
