"""Texts with placeholders, and the URI templates of resources.

A placeholder is replaced once, by text that is not read again. There is no other syntax: braces
around anything else are text.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import Final
from urllib.parse import unquote_to_bytes

from gateway.contract.values.hidden import visible_text

_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z][A-Za-z0-9_]*(?:\.[a-z][a-z0-9_]*)?)\}")
_UNRESERVED: Final = r"[A-Za-z0-9._~-]"
_VALUE: Final = rf"((?:{_UNRESERVED}|%[0-9A-Fa-f]{{2}})+)"
"""What simple expansion makes of a value that is not empty (RFC 6570 section 3.2.2)."""
_ONLY_UNRESERVED: Final = re.compile(rf"(?:{_UNRESERVED}|%[0-9A-Fa-f]{{2}})*")
_PIECE: Final = re.compile(rf"{_PLACEHOLDER.pattern}|(%[0-9A-Fa-f]{{2}}|.)", re.DOTALL)
LONGEST_URI: Final = 2_048
"""Characters of a URI that is looked up."""


def placeholders(text: str) -> tuple[str, ...]:
    """The names in the placeholders of `text`, in their order."""
    return tuple(_PLACEHOLDER.findall(text))


def filled(text: str, values: Mapping[str, str]) -> str:
    """`text` with `values` in the place of its placeholders. Raises `KeyError` if one lacks."""
    return _PLACEHOLDER.sub(partial(_value, values), text)


def _value(values: Mapping[str, str], found: re.Match[str]) -> str:
    return values[found[1]]


def _pieces(text: str) -> list[str | None]:
    """The characters of a template, each variable as None and each percent-encoded byte as one."""
    return [found[2] for found in _PIECE.finditer(text)]


def _are_alike(one: str | None, other: str | None) -> bool:
    """Whether two pieces can be the same text."""
    if one is None or other is None:
        return all(each is None or _ONLY_UNRESERVED.fullmatch(each) for each in (one, other))
    return one == other


class UriTemplate:
    """A URI template of level 1 (RFC 6570): placeholders in a URI."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.variables = placeholders(text)
        literals = _PLACEHOLDER.split(text)[::2]
        self._pattern = re.compile(_VALUE.join(map(re.escape, literals)))
        self.is_clear = len(set(self.variables)) == len(self.variables) and not any(
            _ONLY_UNRESERVED.fullmatch(each) for each in literals[1:-1]
        )
        """Whether each URI has one reading: no variable twice, and between two of them a character
        that no value contains."""

    def meets(self, other: "UriTemplate") -> bool:
        """Whether one URI can be made by both, if their variables may have any value."""
        ours, theirs = _pieces(self.text), _pieces(other.text)
        waiting, known = [(0, 0)], {(0, 0)}
        while waiting:
            i, j = waiting.pop()
            if (i, j) == (len(ours), len(theirs)):
                return True
            if i == len(ours) or j == len(theirs) or not _are_alike(ours[i], theirs[j]):
                continue
            # A variable may take the next piece too, a literal may not.
            nexts = {(i + 1, j + 1)}
            nexts |= {(i, j + 1)} if ours[i] is None else set()
            nexts |= {(i + 1, j)} if theirs[j] is None else set()
            waiting += nexts - known
            known |= nexts
        return False

    def match(self, uri: str) -> dict[str, str] | None:
        """The values with which the template makes `uri`. None if it cannot make it.

        A value is any other text that was percent-encoded, also `/`, `..` and line feeds. A URI
        whose values have hidden characters, such as NUL, is none.
        """
        found = self._pattern.fullmatch(uri) if len(uri) <= LONGEST_URI else None
        if found is None:
            return None
        try:
            values = [unquote_to_bytes(each).decode() for each in found.groups()]
        except UnicodeDecodeError:
            return None
        if any(visible_text(each)[1] for each in values):
            return None
        return dict(zip(self.variables, values, strict=True))
