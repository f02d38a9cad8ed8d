"""Samples that are validated, and samples with given members."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from random import Random
from typing import Any, Final

from gateway.backends.mock.samples.errors import NoSample, Steps
from gateway.backends.mock.samples.flattening import ROOMS, Flattener
from gateway.backends.mock.samples.sampler import Draw, Path, Sampler
from gateway.contract.values import pointers
from gateway.contract.values.definitions import with_definitions
from gateway.contract.values.schema import DeferredValidator

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
    """Valid values of one schema, which refers to `definitions` as `#/$defs/<name>`."""

    def __init__(
        self, schema: dict[str, Any] | bool, definitions: Mapping[str, Any], flattener: Flattener
    ) -> None:
        self.schema = schema
        self._definitions = definitions
        self._flattener = flattener
        self._sampler = Sampler(flattener)
        self._validator: DeferredValidator | None = None

    @property
    def validator(self) -> DeferredValidator:
        """The validator of the schema. Raises `NoSample` if a definition does not exist."""
        if self._validator is None:
            try:
                whole = with_definitions(self.schema, self._definitions)
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
        for candidate in (value, _merged(found.get(name), value)):
            if admits({**found, name: candidate}):
                found = {**found, name: candidate}
                break
    return found


def _merged(before: Any, after: Any) -> Any:
    if isinstance(before, dict) and isinstance(after, dict):
        return {**before, **{k: _merged(before.get(k), v) for k, v in after.items()}}
    return after
