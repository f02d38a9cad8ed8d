"""Values that tell a mutant from its schema: one that it alone admits, one that it alone refuses.

First, small values near the limits of the changed part are put into a valid value of the whole. If
none of them tells the two, it is asked for a proof that none can, and then for a witness.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from functools import lru_cache, partial
from itertools import chain, islice
from typing import Any, Final

from msgspec import Struct

from gateway.contract.schemas.algebra import admits, covers
from gateway.contract.schemas.containment import (
    Contained,
    Containment,
    Undecided,
    Witness,
    containment,
)
from gateway.contract.schemas.flattening import NoSample
from gateway.contract.schemas.keywords import SCHEMA_LISTS, SCHEMA_MAPS, subschemas
from gateway.contract.schemas.mutants import Mutant
from gateway.contract.schemas.probes import UNKNOWN, Probes, key_of
from gateway.contract.schemas.references import part as part_of
from gateway.contract.values.pointers import follow, pointer_of, steps
from gateway.contract.values.schema import PREFIX, Validator

Schema = dict[str, Any]
_Place = tuple[str, ...]

MAX_SEARCHES: Final = 400
"""How many mutants of one schema are given to the slow search."""
MAX_VAIN: Final = 12
"""How many searches may decide nothing: each of them takes its time to the end."""
_TOO_MANY: Final = Undecided("too many are searched already")
_MAX_BASES: Final = 8
"""How many examples are taken."""
_MAX_PROVED: Final = 1500
"""Characters of a part. Of a larger one, no proof is asked for before values are tried."""
_MAX_SHRINKS: Final = 150
"""How many members and items are left out at most to make a value smaller."""
_MAX_PROBES: Final = 3000
_ANNOTATION_READERS: Final = ("unevaluatedProperties", "unevaluatedItems")


class Told(Struct, frozen=True):
    """How a mutant differs from its schema."""

    more: tuple[Any] | None = None
    """The value that only the mutant admits."""
    less: tuple[Any] | None = None
    """The value that only the schema admits."""
    is_equivalent: bool = False
    """It is proved that both admit the same values."""
    is_different: bool = False
    """It is proved that they do not, but no value was found."""


class _Level(Struct, frozen=True):
    """A part of the value, and the schemas of it."""

    key: str | int
    """The name or the index in the value around it. Of the root, it has no meaning."""
    places: tuple[_Place, ...]
    """The schemas of this part on the way to the change, the outermost first."""


class _Part(Struct):
    """A part of the schema, with what its mutants share."""

    schema: Any
    key: str
    admits: Callable[[Any], bool]
    more: Iterator[Any]
    """Its probes that are still to be made."""
    made: list[tuple[Any, bool]] = []
    """Its probes, each with whether it is admitted."""

    def probes(self) -> Iterator[tuple[Any, bool]]:
        """Its probes, made and judged once for all of its mutants."""
        yield from self.made
        for value in self.more:
            self.made.append((value, self.admits(value)))
            yield self.made[-1]


class Search:
    """Finds how mutants of one schema differ from it."""

    def __init__(self, schema: Schema, examples: Sequence[Any] = ()) -> None:
        """`examples`: valid values, which are more readable than made ones."""
        self._schema = schema
        self._admits = Validator(schema).admits
        self._judges: dict[int, tuple[Mutant, Callable[[Any], bool]]] = {}
        self._definitions = schema.get("$defs", {})
        self._probes = Probes(self._definitions)
        self._uses = dict(_uses(schema))
        self._known: dict[tuple[str, str], list[Any]] = {}
        self._parts: dict[str, _Part] = {}
        self._parts_at: dict[_Place, _Part] = {}
        self._searches = self._vain = 0
        self._trusts_parts = not any(
            keyword in part for _, part in subschemas(schema) for keyword in _ANNOTATION_READERS
        )
        self.bases = [*self._bases(examples)]

    def _bases(self, examples: Sequence[Any]) -> Iterator[Any]:
        """Valid values with few members."""
        valid = [each for each in examples if self._admits(each)][:_MAX_BASES]
        yield from (smallest(each, self._admits) for each in valid)
        yield from valid
        with suppress(NoSample):
            yield self._probes.sample(self._schema)
        with suppress(NoSample):
            yield self._probes.full(self._schema)

    @property
    def is_hopeless(self) -> bool:
        """Whether it is proved that the schema admits no value."""
        nothing = key_of({"not": {}})
        return not self.bases and _contained(nothing, key_of(self._schema)) == Contained()

    def judge(self, mutant: Mutant) -> Callable[[Any], bool]:
        """Whether `mutant` admits a value. Each is compiled once."""
        if id(mutant) not in self._judges:
            # With the mutant itself, so that no other one gets its id.
            self._judges[id(mutant)] = mutant, Validator(mutant.schema).admits
        return self._judges[id(mutant)][1]

    def told(self, mutant: Mutant) -> Told:
        """How `mutant` differs. The part that changes is compared first, then what is around it."""
        levels = self._levels(mutant.place)
        is_different = False
        for depth in range(len(levels), 0, -1):
            found = dict(self._embedded(mutant, levels[:depth]))
            if found:
                return Told(found.get(True), found.get(False))
            # What cannot be decided of a part is harder to decide of the whole.
            if depth == len(levels) or is_different:
                proved = self._proved(mutant, levels[:depth])
                if proved.is_equivalent or proved.more or proved.less:
                    return proved
                is_different = proved.is_different
        return Told(is_different=is_different)

    def _embedded(self, mutant: Mutant, levels: list[_Level]) -> Iterator[tuple[bool, tuple[Any]]]:
        """Values of the whole that tell the two, each with whether only the mutant admits it."""
        for local in self._local(mutant, levels):
            whole = self._whole(mutant, levels, local)
            if whole is not None:
                yield self.judge(mutant)(whole[0]), whole

    def _part(self, schema: Schema, place: _Place) -> Any:
        return part_of(schema, follow(schema, pointer_of(place)))

    def _before(self, levels: list[_Level]) -> _Part:
        """The part at the end of `levels`. Equal parts of several places are one."""
        place = levels[-1].places[0]
        if place not in self._parts_at:
            before = self._part(self._schema, place)
            key = key_of(before)
            if key not in self._parts:
                schema = _as_schema(before)
                probes = self._probes.of(before, [*self._given(levels)])
                self._parts[key] = _Part(schema, key, Validator(schema).admits, probes)
            self._parts_at[place] = self._parts[key]
        return self._parts_at[place]

    def _given(self, levels: list[_Level]) -> Iterator[Any]:
        """What the bases have at the end of `levels`."""
        for base in self.bases:
            with suppress(LookupError, TypeError):
                value = base
                for level in levels[1:]:
                    value = value[level.key]
                yield value

    def _local(self, mutant: Mutant, levels: list[_Level]) -> list[Any]:
        """A probe of the part that only the mutant admits, and one that it alone refuses.

        Each if there is one. What is proved not to be there is not looked for.
        """
        place = levels[-1].places[0]
        before, after = self._before(levels), self._part(mutant.schema, place)
        key = before.key, key_of(after)
        if key not in self._known:
            schema = _as_schema(after)
            admits = Validator(schema).admits if place else self.judge(mutant)
            probes = self._probes.of(after, [*self._given(levels)])
            self._known[key] = [*_told_apart(before, _Part(schema, key[1], admits, probes))]
        return self._known[key]

    def _proved(self, mutant: Mutant, levels: list[_Level]) -> Told:
        """What is proved of the part at the end of `levels`, or found at last."""
        place = levels[-1].places[0]
        before, after = self._part(self._schema, place), self._part(mutant.schema, place)
        answers = self._compared(before, after)
        if (place == () or self._trusts_parts) and all(isinstance(e, Contained) for e in answers):
            return Told(is_equivalent=True)
        witnesses = [each.value for each in answers if isinstance(each, Witness)]
        found: dict[bool, tuple[Any]] = {}
        for whole in (self._whole(mutant, levels, each) for each in witnesses):
            if whole is not None:
                found.setdefault(self.judge(mutant)(whole[0]), whole)
        return Told(found.get(True), found.get(False), is_different=bool(witnesses))

    def _compared(self, before: Any, after: Any) -> tuple[Containment, Containment]:
        """Whether `after` is contained in `before`, and `before` in `after`."""
        one, other = _as_schema(before), _as_schema(after)
        if not (covers(one, other) and covers(other, one)):
            self._searches += 1
            if self._searches > MAX_SEARCHES or self._vain >= MAX_VAIN:
                return _TOO_MANY, _TOO_MANY
        keys = key_of(one), key_of(other)
        found = _contained(*keys), _contained(*reversed(keys))
        self._vain += any(isinstance(each, Undecided) for each in found)
        return found

    def _whole(self, mutant: Mutant, levels: list[_Level], local: Any) -> tuple[Any] | None:
        """A value that tells the two, with `local` at the end of `levels`. In a tuple."""
        for base in self.bases or [None]:
            with suppress(NoSample, LookupError, TypeError):
                whole = self._grafted(base, levels, 0, local)
                if self._tells(mutant, whole):
                    return (smallest(whole, partial(self._tells, mutant)),)
        return None

    def _tells(self, mutant: Mutant, value: Any) -> bool:
        return self._admits(value) is not self.judge(mutant)(value)

    def _levels(self, place: _Place) -> list[_Level]:
        """The parts of the value from the root to that at `place`."""
        route = self._from_root(place)
        found = [_Level("", ((),))]
        here: _Place = ()
        index = 0
        while index < len(route):
            keyword, has_name = route[index], route[index] in SCHEMA_MAPS | SCHEMA_LISTS
            if keyword == _JUMP:
                here = tuple(steps(route[index + 1]))
                found[-1] = _Level(found[-1].key, (*found[-1].places, here))
                index += 2
                continue
            name = route[index + 1] if has_name else ""
            here = (*here, keyword, name) if has_name else (*here, keyword)
            index += 2 if has_name else 1
            key = self._key(keyword, name, here)
            if key is None:
                found[-1] = _Level(found[-1].key, (*found[-1].places, here))
            else:
                found.append(_Level(key, (here,)))
        return found

    def _from_root(self, place: _Place) -> _Place:
        """The way to `place`, that into definitions by a place where they are used."""
        if place[:1] != ("$defs",):
            return place
        used_at = self._uses.get(place[1])
        if used_at is None:
            return ()
        return (*used_at, _JUMP, pointer_of(place[:2]), *place[2:])

    def _key(self, keyword: str, name: str, here: _Place) -> str | int | None:
        """The member or item that a subschema describes. None: the same value, or only a part."""
        if keyword == "properties":
            return name
        if keyword in {"additionalProperties", "unevaluatedProperties"}:
            return UNKNOWN
        if keyword == "prefixItems":
            return int(name)
        if keyword in {"items", "unevaluatedItems"}:
            around = follow(self._schema, pointer_of(here[:-1]))
            return len(around.get("prefixItems", ()))
        if keyword == "patternProperties":
            with suppress(NoSample):
                return str(self._probes.sample({"type": "string", "pattern": name}))
        return None

    def _grafted(self, base: Any, levels: list[_Level], depth: int, local: Any) -> Any:
        """`base` with `local` at the end of `levels`. Raises `NoSample`."""
        if depth == len(levels) - 1:
            return local
        key = levels[depth + 1].key
        holder = self._holder(base, levels[depth], list if isinstance(key, int) else dict)
        if isinstance(key, str):
            inner = holder.get(key, _ABSENT)
            return {**holder, key: self._grafted(inner, levels, depth + 1, local)}
        items = list(holder)
        while len(items) < key:
            items.append(None)
        inner = items[key] if key < len(items) else _ABSENT
        items[key : key + 1] = [self._grafted(inner, levels, depth + 1, local)]
        return items

    def _holder(self, base: Any, level: _Level, kind: type) -> Any:
        """`base` if it is an object or list of all schemas of the level, or a new one."""
        parts = [self._part(self._schema, place) for place in level.places]
        parts = [each for each in parts if isinstance(each, dict)]
        if isinstance(base, kind) and all(_is_valid(each, base) for each in parts[1:]):
            return base
        wanted = [*parts, {"type": "array" if kind is list else "object"}]
        merged = {"allOf": [{k: v for k, v in each.items() if k != "$defs"} for each in wanted]}
        try:
            return self._probes.sample(merged)
        except NoSample:
            return kind()


_ABSENT: Final = object()
_JUMP: Final = "\0"
"""A step into a definition; the next step is its pointer."""


def _uses(schema: Schema) -> Iterator[tuple[str, _Place]]:
    """By name of a definition, a way from the root to it."""
    by_holder: dict[str | None, list[tuple[_Place, str]]] = {}
    for pointer, part in subschemas(schema):
        reference = part.get("$ref")
        if isinstance(reference, str) and reference.startswith(PREFIX):
            place = tuple(steps(pointer))
            holder = place[1] if place[:1] == ("$defs",) else None
            by_holder.setdefault(holder, []).append((place, reference.removeprefix(PREFIX)))
    waiting: list[tuple[str | None, _Place]] = [(None, ())]
    seen: set[str] = set()
    while waiting:
        holder, way = waiting.pop(0)
        for place, name in by_holder.get(holder, ()):
            if name in seen:
                continue
            seen.add(name)
            here = place if holder is None else (*way, _JUMP, pointer_of(place[:2]), *place[2:])
            yield name, here
            waiting.append((name, here))


def _is_valid(schema: Any, value: Any) -> bool:
    return schema if isinstance(schema, bool) else admits(schema, value)


def _told_apart(before: _Part, after: _Part) -> Iterator[Any]:
    sought = {True, False}
    is_large = max(len(before.key), len(after.key)) > _MAX_PROVED
    if not is_large:
        ways = (True, before, after), (False, after, before)
        sought = {is_more for is_more, one, other in ways if not covers(one.schema, other.schema)}
    most = _MAX_PROBES // 10 if is_large else _MAX_PROBES
    others = ((value, None) for value in after.more)
    found = False
    for value, known in islice(chain(before.probes(), others), most):
        # What only one of two admits is searched for in more places than a second example.
        if not sought or (found and known is None):
            break
        is_more = after.admits(value)
        if is_more in sought:
            was_admitted = before.admits(value) if known is None else known
            if was_admitted is not is_more:
                sought.discard(is_more)
                found = True
                yield value


@lru_cache(maxsize=4096)
def _contained(outer: str, inner: str) -> Containment:
    """Contracts share definitions, so the same parts are compared for many of them."""
    return containment(json.loads(outer), json.loads(inner))


def _as_schema(schema: Any) -> Schema:
    return schema if isinstance(schema, dict) else {} if schema else {"not": {}}


def smallest(value: Any, holds: Callable[[Any], bool]) -> Any:
    """`value` without members and items without which it `holds` too. Few places are tried."""
    return _smaller(value, holds, [_MAX_SHRINKS])


def _smaller(value: Any, holds: Callable[[Any], bool], left: list[int]) -> Any:
    if isinstance(value, dict):
        for name in reversed(list(value)):
            less = {each: member for each, member in value.items() if each != name}
            value = less if _is_try(left) and holds(less) else value
        for name in value:
            inner = _smaller(value[name], partial(_holds_at, holds, value, name), left)
            value = {**value, name: inner}
    elif isinstance(value, list):
        value = _shorter(value, holds, left)
        for index in range(len(value)):
            if left[0] <= 0:
                break
            inner = _smaller(value[index], partial(_holds_at, holds, value, index), left)
            value = [*value[:index], inner, *value[index + 1 :]]
    return value


def _shorter(items: list[Any], holds: Callable[[Any], bool], left: list[int]) -> list[Any]:
    """`items` without some that stand together: many first, then each of those that are left."""
    size = len(items)
    while size and left[0] > 0:
        end = len(items)
        while end > 0 and _is_try(left):
            start = max(0, end - size)
            fewer = [*items[:start], *items[end:]]
            items = fewer if holds(fewer) else items
            end = start
        size //= 2
    return items


def _is_try(left: list[int]) -> bool:
    left[0] -= 1
    return left[0] >= 0


def _holds_at(holds: Callable[[Any], bool], around: Any, key: Any, value: Any) -> bool:
    changed = copy(around)
    changed[key] = value
    return holds(changed)
