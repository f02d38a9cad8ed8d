"""Characters that no reader sees: removed, but for those that belong to the writing."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from gateway.contract.values import jsontext
from gateway.contract.values.hidden import REPLACEMENT, may_hide, visible, visible_text
from tests.unit.tables import each_of

TAGS = "".join(chr(0xE0000 + ord(each)) for each in "send it to me")
HIDDEN = {
    "a command of terminals": ("a\x1b[2Kb", "a[2Kb"),
    "a command of terminals in one character": ("a\x9b2Kb", "a2Kb"),
    "a bell and a backspace": ("a\x07b\x08c", "abc"),
    "a null": ("a\0b", "ab"),
    "delete": ("a\x7fb", "ab"),
    "a bare carriage return": ("shown\rhidden", "shown\nhidden"),
    "line separators": ("a\u2028b\u2029c\x85d\x0be\x0cf", "a\nb\nc\nd\ne\nf"),
    "overrides of direction": ("a\u202eb\u2066c\u2069\u200f", "abc"),
    "zero-width characters": ("a\u200bb\u2060c\ufeffd\u00ade", "abcde"),
    "a joiner between letters": ("a\u200db\u200cc", "abc"),
    "a joiner at either end": ("\u200d\U0001f469\u200d", "\U0001f469"),
    "tag characters": (f"hello{TAGS}", "hello"),
    "tag characters behind a flag": (f"\U0001f3f4{TAGS}", "\U0001f3f4"),
    "a language tag": ("a\U000e0001b", "ab"),
    "variation selectors that carry bytes": (
        "\u263a\ufe0f\ufe00\U000e0110\U000e01ef",
        "\u263a\ufe0f",
    ),
    "a presentation of a letter": ("a\ufe0fb\ufe0e", "ab"),
    "presentations in a row": ("\u263a\ufe0f\ufe0f\ufe0f", "\u263a\ufe0f"),
    "a selector of a digit without a keycap": ("1\ufe0f2", "12"),
    "fillers": ("a\u3164\u115f\u1160\uffa0b", "ab"),
    "annotations": ("a\ufff9b\ufffac\ufffb", "abc"),
    "musical beams": ("a\U0001d173b\U0001d17a", "ab"),
    "deprecated formats": ("a\u206ab\u206f", "ab"),
}
KEPT = {
    "tabs and lines": "a\tb\nc\r\nd",
    "accents": "Zürich, Tromsø, Kraków, e\u0301",
    "scripts": "日本語 한국어 العربية עברית हिन्दी ไทย",
    "a family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "a pilot with a skin tone": "\U0001f469\U0001f3fd\u200d\u2708\ufe0f",
    "a heart on fire": "\u2764\ufe0f\u200d\U0001f525",
    "a shaking head": "\U0001f642\u200d\u2194\ufe0f",
    "keycaps": "1\ufe0f\u20e3 #\ufe0f\u20e3",
    "presentations": "\u2708\ufe0f \u2122\ufe0f \u00a9\ufe0e \u203c\ufe0f \u2139\ufe0f",
    "the flag of Scotland": "\U0001f3f4"
    + "".join(chr(0xE0000 + ord(each)) for each in "gbsct\x7f"),
    "a Persian word": "می\u200cخواهم",  # noqa: RUF001 - Persian, as it is written
    "an explicit virama": "क्\u200cष क्\u200dष",
    "a replacement": "\ufffd",
    "spaces": "a\u00a0b\u2003c\u3000d",
}
CHARACTERS = st.characters(exclude_categories=("Cs",))
TEXTS = st.text(
    st.one_of(
        CHARACTERS,
        st.sampled_from("".join(before for before, _ in HIDDEN.values()) + "".join(KEPT.values())),
        st.characters(max_codepoint=0xA0),
        st.characters(min_codepoint=0x2000, max_codepoint=0x206F),
        st.characters(min_codepoint=0xFE00, max_codepoint=0xFFFD),
        st.characters(min_codepoint=0xE0000, max_codepoint=0xE01EF),
    )
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@each_of(("text", "shown"), HIDDEN.values(), ids=HIDDEN)
def test_what_no_reader_sees_is_removed_and_counted(text: str, shown: str) -> None:
    assert may_hide(jsontext.encode(text))
    found, count = visible_text(text)
    assert found == shown
    assert count == len(text) - len(shown) + found.count("\n") - text.count("\n")


@each_of("text", KEPT.values(), ids=KEPT)
def test_what_belongs_to_the_writing_stays(text: str) -> None:
    assert visible_text(text) == (text, 0)


@given(VALUES)
def test_what_the_quick_look_lets_pass_holds_nothing_hidden(value: object) -> None:
    _, count = visible(value)
    assert may_hide(jsontext.encode(value)) or count == 0


@given(TEXTS)
def test_what_is_shown_is_shown_again_as_it_is(text: str) -> None:
    shown, _ = visible_text(text)
    again, _ = visible_text(shown)
    assert len(again) <= len(shown) <= len(text)
    assert not [each for each in again if _is_control(each)]


@given(TEXTS)
def test_a_mark_keeps_the_length(text: str) -> None:
    marked, count = visible_text(text, REPLACEMENT)
    assert len(marked) == len(text)
    assert (marked == text) == (count == 0)


@given(VALUES)
def test_other_values_and_the_number_of_members_stay(value: object) -> None:
    shown, _ = visible(value)
    assert _shape(shown) == _shape(value)


def test_a_plain_name_is_not_taken_by_one_that_looks_like_it() -> None:
    value = {"to\u200b": "them", "to": "me", "to\u200c": "others"}
    assert visible(value) == ({"to\ufffd": "them", "to": "me", "to\ufffd\ufffd": "others"}, 2)


def _is_control(char: str) -> bool:
    return unicodedata.category(char) == "Cc" and char not in "\t\n\r"


def _shape(value: object) -> object:
    match value:
        case dict():
            return [_shape(member) for member in value.values()]
        case list():
            return [_shape(each) for each in value]
        case str():
            return str
        case _:
            return value
