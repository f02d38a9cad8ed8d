"""Finds the line on which each value of a JSON text begins. JSON decoders do not report it."""

import re
from collections.abc import Mapping
from json import JSONDecoder
from typing import Any, Final

from gateway.contract.values import jsontext
from gateway.contract.values.pointers import child

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_decoder = JSONDecoder(strict=False)


class JsonRefused(ValueError):
    """The text is not strict JSON."""

    def __init__(self, line: int, pointer: str, message: str) -> None:
        super().__init__(message)
        self.line = line
        """1-based."""
        self.pointer = pointer
        self.message = message


def decode(text: bytes) -> Any:
    """The value of `text`, by the same strict rules as requests. Raises `JsonRefused`."""
    try:
        return jsontext.decode(text, jsontext.CONTRACT)
    except jsontext.NotJson as error:
        raise _located(text, str(error)) from None


def lines_of(text: str) -> Mapping[str, int]:
    """The 1-based line of every JSON Pointer of the well-formed `text`."""
    scanner = _Scanner(text)
    scanner.value(0, "")
    return scanner.lines


def _located(text: bytes, message: str) -> JsonRefused:
    offset = re.search(r" \(byte (\d+)\)$", message)
    if offset:
        line = text.count(b"\n", 0, int(offset[1])) + 1
        return JsonRefused(line, "", message[: offset.start()])
    if "twice" in message:
        scanner = _Scanner(text.decode())
        scanner.value(0, "")
        line, pointer, name = scanner.repeated[0]
        return JsonRefused(line, pointer, f"{name!r} occurs twice in one object")
    return JsonRefused(1, "", message)


class _Scanner:
    """Scans a well-formed text once. Every method returns the offset after the part it scanned."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._line = 1
        self._counted_to = 0
        self.lines: dict[str, int] = {}
        self.repeated: list[tuple[int, str, str]] = []

    def value(self, at: int, pointer: str) -> int:
        at = self._skip(at)
        self.lines.setdefault(pointer, self._line_at(at))
        match self._text[at]:
            case "{":
                return self._object(at + 1, pointer)
            case "[":
                return self._array(at + 1, pointer)
            case _:
                return _decoder.raw_decode(self._text, at)[1]

    def _object(self, at: int, pointer: str) -> int:
        at = self._skip(at)
        while self._text[at] == '"':
            line = self._line_at(at)
            name, at = _decoder.raw_decode(self._text, at)
            below = child(pointer, name)
            if below in self.lines:
                self.repeated.append((line, below, name))
            self.lines[below] = line
            at = self._skip(self.value(self._skip(at) + 1, below))
            if self._text[at] == ",":
                at = self._skip(at + 1)
        return at + 1

    def _array(self, at: int, pointer: str) -> int:
        at, index = self._skip(at), 0
        while self._text[at] != "]":
            at = self._skip(self.value(at, child(pointer, index)))
            index += 1
            if self._text[at] == ",":
                at = self._skip(at + 1)
        return at + 1

    def _skip(self, at: int) -> int:
        blank = _BLANK.match(self._text, at)
        return blank.end() if blank else at

    def _line_at(self, at: int) -> int:
        self._line += self._text.count("\n", self._counted_to, at)
        self._counted_to = at
        return self._line
