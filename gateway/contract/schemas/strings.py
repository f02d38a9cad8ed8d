"""Makes texts of a length, a format and patterns.

Parses the regular expressions of schemas, so that matching texts can be made.

The syntax is what the linear engine of the validator and ECMA-262 have in common: no look-around
and no back-references.
"""

import base64
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from random import Random
from typing import Any, Final, TypeAlias
from uuid import UUID

from msgspec import Struct

from gateway.contract.schemas.flattening import NoSample, Steps
from gateway.contract.values.schema import matcher

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""The first and the last code point of each range."""


def _ranges(*pairs: str) -> Ranges:
    return tuple((ord(pair[0]), ord(pair[-1])) for pair in pairs)


DIGITS: Final = _ranges("09")
WORDS: Final = _ranges("az", "AZ", "09", "_")
SPACES: Final = _ranges(" ")
VISIBLE: Final = ((0x20, 0x7E),)
"""The characters of which negated classes and `.` are sampled: printable ASCII."""
CATEGORIES: Final[Mapping[str, Ranges]] = {
    "L": _ranges("az", "AZ"),
    "Letter": _ranges("az", "AZ"),
    "Lu": _ranges("AZ"),
    "Ll": _ranges("az"),
    "N": DIGITS,
    "Nd": DIGITS,
    "P": _ranges("!#", "%*", ",/", ":;"),
    "Z": SPACES,
    "Zs": SPACES,
    "ASCII": VISIBLE,
    "Alphabetic": _ranges("az", "AZ"),
}
"""Unicode categories, `\\p{…}`, limited to ASCII."""


def without(excluded: Iterable[tuple[int, int]], whole: Ranges = VISIBLE) -> Ranges:
    """The part of `whole` that is in none of the excluded ranges."""
    left: list[tuple[int, int]] = list(whole)
    for low, high in excluded:
        cut: list[tuple[int, int]] = []
        for first, last in left:
            before, after = (first, min(last, low - 1)), (max(first, high + 1), last)
            cut += [each for each in dict.fromkeys((before, after)) if each[0] <= each[1]]
        left = cut
    return tuple(left)


ESCAPED: Final[Mapping[str, Ranges]] = {
    "d": DIGITS,
    "w": WORDS,
    "s": SPACES,
    "D": without(DIGITS),
    "W": without(WORDS),
    "S": without(SPACES),
}
"""The classes with a one-letter escape."""


_MAX_DEPTH: Final = 50
_GROUP: Final = re.compile(r"\?(?::|P?<[A-Za-z_]\w*>)")
_COUNT: Final = re.compile(r"\{(\d{1,6})(?:(,)(\d{1,6})?)?\}")
_CODE: Final = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|[xu]\{([0-9A-Fa-f]{1,6})\}")
_CATEGORY: Final = re.compile(r"([pP])(?:\{\^?(?:\w+=)?(\w+)\}|(\w))")
_CONTROLS: Final[Mapping[str, str]] = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_EMPTY: Final = "bBAzZ"
"""Escapes that match a position."""


class Characters(Struct, frozen=True):
    """One character of these ranges."""

    ranges: Ranges


class Sequence(Struct, frozen=True):
    """The parts, one after the other."""

    parts: "tuple[Node, ...]" = ()


class Branches(Struct, frozen=True):
    """One of the options."""

    options: "tuple[Node, ...]"


class Repeat(Struct, frozen=True):
    """The part, so many times. Without `most` there is no upper limit."""

    part: "Node"
    least: int
    most: int | None


Node: TypeAlias = Characters | Sequence | Branches | Repeat


def parse(pattern: str) -> Node:
    """The parsed expression. Raises `NoSample` for syntax that is not supported."""
    parser = Parser(pattern)
    found = parser.branches(depth=0)
    if not parser.is_over:
        raise NoSample(f"the pattern has an unexpected {parser.next!r}")
    return found


class Parser:
    """A recursive descent over one pattern.

    Positions, such as `^`, are left out, and characters are limited to those that samples have.
    """

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0

    @property
    def is_over(self) -> bool:
        return self._at >= len(self._text)

    @property
    def next(self) -> str:
        return self._text[self._at : self._at + 1]

    def branches(self, depth: int) -> Node:
        if depth > _MAX_DEPTH:
            raise NoSample("the pattern is nested too deeply")
        options = [self._sequence(depth)]
        while self._takes("|"):
            options.append(self._sequence(depth))
        return options[0] if len(options) == 1 else Branches(tuple(options))

    def _takes(self, text: str) -> bool:
        found = self._text.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found

    def _one(self) -> str:
        if self.is_over:
            raise NoSample("the pattern ends too early")
        self._at += 1
        return self._text[self._at - 1]

    def _match(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        found = expression.match(self._text, self._at)
        self._at += 0 if found is None else len(found[0])
        return found

    def _sequence(self, depth: int) -> Node:
        parts: list[Node] = []
        while not self.is_over and self.next not in "|)":
            parts.append(self._repeated(self._atom(depth)))
        return Sequence(tuple(parts))

    def _repeated(self, part: Node) -> Node:
        for _ in range(_MAX_DEPTH):
            if self._takes("*"):
                part = Repeat(part, 0, None)
            elif self._takes("+"):
                part = Repeat(part, 1, None)
            elif self._takes("?"):
                part = Repeat(part, 0, 1)
            elif (count := self._match(_COUNT)) is not None:
                least = int(count[1])
                most = int(count[3]) if count[3] else None if count[2] else least
                part = Repeat(part, least, most)
            else:
                return part
            # A lazy or possessive quantifier matches the same texts.
            _ = self._takes("?") or self._takes("+")
        raise NoSample("the pattern is repeated too often")

    def _atom(self, depth: int) -> Node:
        one = self._one()
        match one:
            case "(":
                return self._group(depth)
            case "[":
                return Characters(self._class())
            case ".":
                return Characters(self._any())
            case "^" | "$":
                return self._anchor(one)
            case "\\":
                return Sequence() if self.next and self._position() else Characters(self._escape())
            case _:
                return Characters(((ord(one), ord(one)),))

    def _any(self) -> Ranges:
        return VISIBLE

    def _anchor(self, _: str) -> Node:
        return Sequence()

    def _position(self) -> bool:
        is_position = self.next in _EMPTY
        self._at += is_position
        return is_position

    def _group(self, depth: int) -> Node:
        if self.next == "?" and self._match(_GROUP) is None:
            raise NoSample("the pattern has a look-around or a flag")
        found = self.branches(depth + 1)
        if not self._takes(")"):
            raise NoSample("the pattern has an open group")
        return found

    def _escape(self) -> Ranges:
        if (code := self._match(_CODE)) is not None:
            point = int(code[1] or code[2] or code[3], 16)
            return ((point, point),)
        if (category := self._match(_CATEGORY)) is not None:
            return self._category(category)
        one = self._one()
        if one in ESCAPED:
            return self._named(one)
        if one.isdigit() and one != "0":
            raise NoSample("the pattern has a back-reference")
        point = ord(_CONTROLS.get(one, "\0" if one == "0" else one))
        return ((point, point),)

    def _category(self, category: re.Match[str]) -> Ranges:
        ranges = CATEGORIES.get(category[2] or category[3])
        if ranges is None:
            raise NoSample("the pattern has a category that is not supported")
        return ranges if category[1] == "p" else without(ranges)

    def _named(self, name: str) -> Ranges:
        return ESCAPED[name]

    def _negated(self, ranges: Ranges) -> Ranges:
        return without(ranges)

    def _class(self) -> Ranges:
        is_negated = self._takes("^")
        ranges: list[tuple[int, int]] = []
        while not self._takes("]"):
            ranges += self._range()
        return self._negated(tuple(ranges)) if is_negated else tuple(ranges)

    def _range(self) -> Ranges:
        first = self._member()
        is_one = len(first) == 1 and first[0][0] == first[0][1]
        if not (is_one and self.next == "-" and self._text[self._at + 1 : self._at + 2] != "]"):
            return first
        self._one()
        last = self._member()
        return ((first[0][0], last[0][1]),)

    def _member(self) -> Ranges:
        one = self._one()
        if one == "[" and self.next == ":":
            raise NoSample("the pattern has a class that is not supported")
        if one != "\\":
            return ((ord(one), ord(one)),)
        if self._takes("b"):
            return ((8, 8),)
        return self._escape()


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


_WORDS: Final = (
    *("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbor", "island", "juniper"),
    *("kelp", "lagoon", "maple", "north", "ocean", "prairie", "quartz", "river", "slate", "tundra"),
)
_TRIES: Final = 30


def text(schema: Mapping[str, Any], random: Random, work: Steps) -> str:
    """A text of the schema. Raises `NoSample`. `pattern` and `format` are lists here.

    A pattern that the validator cannot compile is left to the validator of the whole value.
    """
    least = schema.get("minLength", 0)
    most = max(schema.get("maxLength", MAX_LENGTH), 0)
    patterns = [each for each in map(matcher, schema.get("pattern", ())) if each is not None]
    if least > min(most, MAX_LENGTH):
        raise NoSample("no text has such a length")
    for _ in range(_TRIES):
        found = _candidate(schema, random, work, least, most)
        work.spend(1 + len(found) * (1 + len(patterns)))
        if least <= len(found) <= most and all(each(found) for each in patterns):
            return found
    raise NoSample("no text was found that matches the pattern and has the length")


def _candidate(
    schema: Mapping[str, Any], random: Random, work: Steps, least: int, most: int
) -> str:
    patterns = schema.get("pattern", ())
    makers: list[Callable[[], str]] = [
        partial(_FORMATS[name], random) for name in schema.get("format", ()) if name in _FORMATS
    ]
    makers += [partial(matching, each, random, work, least) for each in patterns]
    if len(patterns) > 1:
        # Patterns without anchors may match the parts of one text.
        makers.append(lambda: "".join(matching(each, random, work) for each in patterns))
    if makers:
        return random.choice(makers)()
    found = _encoded(schema, _words(random, least))
    return found if len(found) <= most else found[:most]


def _words(random: Random, least: int) -> str:
    found = random.choice(_WORDS)
    while len(found) < least:
        found += f" {random.choice(_WORDS)}"
    return found[: max(least, len(found.partition(" ")[0]))]


def _encoded(schema: Mapping[str, Any], plain: str) -> str:
    is_base64 = schema.get("contentEncoding") in {"base64", "base64url"}
    return base64.b64encode(plain.encode()).decode() if is_base64 else plain


def _day(random: Random) -> str:
    return f"2026-{random.randint(1, 12):02}-{random.randint(1, 28):02}"


def _time(random: Random) -> str:
    return f"{random.randint(0, 23):02}:{random.randint(0, 59):02}:{random.randint(0, 59):02}Z"


def _host(random: Random) -> str:
    return f"{random.choice(_WORDS)}.example.com"


def _path(random: Random) -> str:
    return f"/{random.choice(_WORDS)}/{random.randint(1, 999)}"


def _url(random: Random) -> str:
    return f"https://{_host(random)}{_path(random)}"


_FORMATS: Final[Mapping[str, Callable[[Random], str]]] = {
    "date": _day,
    "time": _time,
    "date-time": lambda random: f"{_day(random)}T{_time(random)}",
    "duration": lambda random: f"PT{random.randint(1, 59)}M",
    "email": lambda random: f"{random.choice(_WORDS)}@example.com",
    "idn-email": lambda random: f"{random.choice(_WORDS)}@example.com",
    "hostname": _host,
    "idn-hostname": _host,
    "ipv4": lambda random: f"192.0.2.{random.randint(1, 254)}",
    "ipv6": lambda random: f"2001:db8::{random.randint(1, 0xFFFF):x}",
    "uri": _url,
    "uri-reference": _path,
    "iri": _url,
    "iri-reference": _path,
    "uri-template": lambda random: f"{_path(random)}/{{id}}",
    "uuid": lambda random: str(UUID(int=random.getrandbits(128), version=4)),
    "json-pointer": _path,
    "relative-json-pointer": lambda random: f"{random.randint(0, 9)}{_path(random)}",
    "regex": lambda random: f"^{random.choice(_WORDS)}$",
}
KNOWN_FORMATS: Final = frozenset(_FORMATS)
"""The formats that are sampled. The validator knows no others (JSON Schema 2020-12 §7.3)."""
