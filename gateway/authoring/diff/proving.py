"""Proves that a candidate is no difference, or finds a whole value that shows it."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType

from gateway.authoring.diff.descent import (
    Candidate,
    Descent,
    Link,
    Node,
    Step,
    TwoDefinitions,
    ask,
    whole,
)
from gateway.authoring.diff.prepared import encoded
from gateway.contract.schemas.containment import Contained, Witness, shrunk
from gateway.contract.schemas.flattening import NoSample
from gateway.contract.values.schema import Validator

_BASES: Final = 2
"""Values around a witness that are tried."""
_SHRINKS: Final = 400
"""Values that are tried to make a witness smaller."""
_ROUNDS: Final = 6
_MOST_BYTES: Final = 100_000
"""Of two schemas that are asked about as wholes, or of one that is sampled."""
_NAMES: Final = ("x", "other", "another_member")
"""Of members that no schema names."""


class Gap(Struct, frozen=True, kw_only=True):
    """A place where one schema refuses what the other admits, or where that is not known."""

    candidate: Candidate
    witness: Any | UnsetType = UNSET
    """A whole value that `inner` admits and `outer` refuses: both were executed. UNSET: none was
    found, and no proof either."""
    refusal: str = ""
    """Where and why `outer` refuses it."""


class SchemaComparison:
    """One pair of whole schemas: whether `outer` admits all that `inner` does, and where not."""

    def __init__(
        self,
        definitions: TwoDefinitions,
        known: dict[tuple[str, str], bool],
        outer: Any,
        inner: Any,
    ) -> None:
        self._definitions = definitions
        self._known = known
        self._outer = Node(outer, "")
        self._inner = Node(inner, "")

    @cached_property
    def _accepts(self) -> Validator:
        return Validator(whole(self._inner.schema, self._definitions.inner))

    @cached_property
    def _refuses(self) -> Validator:
        return Validator(whole(self._outer.schema, self._definitions.outer))

    def gaps(self) -> Iterator[Gap]:
        """The smallest places where the whole schemas differ. None: it is contained."""
        dismissed: set[tuple[Any, ...]] = set()
        reported: set[tuple[Any, ...]] = set()
        descent = Descent(self._definitions, self._known)
        first: dict[tuple[str, str], bool] = {}
        for _ in range(_ROUNDS):
            descent.passed = {}
            found = list(descent.candidates(self._outer, self._inner))
            first = first or dict(descent.passed)
            fresh = [each for each in found if each.key not in dismissed | reported]
            for each in fresh:
                gap = self._proved(each)
                if gap is None:
                    dismissed.add(each.key)
                else:
                    reported.add(each.key)
                    yield gap
            if not fresh:
                break
        # A place that is made up for here may count where a definition is used elsewhere.
        if not dismissed:
            self._known |= first or descent.passed

    def _proved(self, candidate: Candidate) -> Gap | None:
        """The gap at a candidate. None: the parts around it make up for it."""
        for value in self._lifted(candidate, candidate.chain, candidate.seed):
            if self._shows(value):
                return self._gap(candidate, value)
        # The candidate itself may be a part of its place, so the whole schemas are asked at last.
        places = [
            (each, *self._at(candidate, each)) for each in range(len(candidate.chain), -1, -1)
        ]
        for depth, outer, inner in [*places, (0, self._outer, self._inner)]:
            chain = candidate.chain[:depth]
            answer = self._asked(outer, inner)
            if isinstance(answer, Contained):
                return None
            if isinstance(answer, Witness):
                for value in self._around(chain, answer.value):
                    if self._shows(value):
                        return self._gap(candidate, value)
        return Gap(candidate=candidate)

    def _asked(self, outer: Node, inner: Node) -> Any:
        """What the whole schemas at two places say. None: they are too large to be asked."""
        left = encoded(whole(outer.schema, self._definitions.outer))
        right = encoded(whole(inner.schema, self._definitions.inner))
        return ask(left, right) if len(left) + len(right) <= _MOST_BYTES else None

    def _at(self, candidate: Candidate, depth: int) -> tuple[Node, Node]:
        """The two schemas after `depth` steps of the chain."""
        if depth == len(candidate.chain):
            return candidate.outer, candidate.inner
        link = candidate.chain[depth]
        return link.outer, link.inner

    def _shows(self, value: Any) -> bool:
        return self._accepts.admits(value) and not self._refuses.admits(value)

    def _gap(self, candidate: Candidate, value: Any) -> Gap:
        left = _SHRINKS

        def holds(smaller: Any) -> bool:
            nonlocal left
            left -= 1
            return left > 0 and self._shows(smaller)

        small = shrunk(value, holds)
        violations = self._refuses.violations(small)
        why = "; ".join(f"{each.pointer or '/'}: {each.detail}" for each in violations[:2])
        return Gap(candidate=candidate, witness=small, refusal=why)

    def _lifted(self, candidate: Candidate, chain: tuple[Link, ...], seed: Any) -> Iterator[Any]:
        """Whole values with `seed` at the end of `chain`, or without a required member there."""
        if candidate.want == "required":
            for value in self._bases(candidate.inner):
                if isinstance(value, dict):
                    rest = {name: each for name, each in value.items() if name != candidate.name}
                    yield from self._around(chain, rest)
        elif seed is not UNSET:
            yield from self._around(chain, seed)
            for value in self._bases(candidate.inner):
                if isinstance(value, dict) and isinstance(seed, dict):
                    yield from self._around(chain, {**value, **seed})
                    kept = {name: each for name, each in value.items() if name in seed}
                    yield from self._around(chain, {**kept, **seed})

    def _around(self, chain: tuple[Link, ...], value: Any) -> Iterator[Any]:
        """Whole values with `value` at the end of `chain`."""
        if not chain:
            yield value
            return
        for number in range(_BASES):
            made = value
            for link in reversed(chain):
                made = _placed(link.step, self._base(link.inner, number), made)
            yield made

    def _bases(self, node: Node) -> Iterator[Any]:
        return (self._base(node, number) for number in range(_BASES))

    def _base(self, node: Node, number: int) -> Any:
        """A value of `node`: one with little in it, made quickly, and then a sample."""
        if number == 0:
            return self._definitions.least.value(node.schema)
        schema = whole(node.schema, self._definitions.inner)
        if len(encoded(schema)) > _MOST_BYTES:
            return self._definitions.least.value(node.schema)
        with suppress(NoSample, LookupError):
            samples = self._definitions.samples.samples(node.schema)
            return samples.sample("diff", str(number), is_short=True)
        return None


def _placed(step: Step, base: Any, value: Any) -> Any:
    """`base` with `value` where `step` leads."""
    kind, where = step
    if kind == "member":
        return {**_object(base), where: value}
    if kind == "any member":
        name = next((each for each in _NAMES if each not in where), _NAMES[0] * 9)
        return {**_object(base), name: value}
    if kind in {"item", "any item"}:
        items = base if isinstance(base, list) else []
        return [*items[:where], value, *items[where + 1 :]]
    if isinstance(base, dict) and isinstance(value, dict):
        return {**base, **value}
    return value


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
