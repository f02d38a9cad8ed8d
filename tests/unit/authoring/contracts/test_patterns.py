"""The form of patterns that ECMAScript with the flag `u` and the validator share.

Each form was compiled by Node 20 with the flag `u`.
"""

import pytest

from gateway.authoring.contracts.patterns import shared_form
from gateway.contract.values.schema import Validator

SAME = [
    r"^[A-Z]{2}-[0-9]+$",
    r"\bfoo\B",
    r"^(?:a|b)*?$",
    r"^(?<year>[0-9]{4})$",
    r"^[\-a\]]$",
    r"[^\x00-\x7F]",
    r"\u00e9|\u{1F600}|\p{L}|\P{Script=Latin}",
    r"[\w-]",
    r"^\/[\s\S]+\.$",
    r"[a-z-9]",
]
CHANGED = [
    (r"^https\:\/\/", r"^https:\/\/"),
    (r"\-\_\@\#\ \<", "-_@# <"),
    (r"^[a\&b\-\_]$", r"^[a\x26b\-_]$"),
    (r"^[\w-.]+$", r"^[\w\-.]+$"),
    (r"[a-\d]", r"[a\-\d]"),
    ("^[a&&b]$", r"^[a&\x26b]$"),
    ("^[--a]$", r"^[\--a]$"),
    ("^[[a]$", r"^[\[a]$"),
    ("^[]a]$", r"^[\]a]$"),
    ("^[^]$", r"^[\s\S]$"),
    ("[[:alpha:]_]", "[A-Za-z_]"),
    ("^{a}$", r"^\{a\}$"),
    ("^]$", r"^\]$"),
    ("a{ 2, }", "a{2,}"),
    ("a++", "(?:a+)+"),
    ("(a|b){2}{3}", "(?:(a|b){2}){3}"),
    ("^*a", "(?:^)*a"),
    ("(?P<y>[0-9]{4})", "(?:[0-9]{4})"),
    (r"\Aab\z", "^ab$"),
    (r"\pL\p{Latin}", r"\p{L}\p{Script=Latin}"),
    (r"\x{41}\x{20ac}\cA\0", r"\x41\u20ac\x01\x00"),
]


@pytest.mark.parametrize("pattern", SAME)
def test_a_pattern_that_engines_share_is_not_changed(pattern):
    assert shared_form(pattern) == pattern
    Validator({"pattern": pattern})


@pytest.mark.parametrize(("pattern", "form"), CHANGED)
def test_a_pattern_that_only_some_compile_is_rewritten(pattern, form):
    assert shared_form(pattern) == form
    assert shared_form(form) == form
    Validator({"pattern": form})


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "(?i)abc",
            "(?>a)",
            r"\h",
            r"\R",
            r"\a",
            r"\012",
            r"(a)\1",
            "a{,5}",
            "*a",
            "(a",
            "a)",
            "[]",
        ),
        *(r"\p{IsL}", r"\uD83D", "[a", "[[:of:]]", "a\\"),
    ],
)
def test_a_pattern_without_such_a_form_has_none(pattern):
    assert shared_form(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "texts", "others"),
    [
        (r"^[\w-.]+$", ["a-.", "-"], ["+", ","]),
        ("^[a&&b]$", ["a", "&", "b"], [""]),
        ("^[]a]$", ["]", "a"], ["b", "a]"]),
        ("^{a}$", ["{a}"], ["a"]),
        (r"^\<a\>$", ["<a>"], ["a"]),
        ("^a{ 2 }$", ["aa"], ["a", "a{ 2 }"]),
    ],
)
def test_the_form_admits_what_the_pattern_means(pattern, texts, others):
    validator = Validator({"pattern": shared_form(pattern)})
    assert [validator.admits(each) for each in texts] == [True] * len(texts)
    assert not any(map(validator.admits, others))
