"""Texts that match the regular expressions of schemas."""

import re

import pytest

from gateway.contract.schemas.flattening import NoSample, Steps
from gateway.contract.schemas.samples import seeded
from gateway.contract.schemas.strings import matching
from tests.unit.tables import each_of

SUPPORTED = [
    "",
    "abc",
    "^a$",
    "a|bc|",
    "(a|b)+",
    "(?:x(?:y)?)*z",
    "(?P<year>[0-9]{4})-[01]\\d",
    "[a-z]{3,5}?",
    "[^a-z]{2}",
    "[\\d_\\-.]+",
    "a{2}b{0,}c{1,2}",
    "\\.\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|\\^\\$\\\\\\/",
    "\\x41\\u0042",
    "\\bword\\b",
    "\\t\\n\\r",
    "\\D\\W\\S",
    ".{10}",
    "^#[0-9a-fA-F]{6}$",
    "^(\\d{1,3}\\.){3}\\d{1,3}$",
    "[a\\-z]",
    "[+-]?\\d+",
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
]


@each_of("pattern", SUPPORTED)
def test_the_text_matches(pattern):
    for seed in range(20):
        assert re.search(pattern, matching(pattern, seeded(str(seed)), Steps())), seed


def test_a_category_is_sampled_in_ascii():
    assert re.fullmatch("[A-Z][a-z]{2}", matching("^\\p{Lu}\\p{Ll}{2}$", seeded("1"), Steps()))


def test_a_text_can_be_made_longer():
    lengths = {len(matching("^[a-z]+$", seeded(str(seed)), Steps(), 40)) for seed in range(20)}
    assert max(lengths) >= 40


@each_of(
    "pattern",
    [
        "(?=a)b",
        "(?!a)b",
        "(?<=a)b",
        "(?i)a",
        "(a)\\1",
        "(a",
        "a)",
        "[a",
        "a\\",
        "\\p{Han}",
        "[[:alpha:]]",
        "a{20000}",
        "((a{100}){100}){100}",
        "(" * 200 + "a" + ")" * 200,
        "[^\\x00-\\x7f]",
    ],
)
def test_what_is_not_supported_is_refused(pattern):
    with pytest.raises(NoSample):
        matching(pattern, seeded("1"), Steps())
