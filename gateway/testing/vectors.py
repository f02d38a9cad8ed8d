"""Test vectors of a contract: few small values that tell its schema from every near mistake.

They are made of the schema alone, the same ones each time, and kept by its hash.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from time import process_time
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gateway.cli.reports.record import ContractCoverage, Mutants
from gateway.contract.schemas.keywords import ANNOTATIONS, SCHEMA_LISTS, SCHEMA_MAPS, subschemas
from gateway.contract.schemas.mutants import Mutant, mutants, replaced
from gateway.contract.schemas.witnesses import Search, Told
from gateway.contract.values.pointers import child, steps
from gateway.contract.values.schema import Validator

Schema = dict[str, Any]

MAX_MUTANTS: Final = 1500
"""Of a larger schema, so many mutants are tried. The others are undecided."""
_MAX_PAIRS: Final = 1_000_000
"""How often a value is tried on a mutant. Beyond, each is tried on the mutant it was made for."""
LEAST_SCORE: Final = 0.95


class Vector(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A value, and whether the schema admits it."""

    name: str
    """The mutant that it is made for: of those that it tells from the schema, the rarest."""
    valid: bool
    value: Any


class Vectors(Struct, frozen=True, kw_only=True):
    """The vectors of one schema, and what they cover."""

    vectors: tuple[Vector, ...]
    killed: int
    equivalent: int
    undecided: tuple[str, ...] = ()
    """Mutants that are neither told from the schema nor proved to be the same."""
    survivors: tuple[str, ...] = ()
    """Mutants that differ from the schema, and that no vector tells from it."""
    keywords: int = 0
    """Places of keywords that can refuse a value by themselves."""
    missed: tuple[str, ...] = ()
    """Those that no vector passes, or that no vector fails."""
    is_unsatisfiable: bool = False
    """It is proved that the schema admits no value."""
    seconds: float = 0.0
    """What it took to make or to judge them."""

    @property
    def score(self) -> float:
        """The share of the mutants that are killed, of those known to differ.

        0 if the schema admits nothing: no vector can say what it is for.
        """
        if self.is_unsatisfiable:
            return 0.0
        decidable = self.killed + len(self.survivors)
        return self.killed / decidable if decidable else 1.0

    def coverage(self, subject: str) -> ContractCoverage:
        """The record of reports."""
        return ContractCoverage(
            subject=subject,
            keywords=self.keywords,
            seen=self.keywords - len(self.missed),
            missed=self.missed,
            mutants=Mutants(
                killed=self.killed,
                equivalent=self.equivalent,
                undecided=self.undecided,
                survivors=self.survivors,
            ),
            seconds=self.seconds,
        )


def schema_hash(schema: Schema) -> str:
    """A text that changes with the schema, by which its vectors are kept."""
    text = json.dumps(schema, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def vectors_of(schema: Schema, examples: Sequence[Any] = ()) -> Vectors:
    """The vectors of `schema`. Values are like the `examples`, where these are valid."""
    began = process_time()
    trial = _Trial(schema, Search(schema, examples))
    told = [(mutant, trial.search.told(mutant)) for mutant in trial.mutants]
    candidates: dict[str, _Candidate] = {}
    for mutant, answer in told:
        for found, is_valid in ((answer.more, False), (answer.less, True)):
            if found is not None:
                key = json.dumps(found[0], sort_keys=True)
                made = candidates.setdefault(key, _Candidate(found[0], is_valid, {}))
                made.kills[mutant.text] = mutant
    trial.find_kills([*candidates.values()])
    chosen = _chosen(candidates)
    return replace(trial.measured(chosen, dict(trial.by_text(told))), seconds=_since(began))


def judged_vectors(schema: Schema, vectors: Sequence[Vector]) -> Vectors:
    """What given `vectors`, whose verdicts are those of `schema`, cover."""
    began = process_time()
    trial = _Trial(schema, Search(schema, [each.value for each in vectors if each.valid]))
    candidates = [_Candidate(each.value, each.valid, {}) for each in vectors]
    trial.find_kills(candidates)
    measured = trial.measured(candidates, {})
    return replace(measured, vectors=tuple(vectors), seconds=_since(began))


def _since(began: float) -> float:
    return round(process_time() - began, 3)


class _Candidate(Struct):
    """A value that may become a vector."""

    value: Any
    is_valid: bool
    kills: dict[str, Mutant]
    """By text, the mutants whose verdict is another one."""


class _Trial:
    """The mutants of one schema, and what tells them."""

    def __init__(self, schema: Schema, search: Search) -> None:
        self.search = search
        self._schema = schema
        found = [*mutants(schema)]
        self.mutants = found[:MAX_MUTANTS]
        self._left_out = [mutant.text for mutant in found[MAX_MUTANTS:]]

    @staticmethod
    def by_text(told: list[tuple[Mutant, Told]]) -> Iterator[tuple[str, Told]]:
        yield from ((mutant.text, answer) for mutant, answer in told)

    def find_kills(self, candidates: Sequence[_Candidate]) -> None:
        """Add to each candidate the mutants that it tells, in the order of the schema."""
        if len(candidates) * len(self.mutants) > _MAX_PAIRS:
            return
        for candidate in candidates:
            candidate.kills.clear()
        for mutant in self.mutants:
            is_valid = self.search.judge(mutant)
            for candidate in candidates:
                if is_valid(candidate.value) is not candidate.is_valid:
                    candidate.kills[mutant.text] = mutant

    def measured(self, chosen: Sequence[_Candidate], told: Mapping[str, Told]) -> Vectors:
        """What these candidates cover. `told`: what is known of mutants already, by text."""
        killed = {text for each in chosen for text in each.kills}
        survivors, equivalent, undecided = [], 0, []
        dull: set[str] = set()
        for mutant in self.mutants:
            if mutant.text in killed:
                continue
            answer = told.get(mutant.text) or self.search.told(mutant)
            if answer.is_equivalent:
                equivalent += 1
                dull.add(mutant.pointer)
            elif answer.more or answer.less or answer.is_different:
                survivors.append(mutant.text)
            else:
                undecided.append(mutant.text)
        places = [each for each in keyword_places(self._schema) if each not in dull]
        return Vectors(
            vectors=tuple(_named(chosen)),
            killed=len([each for each in self.mutants if each.text in killed]),
            equivalent=equivalent,
            undecided=(*undecided, *self._left_out),
            survivors=tuple(survivors),
            keywords=len(places),
            missed=tuple(self._missed(places, chosen)),
            is_unsatisfiable=self.search.is_hopeless,
        )

    def _missed(self, places: list[str], chosen: Sequence[_Candidate]) -> Iterator[str]:
        """The keywords that are not seen passing, or not seen failing."""
        valid = [each.value for each in chosen if each.is_valid]
        failing = {
            place
            for each in chosen
            if not each.is_valid
            for mutant in each.kills.values()
            for place in _with_parents(mutant.pointer)
        }
        passing: dict[str, bool] = {}
        for place in places:
            holder = place.rpartition("/")[0]
            if holder not in passing:
                never = replaced(self._schema, tuple(steps(holder)), False)
                refuses = Validator(never).admits
                passing[holder] = any(not refuses(value) for value in valid)
            if place not in failing or not passing[holder]:
                yield place


def _with_parents(pointer: str) -> Iterator[str]:
    """A keyword, and the keyword that it is a member of."""
    while pointer:
        yield pointer
        pointer = pointer.rpartition("/")[0]


def _named(chosen: Sequence[_Candidate]) -> Iterator[Vector]:
    counts = Counter(text for each in chosen for text in each.kills)
    for each in chosen:
        name = min(each.kills, key=counts.__getitem__, default="")
        yield Vector(name=name, valid=each.is_valid, value=each.value)


def _chosen(candidates: Mapping[str, _Candidate]) -> list[_Candidate]:
    """Few candidates that tell all mutants, in the order of the schema.

    Those that tell most are first, then the short ones. Of a mutant that differs both ways, a valid
    and an invalid value are chosen.
    """
    goals = {
        key: {(text, each.is_valid) for text in each.kills} for key, each in candidates.items()
    }
    left = set().union(*goals.values()) if goals else set()
    waiting = dict.fromkeys(candidates)
    chosen: set[str] = set()
    while left:
        best = max(waiting, key=lambda key: (len(left & goals[key]), -len(key)))
        left -= goals[best]
        del waiting[best]
        chosen.add(best)
    return [each for key, each in candidates.items() if key in chosen]


def keyword_places(schema: Schema) -> Iterator[str]:
    """The pointers of the keywords that can refuse a value by themselves."""
    for pointer, part in subschemas(schema):
        for keyword, value in part.items():
            is_applied = isinstance(value, dict) or keyword in _APPLICATORS
            if not is_applied and not keyword.startswith(("x-", "$")) and value is not True:
                yield child(pointer, keyword)


_APPLICATORS: Final = SCHEMA_MAPS | SCHEMA_LISTS | ANNOTATIONS
