"""Shortens descriptions: vendors' Markdown and HTML become text, which ends with a sentence."""

import re
from typing import Final

TOOL_CHARACTERS: Final = 600
"""The most characters of a tool's description in the mode `slim`."""
MEMBER_CHARACTERS: Final = 300
"""The same for each description inside a schema."""
_READ: Final = 20
"""Of a longer description, only this many times its limit is read."""
_LINK: Final = re.compile(r"!?\[([^\[\]\n]*)\]\((?:https?://|/|#)[^()\s]*\)")
_TAG: Final = re.compile(
    r"</?(?:a|b|br|code|div|em|i|li|ol|p|span|strong|ul)(?:\s[^<>]{0,2000})?/?>", re.IGNORECASE
)
_BLANK: Final = re.compile(r"[ \t]*\n\s*\n\s*")
_SENTENCE: Final = re.compile(r"[.!?][\"')\]`]*(?=\s)")


def shortened(text: str, limit: int) -> str:
    """`text` without the targets of links and without HTML tags, of at most `limit` characters.

    A longer text ends with its last whole paragraph or sentence, or else with a word and `…`. A
    text without links and tags that is not longer than `limit` is returned unchanged.
    """
    read = text[: limit * _READ]
    if "](" in read:
        read = _LINK.sub(r"\1", read)
    if "<" in read:
        read = _TAG.sub("", read)
    if read is not text:
        read = read.strip()
    return read if len(read) <= limit else _cut(read, limit)


def _cut(text: str, limit: int) -> str:
    """The longest beginning of whole sentences, at least a third of `limit`; else of words."""
    kept = _BLANK.sub("\n\n", text)[: limit + 1]
    paragraph = kept.rfind("\n\n", 0, limit + 1)
    sentences = [found.end() for found in _SENTENCE.finditer(kept) if found.end() <= limit]
    end = max([paragraph, *sentences[-1:]])
    if end * 3 >= limit:
        return kept[:end].rstrip()
    word = kept.rfind(" ", 0, limit)
    return f"{kept[: word if word > 0 else limit - 1].rstrip()}…"
