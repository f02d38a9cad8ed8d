"""Characters that a reader does not see or that steer what shows the text: removed from results.

A person who looks at a reply does not see what such characters say; a model that reads it does.
Unicode's tag characters spell whole sentences invisibly, variation selectors and zero-width
characters carry bits, bidirectional controls reorder what is shown (Unicode TR 36 §3, TR 39), and
ESC and U+009B begin the commands of terminals (ECMA-48 §5.3). What belongs to the writing itself
stays: tab and line feed, the joiners of emoji, of Indic scripts and of Persian, the three flags
that are spelt with tags.
"""

import re
import unicodedata
from typing import Any, Final

_HIDDEN: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tab and line feed
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_FLAGS: Final = "|".join(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(each)) for each in name) + "\U000e007f"
    for name in ("gbeng", "gbsct", "gbwls")
)
"""The subdivision flags that are recommended for interchange (Unicode TR 51 §C.1)."""
HIDDEN: Final = re.compile(f"[{_HIDDEN}]")
"""Any of them, also where it belongs to the writing."""
_FOUND: Final = re.compile(f"{_FLAGS}|{HIDDEN.pattern}")
REPLACEMENT: Final = "\ufffd"
"""Stands for a character that cannot be shown (Unicode §3.9)."""
_BREAKS: Final = frozenset("\x0b\x0c\r\x85\u2028\u2029")
"""They end a line; a line feed takes their place."""

# The same characters as JSON text holds them, controls below U+0020 escaped and all else in UTF-8,
# and some more: what is found here is looked at, what is not found holds none of them. By their
# first bytes, because finding a byte is a hundred times faster than matching a pattern.
_ESCAPED: Final = re.compile(rb"\\(?:[bf]|u00|r(?!\\n))")
_SUSPECTS: Final = tuple(
    (bytes([lead]), re.compile(re.escape(bytes([lead])) + rest))
    for lead, rest in (
        (0xC2, rb"[\x80-\x9f\xad]"),
        (0xCD, rb"\x8f"),
        (0xD8, rb"\x9c"),
        (0xE1, rb"(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5]|\xa0[\x8b-\x8f])"),
        (0xE2, rb"(?:\x80[\x8b-\x8f\xa8-\xae]|\x81[\xa0-\xaf])"),
        (0xE3, rb"(?:\x85\xa4)"),
        (0xEF, rb"(?:\xb8[\x80-\x8f]|\xbb\xbf|\xbe\xa0|\xbf[\xb0-\xbb])"),
        (0xF0, rb"(?:\x9b\xb2[\xa0-\xa3]|\x9d\x85[\xb3-\xba])"),
        (0xF3, rb"\xa0"),
    )
)

_KEYCAPS: Final = frozenset("0123456789#*")
_KEYCAP: Final = "\u20e3"
_VIRAMA: Final = 9
"""The combining class of what joins consonants in Indic scripts (RFC 5892 Appendix A.1)."""


def may_hide(text: bytes) -> bool:
    """Whether the JSON `text` may hold a hidden character. Never False when it does.

    `text` is what `jsontext.encode` writes. Most results are settled here, in one look at bytes.
    """
    if b"\x7f" in text or (b"\\" in text and _ESCAPED.search(text)):
        return True
    return not text.isascii() and any(
        lead in text and pattern.search(text) is not None for lead, pattern in _SUSPECTS
    )


def visible(value: Any, mark: str = "") -> tuple[Any, int]:
    """The JSON `value` with `mark` for each hidden character, and how many there were.

    Names of members count like values. One that would then be the name of another member gets a
    `REPLACEMENT` at its end: a plain name stays whose it is.
    """
    match value:
        case str():
            return visible_text(value, mark)
        case list():
            pairs = [visible(each, mark) for each in value]
            return [each for each, _ in pairs], sum(count for _, count in pairs)
        case dict():
            return _visible_members(value, mark)
        case _:
            return value, 0


def visible_text(text: str, mark: str = "") -> tuple[str, int]:
    """The same of one text."""
    if text.isascii() and text.isprintable():
        return text, 0
    count = 0

    def shown(found: re.Match[str]) -> str:
        nonlocal count
        char = found[0]
        if len(char) > 1 or _belongs(text, found.start()):
            return char
        count += 1
        return "\n" if char in _BREAKS else mark

    return _FOUND.sub(shown, text), count


def _visible_members(value: dict[str, Any], mark: str) -> tuple[dict[str, Any], int]:
    members: dict[str, Any] = {}
    total = 0
    for name, member in value.items():
        shown, of_name = visible_text(name, mark)
        while of_name and (shown in value or shown in members):
            shown += REPLACEMENT
        members[shown], of_member = visible(member, mark)
        total += of_name + of_member
    return members, total


def _belongs(text: str, index: int) -> bool:
    """Whether the hidden character at `index` is part of how its neighbours are written."""
    char, before, after = text[index], text[index - 1 : index], text[index + 1 : index + 2]
    match char:
        case "\r":
            return after == "\n"
        case "\u200d":
            return _joins_emoji(before, after) or _follows_virama(before)
        case "\u200c":
            return _follows_virama(before) or (_is_arabic(before) and _is_arabic(after))
        case "\ufe0e" | "\ufe0f":
            return _has_presentations(before, after)
        case _:
            return False


def _joins_emoji(before: str, after: str) -> bool:
    """Unicode TR 51 §1.4.6: an emoji, a presentation selector or a skin tone, then an emoji."""
    is_ended = before == "\ufe0f" or "\U0001f3fb" <= before <= "\U0001f3ff" or _is_emoji(before)
    return is_ended and _is_emoji(after)


def _is_emoji(char: str) -> bool:
    return char in {"\u2194", "\u2195"} or (char != "" and unicodedata.category(char) == "So")


def _follows_virama(before: str) -> bool:
    return before != "" and unicodedata.combining(before) == _VIRAMA


def _is_arabic(char: str) -> bool:
    is_within = "\u0600" <= char <= "\u06ff" or "\u0750" <= char <= "\u077f"
    return is_within and unicodedata.category(char) in {"Lo", "Mn"}


def _has_presentations(before: str, after: str) -> bool:
    """Whether `before` can be shown as text and as emoji (Unicode TR 51 §1.4.3)."""
    if before in _KEYCAPS:
        return after == _KEYCAP
    if before < "\u00a9":
        return False
    return before == "\u2139" or unicodedata.category(before) in {"So", "Sm", "Po", "Pd"}
