"""Extracts text from untrusted HTML."""

import html
import re
from collections.abc import Iterator
from typing import Final

_TAG: Final = re.compile(r"/?([A-Za-z][A-Za-z0-9]*)")
_SPACES: Final = re.compile(r"[ \t\r\n\f]+")
_SPACES_AT_LINE_END: Final = re.compile(r" ?\n ?")
_MANY_LINE_ENDS: Final = re.compile(r"\n{3,}")
_WITHOUT_TEXT: Final = {
    name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style", "title")
}
"""Elements whose content is not text of the document, with their end tags."""
_BLOCKS: Final = re.compile(
    "address|article|blockquote|br|dd|div|dl|dt|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol"
    "|p|pre|section|table|tr|ul"
)


def html_text(source: str) -> str:
    """The visible text, with one line per block.

    It takes one pass from left to right. An element that is not closed ends the text, so that no
    input is searched twice.
    """
    text = html.unescape("".join(_texts(source))).replace("\u00a0", " ")
    lines = _SPACES_AT_LINE_END.sub("\n", text)
    return _MANY_LINE_ENDS.sub("\n\n", lines).strip()


def _texts(source: str) -> Iterator[str]:
    """The texts between tags, with collapsed spaces and a line break around each block."""
    at = 0
    while (start := source.find("<", at)) >= 0:
        yield _SPACES.sub(" ", source[at:start])
        tag = _TAG.match(source, start + 1)
        if tag is None and not source.startswith(("!", "?"), start + 1):
            yield "<"
            at = start + 1
            continue
        name = tag[1].lower() if tag else ""
        if _BLOCKS.fullmatch(name):
            yield "\n"
        at = _end(source, start, name)
        if at < 0:
            return
    yield _SPACES.sub(" ", source[at:])


def _end(source: str, start: int, name: str) -> int:
    """The index after the tag or comment at `start`; -1 if it is not closed."""
    if source.startswith("<!--", start):
        closed = source.find("-->", start + 4)
        return closed + 3 if closed >= 0 else -1
    closed = source.find(">", start)
    if closed < 0 or name not in _WITHOUT_TEXT or source[start + 1] == "/":
        return closed + 1 if closed >= 0 else -1
    end = _WITHOUT_TEXT[name].search(source, closed)
    return end.start() if end else -1
