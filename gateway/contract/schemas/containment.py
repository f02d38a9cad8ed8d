"""Whether one JSON Schema allows all that another allows: a proof, a counterexample, or neither."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

from msgspec import Struct

from gateway.contract.schemas.algebra import Schema, admits, both, covers
from gateway.contract.schemas.flattening import NoSample
from gateway.contract.schemas.samples import Schemas

_TRIES: Final = 50


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


def containment(outer: Schema, inner: Schema) -> Containment:
    """Whether every value of `inner` is valid under `outer`."""
    answer = covers(outer, inner)
    if answer:
        return Contained()
    for value in _candidates(outer, inner):
        if admits(inner, value) and not admits(outer, value):
            return Witness(
                shrunk(value, lambda each: admits(inner, each) and not admits(outer, each))
            )
    exists = "no value that shows the difference was found"
    return Undecided(exists if answer is False else "neither a proof nor a witness was found")


def shrunk(value: Any, holds: Callable[[Any], bool]) -> Any:
    """A value near `value`, as small as can be found, of which `holds` is true too."""
    for smaller in _smaller(value):
        if holds(smaller):
            return shrunk(smaller, holds)
    return value


def _candidates(outer: Schema, inner: Schema) -> Iterator[Any]:
    for schema in (both(inner, {"not": outer}), inner):
        samples = Schemas(schema.get("$defs", {})).samples(schema)
        for number in range(_TRIES):
            with suppress(NoSample):
                yield samples.sample("witness", str(number), is_short=number % 2 == 0)


def _smaller(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for name in value:
            yield {each: member for each, member in value.items() if each != name}
            yield from ({**value, name: each} for each in _smaller(value[name]))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield value[:index] + value[index + 1 :]
            yield from ([*value[:index], each, *value[index + 1 :]] for each in _smaller(item))
    elif isinstance(value, str) and value:
        yield from ("", value[: len(value) // 2], value[:-1])
