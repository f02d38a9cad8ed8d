"""Removes hidden characters from results: invisible ones, and those that control the display.

A person does not see text that is written in such characters, but a model reads it. Unicode's tag
characters can encode sentences, variation selectors and zero-width characters can encode bits,
bidirectional controls change the displayed order (Unicode TR 36 §3, TR 39), and ESC and U+009B
start terminal commands (ECMA-48 §5.3). Characters that a script needs are kept: tab and line feed,
the joiners of emoji, Indic scripts and Persian, and the tags of three flags.
"""

import re
import unicodedata
from typing import Any, Final

from gateway.contract.values import jsontext

_HIDDEN: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls other than tab and line feed
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
"""Any hidden character, also one that its script needs."""
_FOUND: Final = re.compile(f"{_FLAGS}|{HIDDEN.pattern}")
REPLACEMENT: Final = "\ufffd"
"""Replaces a character that cannot be shown (Unicode §3.9)."""
_BREAKS: Final = frozenset("\x0b\x0c\r\x85\u2028\u2029")
"""Line breaks. They are replaced with a line feed."""

# A superset of the same characters in JSON text: controls below U+0020 as escapes, all others as
# UTF-8. A text without a match has no hidden character; a text with a match is examined further.
# The first byte is searched first, because that is a hundred times faster than a pattern.
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
"""The combining class of signs that join consonants in Indic scripts (RFC 5892 Appendix A.1)."""


def may_hide(text: bytes) -> bool:
    """Whether the JSON `text` may contain a hidden character. False is certain, True is not.

    `text` is the output of `jsontext.encode`. For most results this fast search is enough.
    """
    if b"\x7f" in text or (b"\\" in text and _ESCAPED.search(text)):
        return True
    return not text.isascii() and any(
        lead in text and pattern.search(text) is not None for lead, pattern in _SUSPECTS
    )


def holds_hidden(value: Any) -> bool:
    """Whether `value`, which can be written as JSON, has a hidden character."""
    text = jsontext.encode(value)
    return may_hide(text) and visible(jsontext.decode(text))[1] > 0


def visible(value: Any, mark: str = "") -> tuple[Any, int]:
    """The JSON `value` with `mark` in place of each hidden character, and the number of those.

    This includes names of members. If a changed name equals another name, `REPLACEMENT` is added at
    its end, so that names without hidden characters stay unchanged.
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
    """`text` with `mark` in place of each hidden character, and the number of those."""
    if text.isascii() and text.isprintable():
        return text, 0
    count = 0

    def replaced(found: re.Match[str]) -> str:
        nonlocal count
        char = found[0]
        if len(char) > 1 or _belongs(text, found.start()):
            return char
        count += 1
        return "\n" if char in _BREAKS else mark

    return _FOUND.sub(replaced, text), count


def _visible_members(value: dict[str, Any], mark: str) -> tuple[dict[str, Any], int]:
    members: dict[str, Any] = {}
    total = 0
    for name, member in value.items():
        visible_name, of_name = visible_text(name, mark)
        while of_name and (visible_name in value or visible_name in members):
            visible_name += REPLACEMENT
        members[visible_name], of_member = visible(member, mark)
        total += of_name + of_member
    return members, total


def _belongs(text: str, index: int) -> bool:
    """Whether the script of its neighbours needs the hidden character at `index`."""
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
    """Whether `before` has a text and an emoji presentation (Unicode TR 51 §1.4.3)."""
    if before in _KEYCAPS:
        return after == _KEYCAP
    if before < "\u00a9":
        return False
    return before == "\u2139" or unicodedata.category(before) in {"So", "Sm", "Po", "Pd"}
