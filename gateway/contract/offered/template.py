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

    def shape(self) -> str:
        """Equal for templates that match the same URIs."""
        return self._pattern.pattern

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
