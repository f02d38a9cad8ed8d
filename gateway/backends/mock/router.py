"""Finds the operation for the method and the path of a request to a mock."""

import re
from urllib.parse import unquote

from msgspec import Struct

from gateway.backends.mock.requests import RequestRefused
from gateway.contract.mock import MockRefusal
from gateway.contract.upstream import PATH_PARAMETER, Upstream, UpstreamOperation


class Router:
    """Finds operations of one upstream by method and path."""

    def __init__(self, upstream: Upstream) -> None:
        # Routes with more fixed text come first: `/rows/{id}:copy` before `/rows/{id}`.
        self._routes = sorted(map(_route, upstream.operations), key=lambda route: -route.weight)

    def find(self, method: str, target: str) -> tuple[UpstreamOperation, dict[str, str]]:
        """The operation and its path parameters as text. Raises `RequestRefused` (404 or 405)."""
        segments = target.partition("?")[0].split("/")[1:]
        found: dict[str, tuple[UpstreamOperation, dict[str, str]]] = {}
        for route in self._routes:
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


class _Route(Struct, frozen=True):
    operation: UpstreamOperation
    segments: tuple[_Segment, ...]
    weight: int


def _route(operation: UpstreamOperation) -> _Route:
    segments = tuple(map(_segment, operation.path.split("/")[1:]))
    return _Route(operation, segments, len(PATH_PARAMETER.sub("", operation.path)))


def _segment(template: str) -> _Segment:
    texts = PATH_PARAMETER.split(template)
    pattern = "".join("(.+)" if i % 2 else re.escape(text) for i, text in enumerate(texts))
    fixed = template if len(texts) == 1 else ""
    return _Segment(tuple(texts[1::2]), re.compile(pattern, re.DOTALL), fixed)


def _match(route: _Route, segments: list[str]) -> dict[str, str] | None:
    if len(route.segments) != len(segments):
        return None
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
