"""Text of others is neither a sequence of a terminal nor a command of a CI."""

import pytest

from gateway.cli.problems import plain, plain_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a title", "a title"),
        ("a\x1b[2Jtitle", r"a\x1b[2Jtitle"),
        ("a\ntitle", r"a\ntitle"),
        ("a\u202etitle", r"a\u202etitle"),
    ],
)
def test_one_line_stays_one_line(text: str, shown: str) -> None:
    assert plain(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines: a::b", "two\nlines: a::b"),
        ("a\n::error::pwn", "a\n\\x3a:error::pwn"),
        ("a\n  ::set-output name=x::y", "a\n  \\x3a:set-output name=x::y"),
        ("##vso[task.setvariable]", r"\x23#vso[task.setvariable]"),
        ("a\r::error::pwn", r"a\r::error::pwn"),
    ],
)
def test_no_line_is_a_command_of_a_ci(text: str, shown: str) -> None:
    assert plain_lines(text) == shown
