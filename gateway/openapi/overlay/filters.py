"""Filters of JSONPath queries (RFC 9535 §2.3.5): comparisons and tests of relative paths."""

import re
from typing import Any, Final, Protocol

from msgspec import Struct

from gateway.openapi.overlay.scanner import Scanner

_OPERATORS: Final = ("==", "!=", "<=", ">=", "<", ">")
_NAME: Final = re.compile(r"[A-Za-z_][0-9A-Za-z_-]*")
_WORD: Final = re.compile(r"true|false|null")
_WORDS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}
_MAX_DEPTH: Final = 20


class _Nothing:
    """The value of a path that leads nowhere."""


_NOTHING: Final = _Nothing()


class Condition(Protocol):
    """A condition on a member or an item."""

    def holds(self, value: Any) -> bool:
        """Whether the condition holds for `value`."""
        ...


class Relative(Struct, frozen=True):
    """A path from the current value: `@.name[0]`. As a condition: whether something is there."""

    steps: tuple[str | int, ...]

    def value(self, current: Any) -> Any:
        """The value there, or `_NOTHING`."""
        for step in self.steps:
            if not _has(current, step):
                return _NOTHING
            current = current[step]
        return current

    def holds(self, value: Any) -> bool:
        return self.value(value) is not _NOTHING


class FixedValue(Struct, frozen=True):
    """A text, a number, true, false or null."""

    content: Any

    def value(self, _: Any) -> Any:
        return self.content


Operand = Relative | FixedValue


class Comparison(Struct, frozen=True):
    """Compares two values."""

    left: Operand
    operator: str
    right: Operand

    def holds(self, value: Any) -> bool:
        left, right = self.left.value(value), self.right.value(value)
        match self.operator:
            case "==":
                return _equal(left, right)
            case "!=":
                return not _equal(left, right)
            case "<":
                return _less(left, right)
            case ">":
                return _less(right, left)
            case "<=":
                return _less(left, right) or _equal(left, right)
        return _less(right, left) or _equal(left, right)


class Not(Struct, frozen=True):
    """The opposite of a condition."""

    condition: Any

    def holds(self, value: Any) -> bool:
        return not self.condition.holds(value)


class Every(Struct, frozen=True):
    """Whether all conditions hold."""

    conditions: tuple[Any, ...]

    def holds(self, value: Any) -> bool:
        return all(each.holds(value) for each in self.conditions)


class Either(Struct, frozen=True):
    """Whether one of the conditions holds."""

    conditions: tuple[Any, ...]

    def holds(self, value: Any) -> bool:
        return any(each.holds(value) for each in self.conditions)


class FilterParser:
    """Parses the condition after `?`. Raises `BadQuery`."""

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner
        self._depth = 0

    def condition(self) -> Condition:
        """One or more conditions, joined with `||` and `&&`."""
        found = [self._every()]
        while self._take("||"):
            found.append(self._every())
        return found[0] if len(found) == 1 else Either(tuple(found))

    def _every(self) -> Condition:
        found = [self._basic()]
        while self._take("&&"):
            found.append(self._basic())
        return found[0] if len(found) == 1 else Every(tuple(found))

    def _basic(self) -> Condition:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._scanner.wrong("the condition is nested too deep")
        try:
            return self._negated()
        finally:
            self._depth -= 1

    def _negated(self) -> Condition:
        if self._take("!"):
            return Not(self._basic())
        if self._take("("):
            found = self.condition()
            if not self._take(")"):
                raise self._scanner.wrong("')' is expected")
            return found
        left = self._operand()
        for operator in _OPERATORS:
            if self._take(operator):
                return Comparison(left, operator, self._operand())
        if isinstance(left, FixedValue):
            raise self._scanner.wrong("a comparison is expected")
        return left

    def _operand(self) -> Operand:
        scanner = self._scanner
        scanner.skip_blanks()
        if scanner.take("@"):
            return Relative(tuple(self._steps()))
        if scanner.take("$"):
            raise scanner.wrong("paths from the root are not supported in a filter")
        text = scanner.text()
        if text is not None:
            return FixedValue(text)
        word = scanner.match(_WORD)
        if word is not None:
            return FixedValue(_WORDS[word])
        number = scanner.number()
        if number is None:
            raise scanner.wrong("@, a text, a number, true, false or null is expected")
        return FixedValue(number)

    def _steps(self) -> list[str | int]:
        scanner = self._scanner
        steps: list[str | int] = []
        while True:
            if scanner.take("["):
                step = scanner.text()
                found = scanner.integer() if step is None else step
                if found is None:
                    raise scanner.wrong("a quoted name or an index is expected")
                scanner.expect("]")
                steps.append(found)
            elif scanner.take("."):
                name = scanner.match(_NAME)
                if name is None:
                    raise scanner.wrong("a name is expected")
                steps.append(name)
            else:
                return steps

    def _take(self, expected: str) -> bool:
        self._scanner.skip_blanks()
        return self._scanner.take(expected)


def _has(value: Any, step: str | int) -> bool:
    if isinstance(step, str):
        return isinstance(value, dict) and step in value
    return isinstance(value, list) and -len(value) <= step < len(value)


def _equal(left: Any, right: Any) -> bool:
    # In Python, True == 1.
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def _less(left: Any, right: Any) -> bool:
    numbers = all(isinstance(e, int | float) and not isinstance(e, bool) for e in (left, right))
    texts = isinstance(left, str) and isinstance(right, str)
    return bool(left < right) if numbers or texts else False
