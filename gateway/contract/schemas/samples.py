"""Samples that are validated, and samples with given members.

Samples a value of a schema (JSON Schema 2020-12).
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, gcd, lcm
from random import Random
from typing import Any, Final, TypeAlias

from msgspec import Struct, field

from gateway.contract.schemas.flattening import (
    ROOMS,
    TYPES,
    Flattener,
    NoSample,
    Schema,
    Steps,
    declared,
)
from gateway.contract.schemas.strings import text
from gateway.contract.values import pointers
from gateway.contract.values.schema import DeferredValidator, with_definitions

_SPAN: Final = 1000
"""How far from its nearest bound a number is at most."""
_CENT: Final = Fraction(1, 100)


def number(schema: Mapping[str, Any], random: Random, *, is_whole: bool) -> int | float:
    """A number of the schema, small and with few decimals where possible. Raises `NoSample`.

    `multipleOf` is a list here.
    """
    lows = _limits(schema, "minimum", "exclusiveMinimum", 1)
    highs = _limits(schema, "maximum", "exclusiveMaximum", -1)
    divisors = [_exact(each) for each in schema.get("multipleOf", ())]
    step = _step([*divisors, Fraction(1)] if is_whole else divisors, lows, highs)
    first = _first(lows, step)
    last = None if not highs else -(_first(highs, step) or 0)
    found = _chosen(first, last, max(1, floor(_SPAN / step)), random) * step
    if found.denominator == 1:
        return found.numerator
    try:
        return float(found)
    except OverflowError:
        raise NoSample("the number is too large") from None


def _chosen(first: int | None, last: int | None, span: int, random: Random) -> int:
    """A count of steps between `first` and `last`, small and positive where possible."""
    if first is None or first < 0:
        # Bounds are often only those of a type, such as 64-bit integers.
        first = (
            1
            if last is None or last > 0
            else last - span
            if first is None
            else max(first, last - span)
        )
    last = first + span if last is None else min(last, first + span)
    if first > last:
        raise NoSample("no number is within the bounds")
    return random.randint(first, last)


_Limits: TypeAlias = list[tuple[Fraction, bool]]
"""Lower limits, each with whether it is excluded. Upper limits are those of the negative number."""


def _limits(schema: Mapping[str, Any], included: str, excluded: str, sign: int) -> _Limits:
    return [(sign * _exact(schema[k]), k == excluded) for k in (included, excluded) if k in schema]


def _first(limits: _Limits, step: Fraction) -> int | None:
    """The count of steps to the first number within the limits."""
    if not limits:
        return None
    limit, is_excluded = max(limits)
    first = ceil(limit / step)
    return first + (is_excluded and first * step == limit)


def _step(divisors: Sequence[Fraction], lows: _Limits, highs: _Limits) -> Fraction:
    """The distance between the numbers that may be chosen."""
    if divisors:
        # The least common multiple.
        numerators, denominators = zip(*(each.as_integer_ratio() for each in divisors), strict=True)
        return Fraction(lcm(*numerators), gcd(*denominators))
    if not lows or not highs:
        return _CENT
    width, high = -max(highs)[0] - max(lows)[0], -max(highs)[0]
    return _CENT if width >= 4 * _CENT else width / 4 or abs(high) or Fraction(1)


def _exact(value: float) -> Fraction:
    return Fraction(Decimal(str(value)))


Path = tuple[str | int, ...]
_EXAMPLES: Final = ("example", "examples", "default")
_SHALLOW: Final = 2
"""Containers up to this depth have most of their optional members."""
_MAX_OPTIONAL: Final = 20
_MAX_OPTIONAL_DEEP: Final = 3
_MAX_VALUES: Final = 400
"""A value with more parts than these gets no more optional members."""
_BEYOND: Final = 24
"""How much deeper than planned a value may become, where only the validator knows the way out."""
_TRIES: Final = 12
_MAX_FAILURES: Final = 100
"""After so many in one attempt, no part of it is tried again."""
_STEPS: Final = 10
"""For each part of a value."""
_CHARACTERS: Final = 10
"""So many of an example are one step: they are not made, but sent."""
_OF_TYPE: Final = (
    ("object", ("properties", "required", "additionalProperties", "patternProperties")),
    ("array", ("items", "prefixItems", "minItems", "uniqueItems", "contains")),
    ("string", ("minLength", "maxLength", "pattern", "format", "contentEncoding")),
    ("number", ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")),
)
"""The keywords by which the type is chosen where the schema names none."""


class Draw(Struct):
    """One attempt at a value."""

    random: Random
    work: Steps
    optional: float
    """The share of the optional members that the value has, from 0 to 1."""
    is_wide: bool = False
    """Whether a schema without a type gets a value of any type. Otherwise of the likely one."""
    banned: frozenset[Path] = frozenset()
    """Where no example is used, because it was refused."""
    examples: set[Path] = field(default_factory=set)
    """Where an example was used."""
    values: int = 0
    """The parts of the value so far."""
    failures: int = 0


class Sampler:
    """Samples schemas of one document."""

    def __init__(self, flattener: Flattener) -> None:
        self._flattener = flattener

    def value(self, schema: Any, draw: Draw, room: int, path: Path = ()) -> Any:
        """A value that `schema` probably admits. Raises `NoSample`."""
        draw.work.spend(_STEPS)
        if room < -_BEYOND:
            raise NoSample("the value is too deep")
        draw.values += 1
        failure = NoSample("no value is allowed")
        for _ in range(_TRIES):
            try:
                return self._value(schema, draw, room, path)
            except NoSample as error:
                failure = error
                draw.failures += 1
                if draw.failures > _MAX_FAILURES:
                    break
        raise failure

    def _value(self, schema: Any, draw: Draw, room: int, path: Path) -> Any:
        flat = self._flattener.flat(schema, draw.random, room, draw.work)
        for example in _examples(flat) if path not in draw.banned else ():
            draw.examples.add(path)
            return _copied(example, draw.work)
        if "enum" in flat:
            draw.work.spend(len(flat["enum"]))
            return _copied(draw.random.choice(_of_types(flat)), draw.work)
        match _chosen_type(flat, draw):
            case "object":
                return self._object(flat, draw, room, path)
            case "array":
                return self._array(flat, draw, room, path)
            case name:
                return _scalar(name, flat, draw)

    def _object(self, flat: Schema, draw: Draw, room: int, path: Path) -> dict[str, Any]:
        required = flat.get("required", ())
        found = {
            name: self._member(name, flat, draw, room, path) for name in _completed(required, flat)
        }
        most = flat.get("maxProperties", math.inf)
        for optional in self._optional(flat, draw, room, len(path)):
            group = [each for each in _completed([optional], flat) if each not in found]
            if len(found) + len(group) <= most:
                with suppress(NoSample):
                    found |= {name: self._member(name, flat, draw, room, path) for name in group}
        missing = flat.get("minProperties", 0) - len(found)
        if (
            not missing
            and draw.optional
            and _is_map(flat)
            and self._may_add(flat, "additionalProperties", draw, room)
        ):
            missing = 1
        for name in self._extra(flat, draw, room, missing):
            found[name] = self._member(name, flat, draw, room, path)
        return found

    def _member(self, name: str, flat: Schema, draw: Draw, room: int, path: Path) -> Any:
        return self.value(declared(flat, name), draw, room - 1, (*path, name))

    def _optional(self, flat: Schema, draw: Draw, room: int, depth: int) -> list[str]:
        """The optional members that are given, in the order of the schema."""
        is_shallow = depth <= _SHALLOW
        share = draw.optional if is_shallow else draw.optional / 3
        most = _MAX_OPTIONAL if is_shallow else _MAX_OPTIONAL_DEEP
        required = set(flat.get("required", ()))
        fitting = [
            name
            for name, schema in flat.get("properties", {}).items()
            if name not in required and self._flattener.fits(schema, room - 1, draw.work)
        ]
        given = [name for name in fitting if draw.random.random() < share]
        given = given[:most] if draw.values < _MAX_VALUES else []
        needed = flat.get("minProperties", 0) - len(required) - len(given)
        return given + [name for name in fitting if name not in given][: max(0, needed)]

    def _extra(self, flat: Schema, draw: Draw, room: int, count: int) -> Iterable[str]:
        """Names of members that the schema does not declare, `count` of them."""
        naming = flat.get("propertyNames", True)
        patterns = [
            {"type": "string", "pattern": each} for each in flat.get("patternProperties", ())
        ]
        made: set[str] = set()
        for _ in range(_TRIES * max(0, count)):
            if len(made) >= count:
                break
            known = draw.random.choice([*patterns, True])
            schema = {"allOf": [{"type": "string", "minLength": 1}, naming, known]}
            name = self.value(schema, draw, room, ())
            if name not in flat.get("properties", {}) and declared(flat, name) is not False:
                made.add(name)
        return sorted(made)

    def _array(self, flat: Schema, draw: Draw, room: int, path: Path) -> list[Any]:
        found: list[Any] = []
        schemas = self._items(flat, draw, room, len(path))
        is_unique = flat.get("uniqueItems", False)
        seen: set[str] = set()
        for index, schema in enumerate(schemas):
            item = self._item(schema, draw, room, (*path, index), seen if is_unique else set())
            if item is not _NOTHING:
                found.append(item)
        if len(found) < flat.get("minItems", 0):
            raise NoSample("there are not enough different items")
        return found

    def _item(self, schema: Any, draw: Draw, room: int, path: Path, seen: set[str]) -> Any:
        """An item that is not in `seen`, or `_NOTHING`."""
        for _ in range(_TRIES):
            item = self.value(schema, draw, room - 1, path)
            key = json.dumps(item, sort_keys=True)
            if key not in seen:
                seen.add(key)
                return item
            draw.banned = draw.banned if path in draw.banned else draw.banned | {path}
        return _NOTHING

    def _items(self, flat: Schema, draw: Draw, room: int, depth: int) -> Sequence[Any]:
        """The schema of each item."""
        prefix = list(flat.get("prefixItems", ()))
        rest = flat.get("items", True)
        least, most = flat.get("minItems", 0), flat.get("maxItems")
        wanted = draw.random.choice((1, 2)) if depth <= _SHALLOW and draw.optional else 0
        count = max(least, len(prefix), wanted if self._may_add(flat, "items", draw, room) else 0)
        count = count if most is None else min(count, most)
        draw.work.spend(count)
        schemas = [*prefix, *[rest] * (count - len(prefix))][:count]
        if "contains" in flat:
            matching = flat.get("minContains", 1)
            draw.work.spend(matching)
            start = len(prefix) if len(prefix) + matching <= (most or matching + count) else 0
            schemas += [rest] * (start + matching - len(schemas))
            for index in range(start, start + matching):
                schemas[index] = {"allOf": [schemas[index], flat["contains"]]}
        return schemas

    def _may_add(self, flat: Schema, keyword: str, draw: Draw, room: int) -> bool:
        is_given = keyword in flat and draw.values < _MAX_VALUES
        return is_given and self._flattener.fits(flat[keyword], room - 1, draw.work)


_NOTHING: Final = object()


def _examples(flat: Schema) -> Iterable[Any]:
    for keyword in _EXAMPLES:
        if keyword == "examples":
            given = flat.get(keyword)
            yield from given if isinstance(given, list) else ()
        elif keyword in flat:
            yield flat[keyword]


def _copied(value: Any, work: Steps) -> Any:
    """`value`, of which the caller may change every part. Raises `NoSample`."""
    work.spend(1 + len(value) // _CHARACTERS if isinstance(value, str) else 1)
    if isinstance(value, dict):
        return {name: _copied(each, work) for name, each in value.items()}
    return [_copied(each, work) for each in value] if isinstance(value, list) else value


def _of_types(flat: Schema) -> list[Any]:
    """The listed values that have one of the types."""
    types = flat.get("type")
    found = [each for each in flat["enum"] if types is None or not types_of(each).isdisjoint(types)]
    if not found:
        raise NoSample("no listed value has the type")
    return found


def types_of(value: Any) -> frozenset[str]:
    """The names of the JSON types that `value` has."""
    match value:
        case None:
            return frozenset({"null"})
        case bool():
            return frozenset({"boolean"})
        case str():
            return frozenset({"string"})
        case dict():
            return frozenset({"object"})
        case list():
            return frozenset({"array"})
    return frozenset({"integer", "number"} if value == int(value) else {"number"})


def _chosen_type(flat: Schema, draw: Draw) -> str:
    types = flat.get("type")
    if types is None:
        given = [name for name, keywords in _OF_TYPE if not flat.keys().isdisjoint(keywords)]
        likely = next(iter(given), "string")
        return draw.random.choice(TYPES) if draw.is_wide else likely
    # Null is chosen rarely, because it shows nothing.
    useful = [each for each in types if each != "null"]
    return str(draw.random.choice(useful if useful and draw.random.random() < 0.9 else types))


def _is_map(flat: Schema) -> bool:
    """Whether the schema describes the members of an object only in general."""
    return not flat.get("properties") and isinstance(flat.get("additionalProperties"), dict)


def _completed(names: Iterable[str], flat: Schema) -> list[str]:
    """The names with those that they require."""
    found: dict[str, None] = {}
    waiting = [*names]
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found[name] = None
            waiting += flat.get("dependentRequired", {}).get(name, ())
    return list(found)


def _scalar(name: str, flat: Schema, draw: Draw) -> Any:
    match name:
        case "string":
            return text(flat, draw.random, draw.work)
        case "boolean":
            return draw.random.random() < 0.5
        case "null":
            return None
    return number(flat, draw.random, is_whole=name == "integer")


_SHARES: Final = (0.8, 0.8, 1.0, 0.0, 0.5, 1.0, 0.0, 0.3, 0.6, 0.9, 0.1, 0.4)
"""The share of the optional members in each attempt. An attempt may need all or none of them."""
_LEAST: Final = (0.0, *_SHARES)
_NARROW: Final = 4
"""The attempts in which a schema without a type gets a value of the likely type."""
_MAX_ROUNDS: Final = 25
"""How often an attempt is repeated without the examples that the schema refuses."""


def seeded(*texts: str) -> Random:
    """A repeatable random generator for these texts."""
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).digest()
    return Random(digest)  # noqa: S311 - repeatable by design, protects nothing


class Samples:
    """Valid values of one schema. See `Schemas.samples`."""

    def __init__(self, schema: dict[str, Any] | bool, flattener: Flattener) -> None:
        self.schema = schema
        self._flattener = flattener
        self._sampler = Sampler(flattener)
        self._validator: DeferredValidator | None = None

    @property
    def validator(self) -> DeferredValidator:
        """The validator of the schema. Raises `NoSample` if a definition does not exist."""
        if self._validator is None:
            try:
                whole = with_definitions(self.schema, self._flattener.definitions)
            except LookupError as error:
                raise NoSample(f"the definition {error} does not exist") from error
            self._validator = DeferredValidator(lambda: whole)
        return self._validator

    def admits(self, value: Any) -> bool:
        """Whether the value is valid. Raises `NoSample` if the schema cannot be used."""
        try:
            return self.validator.admits(value)
        except ValueError as error:
            raise NoSample(f"the schema cannot be compiled: {error}") from error

    def sample(self, *texts: str, is_example: bool = True, is_short: bool = False) -> Any:
        """The valid value for these texts. Raises `NoSample` if none is found.

        Without `is_example`, the value is not the schema's own example or default. With `is_short`,
        it has no optional members if possible.
        """
        banned: frozenset[Path] = frozenset() if is_example else frozenset({()})
        failure = NoSample("no valid value was found")
        work = Steps()
        room = self._room(work)
        for attempt, share in enumerate(_LEAST if is_short else _SHARES):
            try:
                for value in self._rounds((*texts, str(attempt)), work, share, room, banned):
                    if self.admits(value):
                        return value
            except NoSample as error:
                failure = error
        raise failure

    def _room(self, work: Steps) -> int:
        for room in ROOMS:
            if self._flattener.fits(self.schema, room, work):
                return room
        raise NoSample("every value is too deep, or none is allowed")

    def _rounds(
        self,
        texts: tuple[str, ...],
        work: Steps,
        share: float,
        room: int,
        banned: frozenset[Path],
    ) -> Iterator[Any]:
        """Values of one attempt. Each is made without the examples that spoiled those before."""
        is_wide = int(texts[-1]) >= _NARROW
        for _ in range(_MAX_ROUNDS):
            draw = Draw(seeded(*texts), work, share, is_wide=is_wide, banned=banned)
            value = self._sampler.value(self.schema, draw, room)
            yield value
            refused = frozenset(self._refused(value, draw.examples))
            if not refused:
                return
            banned |= refused

    def _refused(self, value: Any, examples: Iterable[Path]) -> Iterator[Path]:
        """The examples at, around or below the places that the schema refuses."""
        places = {pointers.pointer_of(each): each for each in examples}
        for violation in self.validator.violations(value):
            around = [each for each in places if _holds(each, violation.pointer)]
            if around:
                yield places[max(around, key=len)]
            else:
                yield from (places[each] for each in places if _holds(violation.pointer, each))


class Schemas(Flattener):
    """The schemas of one document, with their samples."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        super().__init__(definitions)
        self._samples: dict[str, Samples] = {}

    def samples(self, schema: Any) -> Samples:
        """The samples of `schema`, compiled when they are first used."""
        key = json.dumps(schema, sort_keys=True)
        if key not in self._samples:
            self._samples[key] = Samples(schema, self)
        return self._samples[key]


def _holds(outer: str, inner: str) -> bool:
    return inner == outer or inner.startswith(f"{outer}/")


def overlaid(
    sample: dict[str, Any], given: Mapping[str, Any], admits: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """`sample` with the given members, as far as `admits` allows. It must admit `sample`."""
    whole = {**sample, **given}
    if admits(whole):
        return whole
    found = sample
    for name, value in given.items():
        for candidate in (value, merged(found.get(name), value)):
            if admits({**found, name: candidate}):
                found = {**found, name: candidate}
                break
    return found


def merged(before: Any, after: Any) -> Any:
    """`after`, with what only `before` has where both are objects."""
    if isinstance(before, dict) and isinstance(after, dict):
        return {**before, **{k: merged(before.get(k), v) for k, v in after.items()}}
    return after
