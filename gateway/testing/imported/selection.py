"""Which imported operations the suite tests: a few of each document, or all of them.

A document may have thousands of operations, and a suite that nobody waits for is not run. The
operations are drawn by a seed, so that a run can be repeated, and from each HTTP method in turn.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

import pytest
from msgspec import Struct

from gateway.catalogue import Catalogue, StoredOperation
from gateway.cli.verification.suite_options import ALL_OPTION, PER_DOCUMENT, SEED_OPTION


class OperationDraw(Struct, frozen=True, kw_only=True):
    """How operations are drawn."""

    seed: int = 0
    is_whole: bool = False
    """Whether all of them are tested."""

    def of(self, operations: Iterable[StoredOperation]) -> list[StoredOperation]:
        """The operations of one document that are tested, in the order of the document."""
        known = list(operations)
        if self.is_whole:
            return known
        drawn = set(self._drawn(known))
        return [each for each in known if each.head.id in drawn]

    def _drawn(self, operations: Sequence[StoredOperation]) -> list[str]:
        by_method: dict[str, list[str]] = {}
        for each in operations:
            by_method.setdefault(each.head.method, []).append(each.head.id)
        ranked = (
            (rank, self.rank(each), each)
            for ids in by_method.values()
            for rank, each in enumerate(sorted(ids, key=self.rank))
        )
        return [each for *_, each in sorted(ranked)[:PER_DOCUMENT]]

    def rank(self, text: str) -> str:
        """The place of `text` in the order of this seed."""
        return hashlib.sha256(f"{self.seed} {text}".encode()).hexdigest()


def draw_of(config: pytest.Config) -> OperationDraw:
    """What the options of this run say."""
    return OperationDraw(seed=config.getoption(SEED_OPTION), is_whole=config.getoption(ALL_OPTION))


def drawn(catalogue: Catalogue, draw: OperationDraw) -> Iterator[StoredOperation]:
    """The imported operations that are tested."""
    for document in catalogue.imported.values():
        yield from draw.of(document.operations)


def stored_operation(catalogue: Catalogue, operation_id: str) -> StoredOperation:
    """The record of an imported operation."""
    document = catalogue.imported[operation_id.partition(".")[0]]
    return next(each for each in document.operations if each.head.id == operation_id)


def imported_lines(catalogue: Catalogue, draw: OperationDraw) -> Iterator[str]:
    """For each imported document, how many of its operations are tested."""
    for name, document in catalogue.imported.items():
        tested, number = len(draw.of(document.operations)), len(document.operations)
        fix = "" if tested == number else f"; --all tests all, --seed {draw.seed + 1} tests others"
        yield f"gateway: {tested} of {number} imported operations of {name} are tested{fix}"
