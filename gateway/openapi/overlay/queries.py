"""The queries of overlays: JSONPath (RFC 9535), with limits on their size."""

from collections.abc import Iterable
from typing import Any, Final

from jsonpath_rfc9535 import JSONPathEnvironment, JSONPathError, JSONPathNode, JSONPathQuery
from jsonpath_rfc9535.parse import Parser
from jsonpath_rfc9535.segments import (
    JSONPathChildSegment,
    JSONPathRecursiveDescentSegment,
    JSONPathSegment,
)
from jsonpath_rfc9535.tokens import TokenStream

from gateway.openapi.reading.budget import DEFAULT

Path = tuple[str | int, ...]
"""A place in a document: the names and indexes from the root."""
_MAX_QUERY: Final = 2_000
_MAX_FOUND: Final = 1_000_000
MAX_LOOKS: Final = 20_000_000
"""Four times as many values as a document may have."""


class BadQuery(ValueError):
    """The text is not a query, or it cannot be run. The message says why."""


class Looks:
    """Counts the values that the queries of one overlay look at, also those in filters."""

    def __init__(self) -> None:
        self._left = MAX_LOOKS

    def add(self, count: int) -> None:
        """Raise `BadQuery` above `MAX_LOOKS`."""
        self._left -= count
        if self._left < 0:
            message = f"the queries of the overlay look at more than {MAX_LOOKS:,} values"
            raise BadQuery(f"{message}; select fewer, without .. in filters")


class _Parser(Parser):
    """Parses queries whose steps count what they look at."""

    def parse_query(
        self, stream: TokenStream, *, in_filter: bool = False
    ) -> Iterable[JSONPathSegment]:
        for each in super().parse_query(stream, in_filter=in_filter):
            is_deep = isinstance(each, JSONPathRecursiveDescentSegment)
            kind = _Descendants if is_deep else _Children
            yield kind(env=each.env, token=each.token, selectors=each.selectors)


class _Environment(JSONPathEnvironment):
    parser_class = _Parser
    # The library's own limit is below the depth that documents may have. An overlay adds to it.
    max_recursion_depth = 2 * DEFAULT.depth

    def __init__(self) -> None:
        super().__init__()
        self.looks = Looks()


class _Children(JSONPathChildSegment):
    def resolve(self, nodes: Iterable[JSONPathNode]) -> Iterable[JSONPathNode]:
        for node in nodes:
            yield from _selected(self, node)


class _Descendants(JSONPathRecursiveDescentSegment):
    def resolve(self, nodes: Iterable[JSONPathNode]) -> Iterable[JSONPathNode]:
        for node in nodes:
            for each in self._visit(node):
                yield from _selected(self, each)


def _selected(segment: JSONPathSegment, node: JSONPathNode) -> Iterable[JSONPathNode]:
    members = len(node.value) if isinstance(node.value, dict | list) else 0
    looks: Looks = segment.env.looks  # type: ignore[attr-defined]  # all are of `_Environment`
    looks.add(len(segment.selectors) * (1 + members))
    for selector in segment.selectors:
        yield from selector.resolve(node)


def parse_query(text: str) -> JSONPathQuery:
    """The query `text`. Raises `BadQuery`."""
    if len(text) > _MAX_QUERY:
        raise BadQuery(f"the query is longer than {_MAX_QUERY:,} characters")
    try:
        return _Environment().compile(text)
    except JSONPathError as error:
        raise _refused(error) from None
    except RecursionError:
        raise BadQuery("the query is nested too deeply") from None


def find_places(query: JSONPathQuery, document: Any, looks: Looks) -> list[Path]:
    """The places that `query` selects, each once. Raises `BadQuery`."""
    found: dict[Path, None] = {}
    query.env.looks = looks  # type: ignore[attr-defined]  # as above
    try:
        for node in query.finditer(document):
            found[node.location] = None
            if len(found) > _MAX_FOUND:
                raise BadQuery(f"it selects more than {_MAX_FOUND:,} places")
    except JSONPathError as error:
        raise _refused(error) from None
    except RecursionError:
        raise BadQuery("the document is nested too deeply for this query") from None
    return list(found)


def _refused(error: JSONPathError) -> BadQuery:
    return BadQuery(f"{error}; names with other characters are written ['name'] (RFC 9535)")
