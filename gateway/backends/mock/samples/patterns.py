"""Makes texts that match a regular expression."""

from functools import lru_cache
from random import Random
from typing import Final

from gateway.backends.mock.samples.classes import VISIBLE
from gateway.backends.mock.samples.errors import NoSample, Steps
from gateway.backends.mock.samples.expression import (
    Branches,
    Characters,
    Node,
    Repeat,
    Sequence,
    parse,
)

MAX_LENGTH: Final = 10_000
_SPREAD: Final = 3
"""How many more repetitions than needed a sample has at most, if nothing wants it to be longer."""

_parsed = lru_cache(maxsize=1000)(parse)


def matching(pattern: str, random: Random, work: Steps, least: int = 0) -> str:
    """A text that `pattern` matches. It tends to have `least` characters.

    Raises `NoSample` for a pattern that is not supported, and beyond `MAX_LENGTH` characters
    or the steps of `work`.
    """
    made = _Text(random, work, least)
    made.add(_parsed(pattern))
    return "".join(made.characters)


class _Text:
    """A text that grows."""

    def __init__(self, random: Random, work: Steps, least: int) -> None:
        self.characters: list[str] = []
        self._random = random
        self._work = work
        self._least = least

    def add(self, node: Node) -> None:
        """Append a text that `node` matches."""
        # Repeated parts without a character make no text, but take as long.
        self._work.spend(1)
        match node:
            case Characters():
                self._add_one(node)
            case Sequence(parts):
                for part in parts:
                    self.add(part)
            case Branches(options):
                self.add(self._random.choice(options))
            case Repeat():
                self._add_repeated(node)

    def _add_one(self, node: Characters) -> None:
        if not node.ranges or len(self.characters) >= MAX_LENGTH:
            raise NoSample("the pattern matches no text, or only long ones")
        visible = [each for each in node.ranges if VISIBLE[0][0] <= each[0] <= VISIBLE[0][1]]
        low, high = self._random.choice(visible or node.ranges)
        self.characters.append(chr(self._random.randint(low, high)))

    def _add_repeated(self, node: Repeat) -> None:
        wanted = max(self._least - len(self.characters), node.least + _SPREAD)
        most = wanted if node.most is None else min(node.most, wanted)
        count = self._random.randint(node.least, max(node.least, most))
        if wanted > node.least + _SPREAD and self._random.random() < 0.5:
            count = max(node.least, most)
        if count > MAX_LENGTH:
            raise NoSample("the pattern matches only long texts")
        for _ in range(count):
            self.add(node.part)
