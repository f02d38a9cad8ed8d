"""What schemas of a document say beside what they admit: defaults, and which members will end.

The members of both sides are paired by their names. A component is looked at once, and only if it
is written otherwise, or refers to one that is.
"""

from collections.abc import Container, Iterator, Mapping
from typing import Any, Final, NamedTuple

from msgspec import UNSET, Struct

from gateway.authoring.diff.facets import canonical
from gateway.authoring.diff.surface import Pair
from gateway.authoring.openapi.reading.dialect import component_of
from gateway.authoring.openapi.reading.schemas import clean_name
from gateway.contract.values.pointers import child

_SAID: Final = ("default", "deprecated", "readOnly", "writeOnly")
_BRANCHES: Final = ("allOf", "anyOf", "oneOf")
_MAX_FOLLOWED: Final = 8


class Said(Struct, frozen=True):
    """Something that the two sides say otherwise of one member."""

    where: str
    """As `.passengers[]`. Empty: the whole."""
    keyword: str
    before: Any
    after: Any
    at: tuple[str, str]
    """Where both say it, as positions of `descent.Node`."""


class _Place(NamedTuple):
    schema: Mapping[str, Any]
    at: str
    component: str = ""
    beside: Mapping[str, str] = {}
    """Where the keywords are that are written beside the reference."""

    def said_at(self, keyword: str) -> str:
        return self.beside.get(keyword, self.at)


class Remarks:
    """Compares what the schemas of two documents say of their members."""

    def __init__(self, differing: Container[str]) -> None:
        """`differing` are the names of components that are not written alike on both sides."""
        self._differing = differing
        self._seen: set[tuple[str, str, str, bool]] = set()

    def of(self, pair: Pair) -> Iterator[Said]:
        """What the two parts say otherwise. What their components say is found once."""
        old, new = pair
        yield from self._walk(pair, (old.written, ""), (new.written, ""), "", is_optional=False)

    def _walk(
        self,
        pair: Pair,
        one: tuple[Any, str],
        other: tuple[Any, str],
        where: str,
        *,
        is_optional: bool,
    ) -> Iterator[Said]:
        old, new = (
            _found(*each, side.components) for each, side in zip((one, other), pair, strict=True)
        )
        grows = pair[0].direction.may_grow
        hidden = "readOnly" if grows else "writeOnly"
        if old.schema.get(hidden) is True or new.schema.get(hidden) is True:
            return
        yield from self._said(old, new, where, grows=grows, is_optional=is_optional)
        is_same = old.component == new.component != "" and old.component not in self._differing
        if is_same or not self._is_first("", old.at, new.at, grows=grows):
            return
        for step, is_free, left, right in _members(old, new):
            yield from self._walk(pair, left, right, where + step, is_optional=is_free)

    def _said(
        self, old: _Place, new: _Place, where: str, *, grows: bool, is_optional: bool
    ) -> Iterator[Said]:
        for keyword in ("deprecated", "default") if is_optional else ("deprecated",):
            before, after = (each.schema.get(keyword, UNSET) for each in (old, new))
            if keyword == "deprecated":
                before, after = before is True, after is True
            at = old.said_at(keyword), new.said_at(keyword)
            if _unlike(before, after) and self._is_first(keyword, *at, grows=grows):
                yield Said(where, keyword, before, after, at)

    def _is_first(self, keyword: str, old: str, new: str, *, grows: bool) -> bool:
        """Whether two places were not looked at before. Those outside of components never were."""
        key = (keyword, old, new, grows)
        is_first = key not in self._seen
        if old.startswith("#") and new.startswith("#"):
            self._seen.add(key)
        return is_first


def _unlike(one: Any, other: Any) -> bool:
    if UNSET in (one, other):
        return one is not other
    return canonical(one) != canonical(other)


def _found(schema: Any, at: str, components: Mapping[str, Any]) -> _Place:
    """What `schema` is behind its references. What is said beside a reference counts."""
    beside: dict[str, Any] = {}
    places: dict[str, str] = {}
    name = ""
    for _ in range(_MAX_FOLLOWED):
        used = component_of(schema)
        if used is None or used not in components:
            break
        own = {key: schema[key] for key in _SAID if key in schema}
        beside, places = own | beside, dict.fromkeys(own, at) | places
        schema, name = components[used], clean_name(used)
        at = f"#{name}"
    return _Place({**schema, **beside} if isinstance(schema, dict) else {}, at, name, places)


def _members(
    old: _Place, new: _Place
) -> Iterator[tuple[str, bool, tuple[Any, str], tuple[Any, str]]]:
    """The parts that both have: a step, whether it may be left out, and both schemas."""
    left, right = (_map(each.schema.get("properties")) for each in (old, new))
    required = _names(old.schema.get("required")) | _names(new.schema.get("required"))
    for name in left:
        if name in right:
            below = child("/properties", name)
            one, other = (left[name], old.at + below), (right[name], new.at + below)
            yield f".{name}", name not in required, one, other
    for keyword, step in (("items", "[]"), ("additionalProperties", ".*")):
        if keyword in old.schema and keyword in new.schema:
            yield step, False, _below(old, keyword), _below(new, keyword)
    for keyword in _BRANCHES:
        branches = [_list(each.schema.get(keyword)) for each in (old, new)]
        if len(branches[0]) == len(branches[1]):
            for at, (first, second) in enumerate(zip(*branches, strict=True)):
                below = f"/{keyword}/{at}"
                yield "", False, (first, old.at + below), (second, new.at + below)


def _below(place: _Place, keyword: str) -> tuple[Any, str]:
    return place.schema[keyword], child(place.at, keyword)


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _names(value: Any) -> set[str]:
    return {each for each in _list(value) if isinstance(each, str)}
