"""Applies the actions of an OpenAPI Overlay (1.0, 1.1) to a document: JSONPath, with limits."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, Final

from jsonpath_rfc9535 import JSONPathEnvironment, JSONPathError, JSONPathNode, JSONPathQuery
from jsonpath_rfc9535.parse import Parser
from jsonpath_rfc9535.segments import (
    JSONPathChildSegment,
    JSONPathRecursiveDescentSegment,
    JSONPathSegment,
)
from jsonpath_rfc9535.tokens import TokenStream
from msgspec import Struct

from gateway.authoring.contracts.document import Document, finding_at
from gateway.authoring.contracts.finding import ContractRefused, Finding, Severity
from gateway.authoring.openapi.reading.source import DEFAULT
from gateway.contract.values.nearest import hint
from gateway.contract.values.pointers import child

# The queries of overlays: JSONPath (RFC 9535), with limits on their size.

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
        raise _bad_query(error) from None
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
        raise _bad_query(error) from None
    except RecursionError:
        raise BadQuery("the document is nested too deeply for this query") from None
    return list(found)


def _bad_query(error: JSONPathError) -> BadQuery:
    return BadQuery(f"{error}; names with other characters are written ['name'] (RFC 9535)")


# Applies the actions of an OpenAPI Overlay (1.0, 1.1) to a document.

UNMATCHED: Final = "overlay/unmatched"
_MEMBERS: Final = ("overlay", "info", "extends", "actions")
_ACTION: Final = ("target", "description", "update", "remove", "copy")
_MAX_SHOWN: Final = 200
_VERSIONS: Final = ("1.0.", "1.1.")


class Action(Struct, frozen=True, kw_only=True):
    """One action, parsed."""

    pointer: str
    """JSON Pointer in the overlay."""
    target: JSONPathQuery
    value: Mapping[str, Any]


class Overlaid(Struct, frozen=True, kw_only=True):
    """A document after an overlay."""

    value: dict[str, Any]
    notes: tuple[Finding, ...]
    """One for each target that matches nothing."""


def apply_overlay(overlay: Document, document: dict[str, Any]) -> Overlaid:
    """`document` after the actions of `overlay`, in order. `document` is not changed.

    Raises `ContractRefused` if the overlay is not one that the gateway can apply.
    """
    actions = [_action(overlay, place, each) for place, each in _listed(overlay)]
    value, looks = deepcopy(document), Looks()
    notes: list[Finding] = []
    for action in actions:
        if not _apply(overlay, action, value, looks):
            target = action.value["target"]
            message = f"the target {target} matches nothing in the document"
            place = child(action.pointer, "target")
            notes.append(_finding(overlay, place, UNMATCHED, message, Severity.NOTE))
    return Overlaid(value=value, notes=tuple(notes))


def _listed(overlay: Document) -> list[tuple[str, Any]]:
    value = overlay.value
    if not isinstance(value, dict):
        raise _refused(overlay, "", "overlay/malformed", "the overlay is not an object")
    _refuse_unknown(overlay, "", value, _MEMBERS)
    version = value.get("overlay")
    if not isinstance(version, str) or not version.startswith(_VERSIONS):
        message = "overlay is not 1.0.x or 1.1.x"
        raise _refused(overlay, "/overlay", "overlay/version", message)
    actions = value.get("actions")
    if not isinstance(actions, list) or not actions:
        raise _refused(overlay, "/actions", "overlay/malformed", "there are no actions")
    return [(f"/actions/{position}", each) for position, each in enumerate(actions)]


def _action(overlay: Document, pointer: str, value: Any) -> Action:
    target = value.get("target") if isinstance(value, dict) else None
    if not isinstance(target, str):
        raise _refused(overlay, pointer, "overlay/malformed", "an action has no target")
    _refuse_unknown(overlay, pointer, value, _ACTION)
    query = _query(overlay, child(pointer, "target"), target)
    return Action(pointer=pointer, target=query, value=value)


def _query(overlay: Document, pointer: str, text: str) -> JSONPathQuery:
    try:
        return parse_query(text)
    except BadQuery as error:
        message = f"{text[:_MAX_SHOWN]}: {error}"
        raise _refused(overlay, pointer, "overlay/target", message) from None


def _places(
    overlay: Document, pointer: str, query: JSONPathQuery, document: dict[str, Any], looks: Looks
) -> list[Path]:
    try:
        return find_places(query, document, looks)
    except BadQuery as error:
        raise _refused(overlay, pointer, "overlay/target", str(error)) from None


def _apply(overlay: Document, action: Action, document: dict[str, Any], looks: Looks) -> bool:
    """Change `document`. Whether the target, and the source of a copy, matches something."""
    places = _places(overlay, child(action.pointer, "target"), action.target, document, looks)
    update = action.value.get("update")
    if "copy" in action.value:
        update = _copied(overlay, action, document, looks)
        if update is None:
            return False
    if action.value.get("remove") is True:
        # Later items first, so that the indexes of the others stay. Steps of two places can be
        # compared: where they first differ, both are of the same array or object.
        for path in sorted(places, reverse=True):
            _remove(overlay, action, document, path)
        return bool(places)
    for path in places:
        if "update" in action.value or "copy" in action.value:
            _update(document, path, update)
    return bool(places)


def _copied(overlay: Document, action: Action, document: dict[str, Any], looks: Looks) -> Any:
    """The value that `copy` (1.1) refers to. None if there is none."""
    place = child(action.pointer, "copy")
    query = _query(overlay, place, str(action.value["copy"]))
    places = _places(overlay, place, query, document, looks)
    if len(places) > 1:
        message = "copy selects more than one value"
        raise _refused(overlay, place, "overlay/copy", message)
    return deepcopy(_at(document, places[0])) if places else None


def _remove(overlay: Document, action: Action, document: dict[str, Any], path: Path) -> None:
    if not path:
        message = "the whole document cannot be removed"
        raise _refused(overlay, action.pointer, "overlay/remove", message)
    del _at(document, path[:-1])[path[-1]]


def _update(document: dict[str, Any], path: Path, update: Any) -> None:
    target = _at(document, path)
    if isinstance(target, list):
        # Overlay 1.1 §4.4.3: arrays are joined; an update that is no array is one more item.
        target += deepcopy(update) if isinstance(update, list) else [deepcopy(update)]
    elif isinstance(target, dict) and isinstance(update, dict):
        _merge(target, update)
    elif path:
        _at(document, path[:-1])[path[-1]] = deepcopy(update)


def _merge(target: dict[str, Any], update: Mapping[str, Any]) -> None:
    """Overlay 1.1 §4.4.3: objects are merged, arrays joined, and other values replaced."""
    for name, value in update.items():
        known = target.get(name)
        if isinstance(known, dict) and isinstance(value, dict):
            _merge(known, value)
        elif isinstance(known, list) and isinstance(value, list):
            known += deepcopy(value)
        else:
            target[name] = deepcopy(value)


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _refuse_unknown(
    overlay: Document, pointer: str, value: Mapping[str, Any], known: tuple[str, ...]
) -> None:
    for name in value:
        if name not in known and not name.startswith("x-"):
            fix = hint(name, known, f"the members are {', '.join(known)}")
            message = f"there is no member {name!r}"
            raise _refused(overlay, child(pointer, name), "overlay/unknown-member", message, fix)


def _finding(
    overlay: Document, pointer: str, rule: str, message: str, severity: Severity
) -> Finding:
    fix = "correct the overlay (OpenAPI Overlay 1.1, RFC 9535)"
    return finding_at(overlay, pointer, rule, message, fix, severity)


def _refused(
    overlay: Document, pointer: str, rule: str, message: str, fix: str | None = None
) -> ContractRefused:
    found = _finding(overlay, pointer, rule, message, Severity.ERROR)
    if fix is None:
        return ContractRefused([found])
    return ContractRefused(
        [
            Finding(
                path=found.path,
                line=found.line,
                pointer=pointer,
                rule=rule,
                message=message,
                fix=fix,
            )
        ]
    )
