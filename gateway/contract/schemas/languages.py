"""Decides whether a text has a length, matches some patterns and does not match others.

Each pattern is run as an automaton whose states are made when they are reached: a state is the set
of what may still follow, so `{0,2000}` is not written out. The product of all automata is searched
from the empty text on, so the first text found is a shortest one, and a search that ends without
one is a proof that there is none.

Patterns search in the text, as ECMA-262 does with the flag `u`, and as the validator does.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from gateway.contract.schemas.flattening import NoSample, Steps
from gateway.contract.schemas.strings import (
    DIGITS,
    WORDS,
    Branches,
    Characters,
    Node,
    Parser,
    Ranges,
    Repeat,
    Sequence,
    without,
)
from gateway.contract.values.schema import matcher

WHOLE: Final[Ranges] = ((0, 0xD7FF), (0xE000, 0x10FFFF))
"""All characters that JSON text may contain: no half of a surrogate pair."""
_LINE_END: Final[Ranges] = ((10, 10),)
"""What `.` does not match. ECMA-262 names three more, but the validator is what decides."""
_SPACES: Final[Ranges] = (
    *((9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A)),
    *((0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
)
"""ECMA-262 §12.2 and §12.3."""
_CLASSES: Final = {"d": DIGITS, "w": WORDS, "s": _SPACES}
_READABLE: Final = (
    *((0x61, 0x7A), (0x41, 0x5A), (0x30, 0x39), (0x2D, 0x2D), (0x20, 0x7E)),
    *((0xC0, 0x24F), (0x370, 0x3FF), (0x20, 0xD7FF)),
)
"""From which ranges a character is chosen, the first one that has one."""


class NoAutomaton(Exception):
    """The pattern is not one that can be decided."""


class Anchor(Struct, frozen=True):
    """The start of the text, `^`, or its end, `$`."""

    is_end: bool


class _ExactParser(Parser):
    """Reads a pattern with all its characters and anchors. Raises `NoSample` where it cannot."""

    def _any(self) -> Ranges:
        return without(_LINE_END, WHOLE)

    def _anchor(self, one: str) -> Node:
        return Anchor(one == "$")  # type: ignore[return-value]  # a node of this module only

    def _position(self) -> bool:
        if super()._position():
            raise NoSample("the pattern has a position that is not supported")
        return False

    def _escape(self) -> Ranges:
        if self.next == "c":
            raise NoSample("the pattern has a control character by its letter")
        return super()._escape()

    def _category(self, category: re.Match[str]) -> Ranges:
        return _category(f"\\{category[0]}")

    def _named(self, name: str) -> Ranges:
        ranges = _CLASSES[name.lower()]
        return ranges if name.islower() else without(ranges, WHOLE)

    def _negated(self, ranges: Ranges) -> Ranges:
        return without(ranges, WHOLE)

    def _member(self) -> Ranges:
        # The validator's engine has operators on classes, which ECMA-262 reads otherwise.
        if self.next == "[" or any(self._text.startswith(each, self._at) for each in _OPERATORS):
            raise NoSample("the class has an operator")
        return super()._member()


@lru_cache(maxsize=100)
def _category(escape: str) -> Ranges:
    """The characters of a category, such as `\\p{L}`: all that the validator's table has.

    It takes a third of a second, once.
    """
    admits = matcher(f"^{escape}$")
    if admits is None:
        raise NoSample(f"the category {escape} is not known")
    found: list[tuple[int, int]] = []
    for low, high in WHOLE:
        for code in range(low, high + 1):
            if admits(chr(code)):
                is_next = found and found[-1][1] == code - 1
                found[-1:] = [(found[-1][0], code)] if is_next else [*found[-1:], (code, code)]
    return tuple(found)


_OPERATORS: Final = ("&&", "--", "~~")
_Rest: TypeAlias = "tuple[Node | Anchor, _Rest] | None"
"""What has to follow, as a linked list."""
_State: TypeAlias = frozenset[int] | None
"""The numbers of all that may follow. None: the pattern has matched, whatever follows."""
_MAX_MOVES: Final = 2_000


class _Closed(Struct, frozen=True):
    """A state with all that may follow without a character."""

    is_matched: bool
    """Already matched."""
    is_matched_at_end: bool
    moves: Mapping[Ranges, frozenset[int]]
    """What follows a character of these ranges."""


@lru_cache(maxsize=500)
def _parsed(pattern: str) -> Node:
    if matcher(pattern) is None:
        raise NoAutomaton("the validator cannot compile the pattern")
    try:
        parser = _ExactParser(pattern)
        found = parser.branches(depth=0)
    except NoSample as error:
        raise NoAutomaton(str(error)) from error
    if not parser.is_over:
        raise NoAutomaton("the pattern cannot be read")
    return found


def _opened(node: Node | Anchor, following: _Rest, *, is_start: bool) -> Iterator[_Rest]:
    """What has to follow instead of `node`, which is no character, and then `following`."""
    match node:
        case Anchor(is_end):
            if is_end or is_start:
                yield following
        case Sequence(parts):
            for part in reversed(parts):
                following = (part, following)
            yield following
        case Branches(options):
            yield from ((option, following) for option in options)
        case Repeat():
            yield from _repeated(node, following)


def _repeated(node: Repeat, following: _Rest) -> Iterator[_Rest]:
    if node.least == 0:
        yield following
    if node.most is None or node.most > 0:
        left = None if node.most is None else node.most - 1
        again = Repeat(node.part, max(0, node.least - 1), left)
        yield (node.part, following if left == 0 else (again, following))


class Automaton:
    """One pattern. What may follow is numbered when it is first reached."""

    def __init__(self, pattern: str) -> None:
        """Raises `NoAutomaton`."""
        self._rests: list[_Rest] = [(_parsed(pattern), None)]
        self._numbers = {self._rests[0]: 0}
        self._parts: dict[tuple[int, bool], _Closed] = {}
        self._known: dict[tuple[_State, bool], _Closed] = {}

    @property
    def first(self) -> _State:
        """The state before the first character."""
        return frozenset([0])

    def closed(self, state: _State, *, is_start: bool, work: Steps) -> _Closed:
        """What may follow in a state."""
        if state is None:
            return _Closed(True, True, {})
        key = (state, is_start)
        if key not in self._known:
            # A search may begin at each character.
            parts = [self._part(each, is_start, work) for each in sorted({*state, 0})]
            work.spend(len(parts))
            moves: dict[Ranges, frozenset[int]] = {}
            for part in parts:
                for ranges, rests in part.moves.items():
                    moves[ranges] = moves.get(ranges, frozenset()) | rests
            self._known[key] = _Closed(
                any(each.is_matched for each in parts),
                any(each.is_matched_at_end for each in parts),
                moves,
            )
        return self._known[key]

    def _part(self, number: int, is_start: bool, work: Steps) -> _Closed:
        """What one rest may read next. States share their rests."""
        key = (number, is_start)
        if key not in self._parts:
            self._parts[key] = self._read(self._rests[number], is_start, work)
        return self._parts[key]

    def _read(self, start: _Rest, is_start: bool, work: Steps) -> _Closed:
        waiting: list[tuple[_Rest, bool]] = [(start, False)]
        seen = set(waiting)
        moves: dict[Ranges, frozenset[int]] = {}
        is_matched = is_matched_at_end = False
        while waiting:
            rest, is_over = waiting.pop()
            work.spend(1)
            if rest is None:
                is_matched_at_end = True
                is_matched = is_matched or not is_over
                continue
            node, following = rest
            if isinstance(node, Characters):
                if not is_over and node.ranges:
                    before = moves.get(node.ranges, frozenset())
                    moves[node.ranges] = before | {self._number(following)}
                continue
            for after in _opened(node, following, is_start=is_start):
                ended = is_over or (isinstance(node, Anchor) and node.is_end)
                if (after, ended) not in seen:
                    seen.add((after, ended))
                    waiting.append((after, ended))
        return _Closed(is_matched, is_matched_at_end, moves)

    def _number(self, rest: _Rest) -> int:
        if rest not in self._numbers:
            self._numbers[rest] = len(self._rests)
            self._rests.append(rest)
        return self._numbers[rest]

    def after(self, closed: _Closed, code: int) -> _State:
        """The state after a character."""
        if closed.is_matched:
            return None
        held = [rests for ranges, rests in closed.moves.items() if _holds(ranges, code)]
        return frozenset().union(*held)


def _holds(ranges: Ranges, code: int) -> bool:
    return any(low <= code <= high for low, high in ranges)


class Texts(Struct, frozen=True):
    """Texts that have a length, match the patterns `wanted`, and none of `unwanted`."""

    least: int = 0
    most: int | None = None
    wanted: frozenset[str] = frozenset()
    unwanted: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()
    """Texts that are not meant."""


_Product: TypeAlias = tuple[tuple[_State, ...], int, frozenset[str]]
"""A state of each automaton, how many of the least characters there are, the rests of the excluded
texts."""


def shortest(texts: Texts, work: Steps) -> str | None:
    """A shortest one of `texts`, or None if there is none.

    Raises `NoAutomaton` if a pattern is not supported, `NoSample` if it takes too many steps.
    """
    if texts.most is not None and texts.least > texts.most:
        return None
    if texts.wanted & texts.unwanted:
        return None
    if texts in _answers:
        found, steps = _answers[texts]
        work.spend(steps)  # So an answer does not depend on what was asked before.
        return found
    left = work.left
    search = _Search(texts, work)
    found = (_padded(texts, work) or search.of_least()) if texts.least > _LONG else None
    found = search.found() if found is None else found
    if len(_answers) >= _MAX_ANSWERS:
        _answers.clear()
    _answers[texts] = found, left - work.left
    return found


_answers: Final[dict[Texts, tuple[str | None, int]]] = {}
"""Answers, with the steps that they took: the members of a project share their patterns."""
_MAX_ANSWERS: Final = 5_000
_LONG: Final = 200
"""Texts of more characters are first made of a shorter one."""
_MAX_LENGTH: Final = 10_000_000


def _padded(texts: Texts, work: Steps) -> str | None:
    """A shortest text made longer by one character again and again, if that is one of `texts`."""
    first = _Search(replace(texts, least=0, most=None), work).found()
    missing = texts.least - len(first or "")
    if first is None or not 0 < missing < _MAX_LENGTH:
        return None
    for character in ("a", "A", "0"):
        for found in (first + character * missing, character * missing + first):
            work.spend(1 + missing // 1_000)
            if found not in texts.excluded and all(
                (matches := matcher(pattern)) is not None and matches(found) == is_wanted
                for patterns, is_wanted in ((texts.wanted, True), (texts.unwanted, False))
                for pattern in patterns
            ):
                return found
    return None


class _Search:
    """A search in the product of the automata."""

    def __init__(self, texts: Texts, work: Steps) -> None:
        self._texts = texts
        self._work = work
        self._patterns = [*sorted(texts.wanted), *sorted(texts.unwanted)]
        self._automata = [Automaton(each) for each in self._patterns]
        self._places: dict[tuple[tuple[_State, ...], frozenset[str], bool], _Place] = {}
        self._classes: dict[frozenset[Ranges], tuple[int, ...]] = {}
        self._first: _Product = (
            tuple(each.first for each in self._automata),
            0,
            frozenset(texts.excluded),
        )

    def found(self) -> str | None:
        """A shortest text. A state is first reached by the fewest characters: it is left once."""
        # Each state with the one before it and the character between them.
        before: dict[_Product, tuple[_Product, int] | None] = {self._first: None}
        waiting = deque([(self._first, 0)])
        while waiting:
            state, length = waiting.popleft()
            self._work.spend(1)
            place = self._place(state[0], state[2], is_start=length == 0)
            if place.is_accepted and length >= self._texts.least:
                return _text(before, state)
            if self._texts.most is not None and length >= self._texts.most:
                continue
            for code, states, rests in place.moves:
                after = (states, min(length + 1, self._texts.least), rests)
                if after not in before:
                    before[after] = (state, code)
                    waiting.append((after, length + 1))
        return None

    def of_least(self) -> str | None:
        """A text of just the least characters, searched for in depth: few states are reached."""
        before: dict[_Product, tuple[_Product, int] | None] = {self._first: None}
        waiting = [self._first]
        while waiting:
            state = waiting.pop()
            self._work.spend(1)
            place = self._place(state[0], state[2], is_start=state[1] == 0)
            if state[1] == self._texts.least:
                if place.is_accepted:
                    return _text(before, state)
                continue
            for code, states, rests in reversed(place.moves):
                after = (states, state[1] + 1, rests)
                if after not in before:
                    before[after] = (state, code)
                    waiting.append(after)
        return None

    def _place(
        self, states: tuple[_State, ...], rests: frozenset[str], *, is_start: bool
    ) -> "_Place":
        """What a state means, whatever the count of characters."""
        key = (states, rests, is_start)
        if key not in self._places:
            closed = self._closed(states, is_start=is_start)
            moves = (self._after(closed, rests, code) for code in self._codes(closed, rests))
            self._places[key] = _Place(
                self._accepts(closed, rests), tuple(each for each in moves if each is not None)
            )
        return self._places[key]

    def _closed(self, states: tuple[_State, ...], *, is_start: bool) -> list[_Closed]:
        self._work.spend(1 + len(states))
        return [
            automaton.closed(each, is_start=is_start, work=self._work)
            for automaton, each in zip(self._automata, states, strict=True)
        ]

    def _accepts(self, closed: list[_Closed], rests: frozenset[str]) -> bool:
        split = len(self._texts.wanted)
        return (
            all(each.is_matched_at_end for each in closed[:split])
            and not any(each.is_matched_at_end for each in closed[split:])
            and "" not in rests
        )

    def _codes(self, closed: list[_Closed], rests: frozenset[str]) -> tuple[int, ...]:
        """One character of each class of characters that lead to the same states."""
        split = len(self._texts.wanted)
        if any(not (each.moves or each.is_matched_at_end) for each in closed[:split]):
            return ()  # A wanted pattern cannot match any more.
        used = {ranges for each in closed if not each.is_matched for ranges in each.moves}
        used |= {((ord(each[0]), ord(each[0])),) for each in rests if each}
        if len(used) > _MAX_MOVES:
            raise NoSample("the patterns have too many classes of characters")
        key = frozenset(used)
        if key not in self._classes:
            self._classes[key] = tuple(sorted(self._representatives(used), key=_rank))
        return self._classes[key]

    def _representatives(self, used: set[Ranges]) -> Iterable[int]:
        points = {WHOLE[0][0], WHOLE[0][1] + 1, WHOLE[1][0], WHOLE[1][1] + 1}
        points |= {point for ranges in used for low, high in ranges for point in (low, high + 1)}
        chosen: dict[frozenset[int], int] = {}
        listed = list(used)
        for low, end in pairwise(sorted(points)):
            if not _holds(WHOLE, low):
                continue
            self._work.spend(1 + len(listed))
            inside = frozenset(n for n, ranges in enumerate(listed) if _holds(ranges, low))
            best = _readable(low, end - 1)
            if inside not in chosen or _rank(best) < _rank(chosen[inside]):
                chosen[inside] = best
        return chosen.values()

    def _after(self, closed: list[_Closed], rests: frozenset[str], code: int) -> "_Move | None":
        states = tuple(
            automaton.after(each, code)
            for automaton, each in zip(self._automata, closed, strict=True)
        )
        if any(each is None for each in states[len(self._texts.wanted) :]):
            return None  # An unwanted pattern has matched for good.
        return code, states, frozenset(each[1:] for each in rests if each.startswith(chr(code)))


_Move: TypeAlias = tuple[int, tuple[_State, ...], frozenset[str]]
"""A character and where it leads."""


class _Place(Struct, frozen=True):
    """A state of the product without the count of characters."""

    is_accepted: bool
    moves: tuple[_Move, ...]


def _text(before: dict[_Product, tuple[_Product, int] | None], state: _Product) -> str:
    codes: list[int] = []
    step = before[state]
    while step is not None:
        codes.append(step[1])
        step = before[step[0]]
    return "".join(map(chr, reversed(codes)))


def _readable(low: int, high: int) -> int:
    for first, last in _READABLE:
        if max(low, first) <= min(high, last):
            return max(low, first)
    return low


def _rank(code: int) -> tuple[int, int]:
    for number, (first, last) in enumerate(_READABLE):
        if first <= code <= last:
            return number, code
    return len(_READABLE), code
