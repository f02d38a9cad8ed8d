"""Whether one JSON Schema allows all that another allows: a proof, a counterexample, or neither."""

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from gateway.contract.schemas.algebra import Schema, admits, are_same, covers
from gateway.contract.schemas.claims import Assertion, Unsupported
from gateway.contract.schemas.dialects import comparable
from gateway.contract.schemas.flattening import NoSample, Steps
from gateway.contract.schemas.models import Models
from gateway.contract.schemas.samples import Schemas
from gateway.contract.schemas.scalars import EMPTY, Solution

STEPS: Final = 100_000
"""The work on one question: about a second on one core."""
_TRIES: Final = 10
_MAX_SHRINKS: Final = 1_000
_MOST_PIECES: Final = 100
_MOST_COVERED: Final = 40_000
"""Bytes of two schemas of which the algebra is asked. Of 120 kB it takes ten seconds and 1 GB, and
knew nothing that the search does not find within its steps."""


class Contained(Struct, frozen=True):
    """Every value of the inner schema is valid under the outer one."""


class Witness(Struct, frozen=True):
    """A small value that the inner schema admits and the outer one refuses.

    The validators of both have confirmed it.
    """

    value: Any


class Undecided(Struct, frozen=True):
    """No proof and no witness was found."""

    reason: str


Containment = Contained | Witness | Undecided
_Parts = TypeVar("_Parts", list[Any], str)


def containment(outer: Schema | bool, inner: Schema | bool, steps: int = STEPS) -> Containment:
    """Whether every value of `inner` is valid under `outer`.

    Each is a whole JSON Schema of draft-04 to 2020-12. The answer is the same on every machine:
    work is limited in `steps`, not in seconds. A schema that the validator refuses is Undecided.
    """
    try:
        outer, inner = comparable(outer, inner)
        return _of_comparable(outer, inner, steps)
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        return Undecided(f"the schemas cannot be compared: {error}")


def _of_comparable(outer: Schema, inner: Schema, steps: int) -> Containment:
    if are_same(outer, inner):
        return Contained()
    is_small = sum(len(msgspec.json.encode(each)) for each in (outer, inner)) <= _MOST_COVERED
    try:
        if is_small and covers(outer, inner):
            return Contained()
        return _searched(outer, inner, Steps(steps))
    except Unsupported as error:
        return _sampled(outer, inner, str(error))
    except NoSample:
        return _sampled(outer, inner, "it takes too many steps to decide")


def _searched(outer: Schema, inner: Schema, work: Steps) -> Containment:
    found = Models((inner, outer), work).of(Assertion(True, 0, inner), Assertion(False, 1, outer))
    if found is EMPTY:
        return Contained()
    if isinstance(found, Solution) and _shows(outer, inner, found.value):
        return _witness(outer, inner, found.value)
    return _sampled(outer, inner, "neither a proof nor a witness was found")


def _shows(outer: Schema, inner: Schema, value: Any) -> bool:
    return admits(inner, value) and not admits(outer, value)


def _witness(outer: Schema, inner: Schema, value: Any) -> Witness:
    return Witness(shrunk(value, lambda each: _shows(outer, inner, each)))


def _sampled(outer: Schema, inner: Schema, reason: str) -> Containment:
    """A witness among the values of the inner schema: all of them, if it lists them."""
    listed = [inner["const"]] if "const" in inner else inner.get("enum")
    if listed is not None:
        shown = (each for each in listed if _shows(outer, inner, each))
        return next((_witness(outer, inner, each) for each in shown), Contained())
    try:
        samples = Schemas(inner.get("$defs", {})).samples(inner)
        for number in range(_TRIES):
            value = samples.sample("witness", str(number), is_short=number % 2 == 0)
            if _shows(outer, inner, value):
                return _witness(outer, inner, value)
    except NoSample:
        pass
    return Undecided(reason)


def shrunk(value: Any, holds: Callable[[Any], bool]) -> Any:
    """A value near `value`, as small as can be found, of which `holds` is true too.

    After `_MAX_SHRINKS` tries it is what it is then.
    """
    tries = 0
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for smaller in _smaller(value):
            tries += 1
            if tries > _MAX_SHRINKS:
                return value
            if holds(smaller):
                value, is_smaller = smaller, True
                break
    return value


def _smaller(value: Any) -> Iterator[Any]:
    """Simpler values, the simplest first. What follows from them is simpler again, so it ends."""
    if isinstance(value, dict):
        names = list(value)
        for left in _fewer(names):
            yield {name: value[name] for name in left}
        for name in names:
            yield from ({**value, name: each} for each in _simpler(value[name]))
    elif isinstance(value, list):
        yield from _fewer(value)
        for index, item in enumerate(value):
            yield from ([*value[:index], each, *value[index + 1 :]] for each in _simpler(item))
    elif isinstance(value, str):
        yield from _fewer(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _nearer(value)


def _simpler(value: Any) -> Iterator[Any]:
    """A part of a value: it may be of another kind too."""
    if isinstance(value, dict | list):
        yield from ("", 0)
        yield from ([] if value == [] else [type(value)()])
    yield from _smaller(value)


def _fewer(parts: _Parts) -> Iterator[_Parts]:
    """`parts` without some that stand together: first without many, of a long list not one each."""
    size = len(parts)
    while size and size * _MOST_PIECES >= len(parts):
        for start in range(0, len(parts), size):
            yield parts[:start] + parts[start + size :]
        size //= 2


def _nearer(number: float) -> Iterator[float]:
    """Numbers nearer to zero, with no more decimals."""
    whole = int(number)
    for each in (0, 1, whole // 2, whole - (whole > 0) + (whole < 0), whole, round(number, 1)):
        if abs(each) < abs(number) or (each == -number and number < 0):
            yield each
