"""Reads the parts of a JSONPath query: blanks, texts, numbers and fixed characters."""

import json
import re
from typing import Final

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,15}")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,15})?(?:[eE][+-]?[0-9]{1,3})?")
_TEXT: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")


class BadQuery(ValueError):
    """The text is not a JSONPath query that the gateway supports."""

    def __init__(self, position: int, message: str) -> None:
        super().__init__(f"character {position + 1}: {message}")


class Scanner:
    """A position in the text of a query."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def is_at_end(self) -> bool:
        return self._at >= len(self._text)

    def skip_blanks(self) -> None:
        self.match(_BLANK)

    def take(self, expected: str) -> bool:
        """Whether the text continues with `expected`, which is then skipped."""
        if not self._text.startswith(expected, self._at):
            return False
        self._at += len(expected)
        return True

    def expect(self, expected: str) -> None:
        """Skip `expected`. Raises `BadQuery` if the text continues otherwise."""
        if not self.take(expected):
            raise self.wrong(f"{expected!r} is expected")

    def match(self, pattern: re.Pattern[str]) -> str | None:
        """What `pattern` matches here, which is skipped. None if it does not match."""
        found = pattern.match(self._text, self._at)
        if found is None:
            return None
        self._at = found.end()
        return found[0]

    def text(self) -> str | None:
        """The quoted text here. None if there is none."""
        found = self.match(_TEXT)
        if found is None:
            return None
        inner = found[1:-1]
        if found[0] == "'":
            inner = inner.replace("\\'", "'").replace('"', '\\"')
        try:
            return str(json.loads(f'"{inner}"'))
        except ValueError:
            raise self.wrong("a text has a wrong escape") from None

    def integer(self) -> int | None:
        """The integer here. None if there is none."""
        found = self.match(_INTEGER)
        return None if found is None else int(found)

    def number(self) -> float | int | None:
        """The number here. None if there is none."""
        found = self.match(_NUMBER)
        return None if found is None else json.loads(found)

    def wrong(self, message: str) -> BadQuery:
        """The error that the text is wrong here."""
        return BadQuery(self._at, message)
