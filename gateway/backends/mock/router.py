"""Finds the operation for the method and the path of a request to a mock."""

import re
from collections.abc import Iterable
from typing import Generic, Protocol, TypeVar
from urllib.parse import unquote

from msgspec import Struct

from gateway.backends.mock.requests import RequestRefused
from gateway.contract.mock import MockRefusal
from gateway.contract.upstream import PATH_PARAMETER


class Routed(Protocol):
    """What a router finds."""

    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str:
        """The path template."""
        ...


_T = TypeVar("_T", bound=Routed)


class Router(Generic[_T]):
    """Finds operations of one upstream by method and path."""

    def __init__(self, operations: Iterable[_T]) -> None:
        self._routes: dict[int, list[_Route[_T]]] = {}
        # Concrete segments come first (OpenAPI 3.1.1 §4.8.8.2), then those with more fixed text:
        # `/rows/new` before `/rows/{id}:copy` before `/rows/{id}`.
        for route in sorted(map(_route, operations), key=lambda route: route.rank):
            self._routes.setdefault(len(route.segments), []).append(route)

    def find(self, method: str, target: str) -> tuple[_T, dict[str, str]]:
        """The operation and its path parameters as text. Raises `RequestRefused` (404 or 405)."""
        segments = target.partition("?")[0].split("/")[1:]
        found: dict[str, tuple[_T, dict[str, str]]] = {}
        for route in self._routes.get(len(segments), ()):
            parameters = _match(route, segments)
            if parameters is not None:
                found.setdefault(route.operation.method, (route.operation, parameters))
        if not found:
            raise RequestRefused(MockRefusal(status=404, title="Nothing exists at this path."))
        if method not in found:
            refusal = MockRefusal(status=405, title="The method is not allowed here.")
            raise RequestRefused(refusal, allow=sorted(found))
        return found[method]


class _Segment(Struct, frozen=True):
    """One segment of a path template."""

    names: tuple[str, ...]
    pattern: re.Pattern[str]
    """Matches the encoded segment. The fixed text is matched literally, each value by a group."""
    fixed: str
    """The fixed text of a segment without values. A client may encode it."""


class _Route(Struct, Generic[_T], frozen=True):
    operation: _T
    segments: tuple[_Segment, ...]
    rank: tuple[tuple[bool, int], ...]
    """For each segment, whether it has values, and minus the number of its other characters."""


def _route(operation: _T) -> _Route[_T]:
    templates = operation.path.split("/")[1:]
    rank = tuple(
        (PATH_PARAMETER.search(each) is not None, -len(PATH_PARAMETER.sub("", each)))
        for each in templates
    )
    return _Route(operation, tuple(map(_segment, templates)), rank)


def _segment(template: str) -> _Segment:
    texts = PATH_PARAMETER.split(template)
    pattern = "".join("(.+)" if i % 2 else re.escape(text) for i, text in enumerate(texts))
    fixed = template if len(texts) == 1 else ""
    return _Segment(tuple(texts[1::2]), re.compile(pattern, re.DOTALL), fixed)


def _match(route: _Route[_T], segments: list[str]) -> dict[str, str] | None:
    parameters: dict[str, str] = {}
    for expected, segment in zip(route.segments, segments, strict=True):
        if not expected.names:
            if unquote(segment) != expected.fixed:
                return None
            continue
        found = expected.pattern.fullmatch(segment)
        if found is None:
            return None
        values = map(unquote, found.groups())
        parameters.update(zip(expected.names, values, strict=True))
    return parameters
