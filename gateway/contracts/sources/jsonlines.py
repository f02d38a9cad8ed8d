"""Finds the lines of JSON's values when they are asked for."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from json import JSONDecoder
from typing import Final

from gateway.contract.values.pointers import child, steps

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_decoder = JSONDecoder(strict=False)


class JsonLines:
    """Finds lines in a well-formed text. Each object is scanned once, when it is first passed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._members: dict[int, dict[str, tuple[int, int]]] = {}

    def line_of(self, pointer: str) -> int:
        """The 1-based line of `pointer`. If nothing is there, the line of the nearest parent."""
        named_at = at = self._skip(0)
        for step in steps(pointer):
            if at not in self._members:
                self._members[at] = dict(self._scan(at))
            found = self._members[at].get(step)
            if found is None:
                break
            named_at, at = found
        return self._line_at(named_at)

    def repeated(self) -> Iterator[tuple[int, str, str]]:
        """The line, pointer and name of each member whose object has the name before it."""
        return self._repeated(self._skip(0), "")

    def _repeated(self, at: int, pointer: str) -> Iterator[tuple[int, str, str]]:
        known: set[str] = set()
        for name, (named_at, value_at) in self._scan(at):
            below = child(pointer, name)
            if name in known:
                yield self._line_at(named_at), below, name
            known.add(name)
            yield from self._repeated(value_at, below)

    def _line_at(self, at: int) -> int:
        return bisect_right(self._line_ends, at) + 1

    @cached_property
    def _line_ends(self) -> list[int]:
        return [found.start() for found in re.finditer("\n", self._text)]

    def _scan(self, at: int) -> list[tuple[str, tuple[int, int]]]:
        """Each member of the value at `at`: where its name and where its value begin."""
        found: list[tuple[str, tuple[int, int]]] = []
        is_object = self._text[at] == "{"
        if not is_object and self._text[at] != "[":
            return found
        at = self._skip(at + 1)
        while self._text[at] not in "]}":
            named_at, name = at, str(len(found))
            if is_object:
                name, at = _decoder.raw_decode(self._text, at)
                at = self._skip(self._skip(at) + 1)
            found.append((name, (named_at, at)))
            at = self._skip(_decoder.raw_decode(self._text, at)[1])
            if self._text[at] == ",":
                at = self._skip(at + 1)
        return found

    def _skip(self, at: int) -> int:
        blank = _BLANK.match(self._text, at)
        return blank.end() if blank else at
