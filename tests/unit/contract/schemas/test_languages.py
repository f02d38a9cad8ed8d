"""Texts between patterns: each answer is held to the validator, which runs the patterns itself."""

import re
from random import Random
from typing import Any, Final

import pytest
from msgspec.structs import replace

from gateway.contract.schemas.flattening import NoSample, Steps
from gateway.contract.schemas.languages import Automaton, NoAutomaton, Texts, shortest
from gateway.contract.schemas.scalars import _FORMS
from gateway.contract.values.schema import Validator, matcher
from tests.unit.tables import each_of

CLASSES: Final = [
    *(".", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", "[^a]", r"[^\s]", r"[\w-]", r"[^\w.]", "[a-]"),
    *(r"\x41", r"\u00e9", r"\u{1F600}", r"\.", r"\t", r"\-", "}", "]", "[-a]", "[a-cx-z]", "[+--]"),
    *(r"\p{L}", r"\P{Lu}", r"[\p{Greek}1]", r"[^\pN]"),
]
EDGES: Final = [*range(0x3100), 0xD7FF, 0xE000, 0xFEFE, 0xFEFF, 0xFFFF, 0x1F600, 0x10FFFF]


def holds(pattern: str, value: str) -> bool:
    matches = matcher(pattern)
    assert matches is not None
    return matches(value)


def between(wanted: Any, unwanted: Any = (), **more: Any) -> str | None:
    texts = Texts(wanted=frozenset(wanted), unwanted=frozenset(unwanted))
    return shortest(replace(texts, **more), Steps(200_000))


@each_of("pattern", CLASSES)
def test_a_class_holds_the_characters_that_the_validator_takes(pattern: str) -> None:
    automaton, work = Automaton(f"^{pattern}$"), Steps()
    start = automaton.closed(automaton.first, is_start=True, work=work)
    for code in EDGES:
        after = automaton.closed(automaton.after(start, code), is_start=False, work=work)
        assert after.is_matched_at_end == holds(f"^{pattern}$", chr(code)), hex(code)
        work.left = 200_000


@pytest.mark.parametrize(
    "pattern",
    [
        r"\p{No}x(?=a)",
        r"\p{Nothing}",
        r"\ba",
        r"a\B",
        "(?=a)b",
        "[a&&b]",
        "[[a]]",
        r"\cA",
        "(",
        r"(a)\1",
    ],
)
def test_what_is_read_otherwise_is_not_decided(pattern: str) -> None:
    with pytest.raises(NoAutomaton):
        Automaton(pattern)


def test_categories_are_told_apart() -> None:
    assert between([r"^\p{Lu}+$"], [r"^\p{L}+$"]) is None
    found = between([r"^\p{L}{2}$"], ["^[a-z]+$", "^[A-Z]"])
    assert found is not None
    assert holds(r"^\p{L}{2}$", found)
    assert between([r"^[\p{L}\p{M}]$"], [r"\p{L}"], least=1) is not None


ATOMS: Final = ("a", "b", "ab", "[ab]", "[^a]", ".", "(a|b)", "(ab|)", "c?", "^", "$", "(^a|b$)")
COUNTS: Final = ("", "", "*", "+", "?", "{2}", "{0,2}", "{1,}", "{0}", "+?")


def drawn(random: Random) -> str:
    parts = [random.choice(ATOMS) + random.choice(COUNTS) for _ in range(random.randint(1, 4))]
    pattern = "".join(parts).replace("^*", "^").replace("$*", "$")
    pattern = re.sub(r"([\^$])([*+?]|\{[\d,]*\})\??", r"\1", pattern.replace("[^a]", "[#]"))
    pattern = pattern.replace("[#]", "[^a]")
    return f"{pattern}|{random.choice(ATOMS)}" if random.random() < 0.2 else pattern


def test_random_patterns_are_decided_as_the_validator_matches() -> None:
    random = Random(30)  # noqa: S311 - repeatable by design
    short = ["", *"abc\n", *(x + y for x in "abc\n" for y in "abc\n")]
    short += [x + y for x in short[5:] for y in ("a", "b", "ca")]
    decided = 0
    for _ in range(300):
        one, other = drawn(random), drawn(random)
        found = between([one], [other])
        shown = [each for each in short if holds(one, each) and not holds(other, each)]
        if found is None:
            assert shown == [], (one, other)
        else:
            assert holds(one, found), (one, other, found)
            assert not holds(other, found), (one, other, found)
            assert len(found) <= min(map(len, shown), default=99), (one, other)
        decided += 1
    assert decided == 300


@each_of(
    "wanted, unwanted, more, expected",
    [
        (["^[A-Z]{4}$"], ["^[A-Z]{3,4}$"], {}, None),
        (["^[A-Z]{3,4}$"], ["^[A-Z]{4}$"], {}, "AAA"),
        (["^.{1,1999}$"], ["^.{1,2000}$"], {}, None),
        (["^.{1,2000}$"], ["^.{1,1999}$"], {}, "a" * 2000),
        (["a", "b"], ["ab"], {}, "ba"),
        ([], ["a"], {"least": 3}, "bbb"),
        (["^a*$"], [], {"least": 300, "most": 299}, None),
        (["^[a-c]$"], [], {"excluded": frozenset("ac")}, "b"),
        (["^[a-c]$"], [], {"excluded": frozenset("abc")}, None),
        (["^(a|b)$"], [], {"excluded": frozenset(["a", "ab", "b"])}, None),
        (["[^ ]"], [], {"least": 100_000, "most": 100_000}, "a" * 100_000),
        (["^[A-Z]*$"], ["B"], {"least": 5_000}, "A" * 5_000),
        (["a$b"], [], {}, None),
        (["^$|^a"], ["^$"], {}, "a"),
    ],
)
def test_the_shortest_text_is_found(wanted: Any, unwanted: Any, more: Any, expected: Any) -> None:
    assert between(wanted, unwanted, **more) == expected


def test_a_search_ends_after_its_steps() -> None:
    hostile = Texts(wanted=frozenset(["^(a|b)*a(a|b){60}$"]), least=500)
    with pytest.raises(NoSample):
        shortest(replace(hostile, unwanted=frozenset(["^(a|b)*b(a|b){50}c$"])), Steps(20_000))


FORMATTED: Final = {
    "date": ["2026-12-01", "0000-01-01"],
    "date-time": [
        "2026-12-01T15:00:00Z",
        "2026-12-01t15:00:00.123z",
        "2026-12-01 15:00:00Z",
        "2026-12-01T15:00:00,5Z",
        "2016-12-31T23:59:60Z",
    ],
    "time": ["10:00:00Z", "10:00:00.1+01:00", "10:00Z", "10:00:00"],
    "uuid": ["123e4567-e89b-42d3-a456-426614174000", "123E4567-E89B-42D3-A456-426614174000"],
    "ipv4": ["1.2.3.4", "255.255.255.255", "01.2.3.4", "1.2.3"],
    "ipv6": ["::", "::1", "2001:db8::1", "::ffff:192.0.2.128", "fe80::1%eth0"],
    "email": [
        *("a@b.co", '"a b"@b.co', "a@[192.0.2.1]", "a@[IPv6:::1]", "a.b@c", "a..b@c", "a@b_c"),
        *('"\\""@b', "!#$%&'*+/=?^_`{|}~-@b", "A <a@b>", f"a@{'b' * 63}", "a@-b", "a@1", ".a@b"),
    ],
    "uri": ["http://a.b/c?d#e", "a:", "A+b.-1:x", "urn:x:y", "//a/b", "/x", "\u00e9:a", "a b:c"],
    "iri": ["http://\u00e9.b/c", "a:", "\u00e9:x", "a1:\u00e9"],
    "uri-reference": ["", "a", "#x", "?q", "//[::1]", "/\u00e9", "a b"],
    "hostname": ["a.b", "a", "a.", "xn--maana-pta", "a_b", "1.2.3.4", "-a", "\u00e9.b", "A.B"],
    "idn-email": ["a@b", "\u00e9@\u00e9", "a", '"a@b"@c', "a@[192.0.2.1]"],
    "json-pointer": ["", "/", "/a/~0", "/a~1b", "a", "#/a"],
    "relative-json-pointer": ["0", "1/a", "0#", "01", "2/", "10#", "#"],
    "duration": ["P1D", "PT1H", "P1W", "P1Y2M3DT4H5M6S", "PT0.5S", "P"],
}


@each_of("name", sorted(_FORMS))
def test_a_text_of_a_format_has_its_form(name: str) -> None:
    gate = Validator({"format": name})
    admitted = [each for each in FORMATTED[name] if gate.admits(each)]
    assert admitted
    assert [each for each in admitted if not holds(_FORMS[name], each)] == []
