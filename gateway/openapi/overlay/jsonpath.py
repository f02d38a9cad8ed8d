"""JSONPath queries (RFC 9535), without slices and without functions, which are refused by name.

The result of a query is a list of places: steps from the root. A query is data: it is parsed by
the grammar below, and its text is never run.

    query    = "$" *(child / descendant)
    child    = "." (name / "*") / "[" selectors "]"
    descendant = ".." (name / "*" / "[" selectors "]")
    selectors = selector *("," selector)
    selector = text / integer / "*" / "?" filter
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from gateway.openapi.overlay.filters import Condition, FilterParser
from gateway.openapi.overlay.scanner import BadQuery, Scanner

Step = str | int
Path = tuple[Step, ...]
_NAME: Final = re.compile(r"[A-Za-z_\u0080-\U0010ffff][0-9A-Za-z_\u0080-\U0010ffff]*")
_LENIENT_NAME: Final = re.compile(r"[A-Za-z_][0-9A-Za-z_-]*")
_MAX_FOUND: Final = 1_000_000


class ByName(Struct, frozen=True):
    """Selects one member of an object."""

    name: str


class ByIndex(Struct, frozen=True):
    """Selects one item of an array. Negative indexes count from the end."""

    index: int


class Everything(Struct, frozen=True):
    """Selects all members or items."""


class ByFilter(Struct, frozen=True):
    """Selects the members or items for which a condition holds."""

    condition: Condition


Selector = ByName | ByIndex | Everything | ByFilter


class Segment(Struct, frozen=True):
    """The selectors of one segment of a query."""

    selectors: tuple[Selector, ...]
    is_descendant: bool = False


class JsonPath(Struct, frozen=True):
    """A parsed query."""

    segments: tuple[Segment, ...]

    def find(self, root: Any) -> list[Path]:
        """The places that the query selects in `root`, without repetitions."""
        nodes: list[tuple[Path, Any]] = [((), root)]
        for segment in self.segments:
            nodes = [found for path, value in nodes for found in _select(segment, path, value)]
            if len(nodes) > _MAX_FOUND:
                raise BadQuery(0, f"selects more than {_MAX_FOUND} places")
        return list(dict.fromkeys(path for path, _ in nodes))


def parse_query(text: str) -> JsonPath:
    """The query `text`. Raises `BadQuery`."""
    scanner = Scanner(text)
    scanner.expect("$")
    segments: list[Segment] = []
    while not scanner.is_at_end():
        segments.append(_segment(scanner))
    return JsonPath(tuple(segments))


def _segment(scanner: Scanner) -> Segment:
    scanner.skip_blanks()
    if scanner.take(".."):
        if scanner.take("["):
            return Segment(_selectors(scanner), is_descendant=True)
        return Segment((_named(scanner),), is_descendant=True)
    if scanner.take("."):
        return Segment((_named(scanner),))
    scanner.expect("[")
    return Segment(_selectors(scanner))


def _named(scanner: Scanner) -> Selector:
    if scanner.take("*"):
        return Everything()
    name = scanner.match(_LENIENT_NAME) or scanner.match(_NAME)
    if name is None:
        raise scanner.wrong("a name or * is expected; write other names as ['name']")
    if scanner.take("("):
        raise scanner.wrong(f"the function {name} is not supported")
    return ByName(name)


def _selectors(scanner: Scanner) -> tuple[Selector, ...]:
    found = [_selector(scanner)]
    scanner.skip_blanks()
    while scanner.take(","):
        found.append(_selector(scanner))
        scanner.skip_blanks()
    scanner.expect("]")
    return tuple(found)


def _selector(scanner: Scanner) -> Selector:
    scanner.skip_blanks()
    if scanner.take("*"):
        return Everything()
    if scanner.take("?"):
        return ByFilter(FilterParser(scanner).condition())
    text = scanner.text()
    if text is not None:
        return ByName(text)
    number = scanner.integer()
    scanner.skip_blanks()
    if scanner.take(":"):
        raise scanner.wrong("slices are not supported")
    if number is None:
        raise scanner.wrong("a quoted name, an index, * or ? is expected")
    return ByIndex(number)


def _select(segment: Segment, path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    nodes = _descendants(path, value) if segment.is_descendant else iter([(path, value)])
    for place, node in nodes:
        for selector in segment.selectors:
            yield from _apply(selector, place, node)


def _descendants(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    waiting = [(path, value)]
    while waiting:
        place, node = waiting.pop()
        yield place, node
        waiting += reversed([((*place, step), below) for step, below in _children(node)])


def _children(node: Any) -> list[tuple[Step, Any]]:
    if isinstance(node, dict):
        return list(node.items())
    return list(enumerate(node)) if isinstance(node, list) else []


def _apply(selector: Selector, path: Path, node: Any) -> Iterator[tuple[Path, Any]]:
    match selector:
        case ByName(name=name):
            if isinstance(node, dict) and name in node:
                yield (*path, name), node[name]
        case ByIndex(index=index):
            if isinstance(node, list) and -len(node) <= index < len(node):
                place = index % len(node)
                yield (*path, place), node[place]
        case _:
            for step, below in _children(node):
                if isinstance(selector, Everything) or selector.condition.holds(below):
                    yield (*path, step), below
