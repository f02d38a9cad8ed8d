"""Criteria of workflows: simple conditions, regular expressions and JSONPath queries."""

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.authoring.openapi.overlay import BadQuery, Looks, find_places, parse_query
from gateway.authoring.workflows.expressions import (
    NoValue,
    Source,
    Values,
    embedded,
    parse_source,
    replaced,
)
from gateway.contract.values.schema import Validator

Kind = Literal["simple", "regex", "jsonpath"]

_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<sign>&&|\|\||==|!=|<=|>=|[<>!()])
    |'(?P<text>(?:[^']|'')*)'
    |(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.])
    |(?P<word>true|false|null)(?!\w)
    |(?P<source>\$[^\s()&|=!<>]+))""",
    re.VERBOSE,
)
_WORDS: Final = {"true": True, "false": False, "null": None}
_ORDERS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MAX_DEPTH: Final = 32
_IN_QUOTES: Final = re.compile(r"""["']\{\$""")


class BadCondition(ValueError):
    """A condition that cannot be read, and what to write."""


class Literally(Struct, frozen=True):
    """A value that the condition names."""

    value: Any


Operand = Source | Literally


class Comparison(Struct, frozen=True):
    """`left sign right`. Without a sign, `left` is true or false."""

    left: Operand
    sign: str | None = None
    right: Operand | None = None


class Combined(Struct, frozen=True):
    """`!`, `&&` or `||` of conditions."""

    sign: str
    parts: tuple["Condition", ...]


Condition = Comparison | Combined


class Criterion(Struct, frozen=True, kw_only=True):
    """A condition that has been read, and where it stands."""

    pointer: str
    text: str
    kind: Kind
    context: Source | None = None
    condition: Condition | None = None
    """Of the kind `simple`."""

    def sources(self) -> Iterator[Source]:
        """What it reads."""
        if self.context is not None:
            yield self.context
        if self.condition is not None:
            yield from sources_of(self.condition)
        for each in embedded(self.text) if self.kind == "jsonpath" else ():
            if source := parse_source(each):
                yield source

    def holds(self, state: Values) -> bool:
        """Whether it is met. Raises `NoValue`, and `BadCondition` for values of other types."""
        if self.condition is not None:
            return holds(self.condition, state)
        value = None if self.context is None else self.context.read(state)
        if self.kind == "regex":
            text = value if isinstance(value, str) else json.dumps(value)
            return not Validator({"pattern": self.text}).violations(text)
        try:
            query = parse_query(replaced(self.text, state, json.dumps))
            return bool(find_places(query, value, Looks()))
        except BadQuery as error:
            raise BadCondition(str(error)) from None


def criterion(pointer: str, written: Mapping[str, Any]) -> Criterion:
    """The criterion that an author wrote. Raises `BadCondition`."""
    kind: Kind = written.get("type", "simple")
    text: str = written["condition"]
    context = _context(kind, written.get("context"))
    if kind == "simple":
        return Criterion(pointer=pointer, text=text, kind=kind, condition=parse_condition(text))
    if kind == "regex":
        _check_pattern(text)
    else:
        _check_query(text)
    return Criterion(pointer=pointer, text=text, kind=kind, context=context)


def _context(kind: Kind, written: str | None) -> Source | None:
    if kind == "simple":
        if written is not None:
            raise BadCondition("a simple condition has no context: name the values in it")
        return None
    source = None if written is None else parse_source(written)
    if source is None:
        raise BadCondition(f"{kind} needs a context, such as $response.body#/items")
    return source


def _check_pattern(text: str) -> None:
    try:
        Validator({"pattern": text})
    except ValueError as error:
        raise BadCondition(f"not a pattern: {error}") from None


def _check_query(text: str) -> None:
    if _IN_QUOTES.search(text):
        raise BadCondition("write {$…} without quotes around it: its value is put in as a literal")
    for each in embedded(text):
        if parse_source(each) is None:
            raise BadCondition(f"{each} is not an expression of workflows")
    try:
        parse_query(re.sub(r"\{\$[^{}]+\}", '""', text))
    except BadQuery as error:
        raise BadCondition(str(error)) from None


def parse_condition(text: str) -> Condition:
    """The parsed simple condition. Raises `BadCondition`."""
    reader = _Reader(text)
    found = reader.any_of(0)
    if reader.sign() is not None or reader.rest():
        raise BadCondition(f"cannot be read from {reader.rest()[:40]!r}")
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def rest(self) -> str:
        return self._text[self._at :].strip()

    def sign(self, *wanted: str) -> str | None:
        """The sign that is next, if it is one of `wanted`, which is then taken. Without any, the
        next sign, which stays."""
        found = _TOKEN.match(self._text, self._at)
        sign = found["sign"] if found else None
        if found and sign in wanted:
            self._at = found.end()
        return sign if not wanted or sign in wanted else None

    def any_of(self, depth: int) -> Condition:
        return self._joined("||", lambda: self._joined("&&", lambda: self._one(depth)))

    def _joined(self, sign: str, part: Callable[[], Condition]) -> Condition:
        parts = [part()]
        while self.sign(sign):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Combined(sign, tuple(parts))

    def _one(self, depth: int) -> Condition:
        if depth > _MAX_DEPTH:
            raise BadCondition("is nested too deeply")
        if self.sign("!"):
            return Combined("!", (self._one(depth + 1),))
        if self.sign("("):
            inner = self.any_of(depth + 1)
            if not self.sign(")"):
                raise BadCondition("a parenthesis is not closed")
            return inner
        left = self._operand()
        if (sign := self.sign("==", "!=", *_ORDERS)) is None:
            return Comparison(left)
        return Comparison(left, sign, self._operand())

    def _operand(self) -> Operand:
        found = _TOKEN.match(self._text, self._at)
        if found is None or found["sign"]:
            raise BadCondition(f"a value is missing before {self.rest()[:40]!r}")
        self._at = found.end()
        if (text := found["text"]) is not None:
            return Literally(text.replace("''", "'"))
        if found["number"]:
            return Literally(json.loads(found["number"]))
        if found["word"]:
            return Literally(_WORDS[found["word"]])
        source = parse_source(found["source"])
        if source is None:
            raise BadCondition(f"{found['source']} is not an expression of workflows")
        return source


def sources_of(condition: Condition) -> Iterator[Source]:
    """What a condition reads, in its order."""
    if isinstance(condition, Combined):
        for part in condition.parts:
            yield from sources_of(part)
    else:
        yield from (e for e in (condition.left, condition.right) if isinstance(e, Source))


def holds(condition: Condition, state: Values) -> bool:
    """Whether it is met. Raises `NoValue`, and `BadCondition` for values that have no order."""
    match condition:
        case Combined("!", (part,)):
            return not holds(part, state)
        case Combined("&&", parts):
            return all(holds(part, state) for part in parts)
        case Combined(_, parts):
            return any(holds(part, state) for part in parts)
        case Comparison(left, str(sign), Source() | Literally() as right):
            return _compared(sign, _value(left, state), _value(right, state))
        case Comparison(left, _, _):
            return _is_true(_value(left, state))


def _is_true(value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadCondition("a value alone is neither true nor false: compare it")
    return value


def _compared(sign: str, left: Any, right: Any) -> bool:
    left, right = _folded(left), _folded(right)
    if sign in {"==", "!="}:
        return _are_equal(left, right) is (sign == "==")
    if not (_are_numbers(left, right) or (isinstance(left, str) and isinstance(right, str))):
        raise BadCondition(f"only two numbers or two texts can be compared by {sign}")
    return _ORDERS[sign](left, right)


def _folded(value: Any) -> Any:
    """Arazzo compares texts without regard to case."""
    return value.casefold() if isinstance(value, str) else value


def _are_equal(left: Any, right: Any) -> bool:
    """As JSON: true is not 1, and 1.0 is 1."""
    return bool(left == right) and isinstance(left, bool) is isinstance(right, bool)


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(e, int | float) and not isinstance(e, bool) for e in values)


def _value(operand: Operand, state: Values) -> Any:
    return operand.read(state) if isinstance(operand, Source) else operand.value


__all__ = ["BadCondition", "Criterion", "NoValue", "criterion", "parse_condition"]
