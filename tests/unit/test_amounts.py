"""Numbers with their nouns."""

import pytest

from gateway.amounts import amount, in_seconds
from gateway.contract.values.files import shown_type


def test_one_is_singular() -> None:
    assert [amount(each, "tool") for each in (0, 1, 2, 1049)] == [
        "0 tools",
        "1 tool",
        "2 tools",
        "1,049 tools",
    ]


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (29.9999, "30 seconds"),
        (0.99999, "1 second"),
        (1, "1 second"),
        (0.05, "0.05 seconds"),
        (0.0499999, "0.05 seconds"),
        (1.5, "1.5 seconds"),
        (600.0, "600 seconds"),
        (2_678_400, "2678400 seconds"),
    ],
)
def test_what_a_clock_has_taken_is_not_shown(number: float, shown: str) -> None:
    assert in_seconds(number) == shown


@pytest.mark.parametrize(
    ("header", "shown"),
    [
        ("text/html; charset=utf-8", "text/html"),
        (" Application/X-Thing ", "application/x-thing"),
        ("", "no media type"),
        (";charset=utf-8", "no media type"),
        ("text", "a malformed media type"),
        ("text/<b>\x1b[0m", "a malformed media type"),
        ("text/" + "x" * 100, "a malformed media type"),
    ],
)
def test_the_media_type_that_came_is_named_if_it_is_one(header: str, shown: str) -> None:
    assert shown_type(header) == shown
