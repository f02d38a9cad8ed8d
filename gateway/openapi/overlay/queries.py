"""The queries of overlays: JSONPath (RFC 9535), with limits on their size."""

from typing import Any, Final

from jsonpath_rfc9535 import JSONPathEnvironment, JSONPathError, JSONPathQuery

from gateway.openapi.reading.budget import DEFAULT

Path = tuple[str | int, ...]
"""A place in a document: the names and indexes from the root."""
_MAX_QUERY: Final = 2_000
_MAX_FOUND: Final = 1_000_000


class BadQuery(ValueError):
    """The text is not a query, or it cannot be run. The message says why."""


class _Environment(JSONPathEnvironment):
    # The library's own limit is below the depth that documents may have. An overlay adds to it.
    max_recursion_depth = 2 * DEFAULT.depth


_ENVIRONMENT: Final = _Environment()


def parse_query(text: str) -> JSONPathQuery:
    """The query `text`. Raises `BadQuery`."""
    if len(text) > _MAX_QUERY:
        raise BadQuery(f"the query is longer than {_MAX_QUERY:,} characters")
    try:
        return _ENVIRONMENT.compile(text)
    except JSONPathError as error:
        raise _refused(error) from None
    except RecursionError:
        raise BadQuery("the query is nested too deeply") from None


def find_places(query: JSONPathQuery, document: Any) -> list[Path]:
    """The places that `query` selects, each once. Raises `BadQuery`."""
    found: dict[Path, None] = {}
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
