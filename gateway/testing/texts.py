"""The values that the texts of a request may say, by the style of a parameter (OpenAPI 3.1).

A text has no type, so a reading is a value whose scalars are texts. It is held against the value
that it has to say, or is typed until a schema admits it.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final
from urllib.parse import unquote, unquote_plus

from msgspec import Struct

from gateway.contract.values.pointers import NoSuchPlace, follow, pointer_of, steps
from gateway.testing.authority import Authority

Pair = tuple[str, str]
"""A decoded name, and a text that is still escaped."""
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_BRACKETS: Final = re.compile(r"(?:\[[^\[\]]*\])+")
_WORDS: Final = {"true": True, "false": False, "null": None, "": None}
_MOST_TRIES: Final = 200
_SEPARATORS: Final = {"spaceDelimited": ("%20", "+", " "), "pipeDelimited": ("%7C", "%7c", "|")}


class Styled(Struct, frozen=True, kw_only=True):
    """How a value is written."""

    name: str
    location: str
    style: str
    """`content`: as the text of a media type."""
    explode: bool
    is_reserved: bool
    """Whether reserved characters stand as they are."""
    names: frozenset[str]
    """The members that its schema declares."""
    is_free: bool
    """Whether it may have other members."""
    is_lenient: bool
    """Whether the comma between items may be escaped: field maps write lists as texts."""

    @property
    def spreads(self) -> bool:
        """Whether its members may be parameters of their own."""
        return self.explode and self.style in {"form", "cookie"}

    def decoded(self, text: str) -> str:
        """`text` without its escapes."""
        if self.location == "header" or self.style == "cookie":
            return text
        return unquote_plus(text) if self.location == "query" else unquote(text)


def pairs_of(text: str, separator: str, decoded: Callable[[str], str]) -> list[Pair]:
    """The pairs of a query, a form or a cookie: decoded names, and texts with their escapes."""
    pieces = (each.partition("=") for each in text.split(separator) if each)
    return [(decoded(name), value) for name, _, value in pieces]


def readings(styled: Styled, given: Sequence[Pair]) -> tuple[list[Any], list[Pair]]:
    """What the value may be, nothing if it is not there, and the pairs that say something else.

    Raises `ValueError`, which says what is wrong with how it is written.
    """
    name = styled.name.lower() if styled.location == "header" else styled.name
    if styled.style == "deepObject":
        return _deep(styled, given)
    own = [text for each, text in given if each == name]
    if own:
        return [*_valued(styled, own)], [pair for pair in given if pair[0] != name]
    spread = [p for p in given if styled.spreads and (p[0] in styled.names or styled.is_free)]
    found = [_grouped(styled, spread)] if spread else []
    return found, [pair for pair in given if pair not in spread]


def _valued(styled: Styled, own: list[str]) -> Iterator[Any]:
    """The readings of the texts that have the parameter's own name."""
    if styled.location == "path" and styled.style in {"label", "matrix"}:
        yield from _prefixed(styled, own[0])
    elif styled.style != "content" and (
        styled.spreads or (styled.explode and styled.location == "query")
    ):
        yield from _repeated(styled, own)
    elif len(own) > 1:
        raise ValueError("is there twice, and explode is false")
    elif styled.style == "content":
        yield from _content(styled.decoded(own[0]))
    else:
        separators = _SEPARATORS.get(styled.style, (",",))
        yield from _delimited(styled, own[0], separators, "=" if styled.explode else None)


def _repeated(styled: Styled, own: list[str]) -> list[Any]:
    if not styled.is_reserved and any("," in text for text in own):
        raise ValueError("has several values in one text, and explode is true")
    texts = [styled.decoded(text) for text in own]
    return [texts] if len(texts) > 1 else [texts[0], texts]


def _content(text: str) -> Iterator[Any]:
    with suppress(ValueError):
        yield json.loads(text)
    yield text


def _grouped(styled: Styled, pairs: Sequence[Pair]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, text in pairs:
        texts = [styled.decoded(other) for each, other in pairs if each == name]
        found[name] = texts if len(texts) > 1 else styled.decoded(text)
    return found


def _delimited(
    styled: Styled, text: str, separators: Sequence[str], between: str | None
) -> Iterator[Any]:
    decoded = styled.decoded
    yield decoded(text)
    splits = [text.split(each) for each in separators]
    pieces = max(splits, key=len)
    items = [decoded(each.strip() if styled.location == "header" else each) for each in pieces]
    yield items
    if between is not None:
        if all(between in each for each in pieces):
            named = [each.strip().partition(between) for each in pieces]
            yield {decoded(name): decoded(value) for name, _, value in named}
    elif len(items) % 2 == 0:
        yield dict(zip(items[::2], items[1::2], strict=True))
    if styled.is_lenient and "," in decoded(text) and "," not in text:
        yield decoded(text).split(",")


def _prefixed(styled: Styled, text: str) -> Iterator[Any]:
    """A path's value with the styles `label` and `matrix`."""
    if styled.style == "label":
        if not text.startswith("."):
            raise ValueError("has no dot before it")
        yield from _delimited(
            styled, text[1:], (".",) if styled.explode else (",",), "=" if styled.explode else None
        )
        return
    if not text.startswith(";"):
        raise ValueError("has no semicolon before it")
    pairs = [each.partition("=") for each in text[1:].split(";")]
    named = [(styled.decoded(name), value) for name, _, value in pairs]
    if all(name == styled.name for name, _ in named):
        texts = [styled.decoded(value) for _, value in named]
        yield from [texts] if len(texts) > 1 else [texts[0], texts]
        if len(named) == 1 and not styled.explode:
            yield from _delimited(styled, named[0][1], (",",), None)
    elif styled.explode:
        yield {name: styled.decoded(value) for name, value in named}
    else:
        raise ValueError("has another name")


def _deep(styled: Styled, given: Sequence[Pair]) -> tuple[list[Any], list[Pair]]:
    def is_own(name: str) -> bool:
        rest = name.removeprefix(styled.name)
        return name.startswith(styled.name) and bool(_BRACKETS.fullmatch(rest))

    own = [(name, text) for name, text in given if is_own(name)]
    bare = [text for name, text in given if name == styled.name]
    rest = [pair for pair in given if pair not in own and pair[0] != styled.name]
    if bare:
        # Beside an object, a schema may allow a scalar.
        return ([styled.decoded(bare[0])] if not own and len(bare) == 1 else [bare]), rest
    if not own:
        return [], rest
    root: dict[str, Any] = {}
    for name, text in own:
        steps = re.findall(r"\[([^\[\]]*)\]", name.removeprefix(styled.name))
        holder = root
        for step in steps[:-1]:
            holder = holder.setdefault(step, {})
        holder.setdefault(steps[-1], []).append(styled.decoded(text))
    return [_unpacked(root)], rest


def _unpacked(value: Any) -> Any:
    """Lists of one text as the text; members that are numbers, or have no name, as lists."""
    if isinstance(value, list):
        return value[0] if len(value) == 1 else value
    found = {name: _unpacked(each) for name, each in value.items()}
    if found and all(name == "" for name in found):
        return found[""] if isinstance(found[""], list) else [found[""]]
    if found and [*found] == [str(number) for number in range(len(found))]:
        return [*found.values()]
    return found


# What a reading says.


def is_same(reading: Any, wanted: Any) -> bool:
    """Whether a reading says this value."""
    if isinstance(reading, str) and not isinstance(wanted, str):
        return _says(reading, wanted)
    if isinstance(reading, list) and isinstance(wanted, list):
        pairs = zip(reading, wanted, strict=True)
        return len(reading) == len(wanted) and all(is_same(*pair) for pair in pairs)
    if isinstance(reading, list | dict) and isinstance(wanted, dict):
        if isinstance(reading, list):
            return False
        kept = {name: each for name, each in wanted.items() if name in reading}
        lost = [each for name, each in wanted.items() if name not in reading]
        is_whole = reading.keys() == kept.keys() and all(e in (None, [], {}) for e in lost)
        return is_whole and all(is_same(reading[name], each) for name, each in kept.items())
    if not isinstance(reading, list) and isinstance(wanted, list):
        return len(wanted) == 1 and is_same(reading, wanted[0])
    return _are_equal(reading, wanted)


def _says(text: str, wanted: Any) -> bool:
    if wanted is None:
        return text in {"", "null"}
    if isinstance(wanted, list) and len(wanted) == 1 and is_same(text, wanted[0]):
        return True
    try:
        found = json.loads(text)
    except ValueError:
        return False
    return is_same(found, wanted) if isinstance(found, list | dict) else _are_equal(found, wanted)


def _are_equal(one: Any, other: Any) -> bool:
    """Whether two scalars are: 1.0 is 1, and true is not."""
    are_alike = isinstance(one, bool) is isinstance(other, bool)
    return are_alike and bool(one == other)


def typed(authority: Authority, reading: Any) -> bool:
    """Whether a schema admits a reading with some of its texts as values of another type.

    Only the texts are tried that it refuses as they are. What it cannot decide, it admits.
    """
    waiting, known = [reading], {json.dumps(reading)}
    while waiting:
        value = waiting.pop(0)
        places = authority.places(value)
        if not places or len(known) > _MOST_TRIES:
            return True
        for place in sorted(places):
            for other in _replaced(value, place):
                text = json.dumps(other)
                if text not in known:
                    known.add(text)
                    waiting.append(other)
    return False


def _replaced(value: Any, place: str) -> Iterator[Any]:
    try:
        text = follow(value, place)
    except NoSuchPlace:
        return
    if isinstance(text, str):
        for other in _alternatives(text):
            yield _with(value, place, other)


def _alternatives(text: str) -> Iterator[Any]:
    if text in _WORDS:
        yield _WORDS[text]
    if _NUMBER.fullmatch(text) or text[:1] in {"{", "[", '"'}:
        with suppress(ValueError):
            yield json.loads(text)
    yield [text]


def _with(value: Any, place: str, other: Any) -> Any:
    if not place:
        return other
    copied = json.loads(json.dumps(value))
    *above, name = steps(place)
    holder = follow(copied, pointer_of(above))
    holder[int(name) if isinstance(holder, list) else name] = other
    return copied
