"""Proves that a candidate is no difference, or finds a whole value that shows it."""

from collections.abc import Generator, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain as chained
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
)
from gateway.contract.schemas.containment import Contained, Witness, shrunk
from gateway.contract.values.schema import Validator

_BASES: Final = 2
"""Values around a witness that are tried."""
_SHRINKS: Final = 400
"""Values that are tried to make a witness smaller."""
_MOST_BYTES: Final = 100_000
"""Of two schemas that are asked about as wholes."""
_NAMES: Final = ("x", "other", "another_member")
"""Of members that no schema names."""


class Gap(Struct, frozen=True, kw_only=True):
    """A place where one schema refuses what the other admits, or where that is not known."""

    candidate: Candidate
    witness: Any | UnsetType = UNSET
    """A whole value that `inner` admits and `outer` refuses: both were executed. UNSET: none was
    found, and no proof either."""


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
        return Validator(self._definitions.inner.whole(self._inner.schema))

    @cached_property
    def _refuses(self) -> Validator:
        return Validator(self._definitions.outer.whole(self._outer.schema))

    def gaps(self) -> Iterator[Gap]:
        """The smallest places where the whole schemas differ. None: it is contained."""
        descent = Descent(self._definitions, self._known)
        found = list(descent.candidates(self._outer, self._inner))
        is_made_up_for = yield from self._reported(found)
        if is_made_up_for:
            # What was skipped because of a candidate counts if that one is no difference.
            for each in descent.skipped:
                yield from self._reported(descent.overlap(*each))
        else:
            # A place that is made up for here may count where a definition is used elsewhere.
            self._known |= descent.passed

    def _reported(self, candidates: Iterable[Candidate]) -> Generator[Gap, None, bool]:
        """The gaps of candidates. Returns whether the parts around one make up for it."""
        is_made_up_for = False
        for each in candidates:
            gap = self._proved(each)
            is_made_up_for |= gap is None
            if gap is not None:
                yield gap
        return is_made_up_for

    def _proved(self, candidate: Candidate) -> Gap | None:
        """The gap at a candidate. None: the parts around it make up for it."""
        for value in chained(self._lifted(candidate), self._guessed(candidate)):
            if self._shows(value):
                return Gap(candidate=candidate, witness=value)
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
                        return Gap(candidate=candidate, witness=value)
        return Gap(candidate=candidate)

    def _asked(self, outer: Node, inner: Node) -> Any:
        """What the whole schemas at two places say. None: they are too large to be asked."""
        left = self._definitions.outer.text(outer.schema)
        right = self._definitions.inner.text(inner.schema)
        return ask(left, right) if len(left) + len(right) <= _MOST_BYTES else None

    def _at(self, candidate: Candidate, depth: int) -> tuple[Node, Node]:
        """The two schemas after `depth` steps of the chain."""
        if depth == len(candidate.chain):
            return candidate.outer, candidate.inner
        link = candidate.chain[depth]
        return link.outer, link.inner

    def _shows(self, value: Any) -> bool:
        return self._accepts.admits(value) and not self._refuses.admits(value)

    def explained(self, value: Any) -> tuple[Any, str]:
        """The witness `value` as small as can be found, and where and why `outer` refuses it."""
        left = _SHRINKS

        def holds(smaller: Any) -> bool:
            nonlocal left
            left -= 1
            return left > 0 and self._shows(smaller)

        small = shrunk(value, holds)
        violations = self._refuses.violations(small)
        return small, "; ".join(f"{each.pointer or '/'}: {each.detail}" for each in violations[:2])

    def _lifted(self, candidate: Candidate) -> Iterator[Any]:
        """Whole values with the seed at the end of the chain, or without a required member."""
        chain, seed = candidate.chain, candidate.seed
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

    def _guessed(self, candidate: Candidate) -> Iterator[Any]:
        """Whole values around values of the place that differs, and of its new branches."""
        if candidate.want == "required":
            return
        sides = self._definitions
        accepts, refuses = (
            Validator(side.whole(node.schema))
            for side, node in ((sides.inner, candidate.inner), (sides.outer, candidate.outer))
        )
        old, new = (_branches(each.schema) for each in (candidate.outer, candidate.inner))
        for each in (candidate.inner.schema, *(one for one in new if one not in old)):
            for value in (sides.inner.values.quick(each), sides.inner.values.sample(each)):
                # What differs elsewhere is no witness of this place.
                if accepts.admits(value) and not refuses.admits(value):
                    yield from self._around(candidate.chain, value)

    def _around(self, chain: tuple[Link, ...], value: Any) -> Iterator[Any]:
        """Whole values with `value` at the end of `chain`."""
        if not chain:
            yield value
            return
        has_parts = any(link.step[0] == "same" for link in chain)
        for is_merged in (True, False) if has_parts else (True,):
            for number in range(_BASES):
                made = value
                for link in reversed(chain):
                    # A branch may stand for the whole: what another one asks for is not added.
                    if is_merged or link.step[0] != "same":
                        made = _placed(link.step, self._base(link.inner, number), made)
                yield made

    def _bases(self, node: Node) -> Iterator[Any]:
        return (self._base(node, number) for number in range(_BASES))

    def _base(self, node: Node, number: int) -> Any:
        """A value of `node`: one with little in it, made quickly, and then a sample."""
        values = self._definitions.inner.values
        return values.sample(node.schema) if number else values.quick(node.schema)


def _branches(schema: Any) -> list[Any]:
    return [*schema.get("oneOf", ()), *schema.get("anyOf", ())] if isinstance(schema, dict) else []


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
