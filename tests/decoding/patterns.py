"""Texts that match a regular expression, drawn by walking its parse tree."""

import random
import re
import warnings
from re import _constants as names
from re import _parser as parser
from typing import Any

ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_. "


def matching(pattern: str, source: random.Random) -> str | None:
    """A text that probably matches `pattern`. None: the pattern is beyond this."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return _text(parser.parse(pattern), source)
    except (ValueError, KeyError, OverflowError, parser.error):
        return None


def is_match(pattern: str, text: str) -> bool:
    """Whether the short `text` matches `pattern`. False: also if the pattern is beyond this."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return re.search(pattern, text) is not None
    except (OverflowError, re.error):
        return False


def _text(tree: Any, source: random.Random) -> str:
    return "".join(_piece(kind, value, source) for kind, value in tree)


def _piece(kind: Any, value: Any, source: random.Random) -> str:
    match kind:
        case names.LITERAL:
            found = chr(value)
        case names.ANY:
            found = source.choice(ALPHABET)
        case names.IN | names.NOT_LITERAL:
            found = source.choice(_choices(value if kind is names.IN else _not(value)))
        case names.BRANCH:
            found = _text(source.choice(value[1]), source)
        case names.SUBPATTERN:
            found = _text(value[3], source)
        case names.MAX_REPEAT | names.MIN_REPEAT:
            least, most, inner = value
            count = source.randint(least, max(least, min(int(most), least + 4)))
            found = "".join(_text(inner, source) for _ in range(count))
        case names.AT | names.ASSERT | names.ASSERT_NOT:
            found = ""
        case _:
            raise ValueError(kind)
    return found


def _not(literal: int) -> Any:
    """The members of `[^x]`, which the parser shortens."""
    return [(names.NEGATE, None), (names.LITERAL, literal)]


def _choices(members: Any) -> str:
    if members[0][0] is names.NEGATE:
        excluded = _choices(members[1:])
        return "".join(each for each in ALPHABET if each not in excluded) or "x"
    found = ""
    for kind, value in members:
        if kind is names.LITERAL:
            found += chr(value)
        elif kind is names.RANGE:
            found += "".join(map(chr, range(value[0], min(value[1], value[0] + 100) + 1)))
        elif kind is names.CATEGORY:
            found += {
                names.CATEGORY_DIGIT: "0123456789",
                names.CATEGORY_WORD: "abcXYZ019_",
                names.CATEGORY_SPACE: " ",
                names.CATEGORY_NOT_SPACE: "abcXYZ019-",
                names.CATEGORY_NOT_DIGIT: "abcXYZ",
                names.CATEGORY_NOT_WORD: "-. ",
            }[value]
    return found
