"""Each boundary of each schema, and what lies beyond it: Schemathesis' coverage phase.

The same arguments go to REST, to MCP in both revisions and to stdio. The authority says what must
come of each.
"""

from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Final

from hypothesis import given, seed

from gateway.catalogue import Entry
from gateway.testing.cases import Case, callable_alone
from gateway.testing.fixtures import Loop
from gateway.testing.gateways import Faces
from gateway.testing.generation import (
    SMALL_BUDGET,
    covering_arguments,
    expected,
    few,
    invalid_arguments,
    valid_arguments,
)
from gateway.testing.judging import Disagreement, Verdict
from gateway.testing.records import CASES
from gateway.testing.reducing import cause_of, failed_of, must_agree, reduced
from gateway.testing.seeding import planted

__all__ = [
    "test_each_boundary_of_an_imported_operation_is_judged_alike",
    "test_each_boundary_of_the_arguments_is_judged_alike",
    "test_more_arguments_until_the_budget_ends",
]

ORIGIN: Final = "coverage"
_APART: Final = 1_000_003
"""Between the seeds of two rounds of fuzzing."""


def boundary_cases(faces: Faces, operation: str, every: int) -> Iterator[Case]:
    """The cases that the authority decides; of so many values in a row, one."""
    entry = faces.catalogue.find(operation)
    for text in islice(covering_arguments(faces.catalogue, entry), 0, None, every):
        expectation = expected(entry, text)
        if expectation is not None:
            yield Case(operation, text, ORIGIN, expectation)


async def boundary_failures(faces: Faces, operation: str, every: int) -> list[Verdict]:
    """What failed: of each cause, on the smallest arguments found."""
    found: dict[str, list[Verdict]] = {}
    for case in boundary_cases(faces, operation, every):
        failed = failed_of(await faces.verdicts(case))
        if failed and (cause := cause_of(failed)) not in found:
            found[cause] = await reduced(faces, case)
    return [each for verdicts in found.values() for each in verdicts]


def test_each_boundary_of_the_arguments_is_judged_alike(
    gateway_faces: Faces, gateway_loop: Loop, gateway_operation: str, gateway_every: int
) -> None:
    """Valid ones are admitted or refused by a declared error, invalid ones send nothing."""
    asking = boundary_failures(gateway_faces, gateway_operation, gateway_every)
    found = gateway_loop.run_until_complete(asking)
    if found:
        raise Disagreement(found)


def test_each_boundary_of_an_imported_operation_is_judged_alike(
    gateway_faces: Faces, gateway_loop: Loop, gateway_imported_operation: str, gateway_every: int
) -> None:
    asking = boundary_failures(gateway_faces, gateway_imported_operation, gateway_every)
    found = gateway_loop.run_until_complete(asking)
    if found:
        raise Disagreement(found)


def test_more_arguments_until_the_budget_ends(
    gateway_faces: Faces,
    gateway_loop: Loop,
    gateway_rest_of_budget: Callable[[], float],
    record_property: Callable[[str, object], None],
) -> None:
    """The fuzzing phase, as long as there is time: each tool in turn, each time by another seed."""
    catalogue = gateway_faces.catalogue
    entries = [each for each in callable_alone(catalogue) if not each.operation.is_imported]
    number = 0
    for draw in count(1):
        for entry in entries:
            if not gateway_rest_of_budget():
                record_property(CASES, number)
                return
            _draw_more(gateway_faces, gateway_loop, entry, draw)
            number += SMALL_BUDGET


def _draw_more(faces: Faces, loop: Loop, entry: Entry, draw: int) -> None:
    """One round of one tool."""
    catalogue = faces.catalogue

    @seed(draw * _APART + (planted() or 0))
    @few()
    @given(arguments=valid_arguments(catalogue, entry) | invalid_arguments(catalogue, entry))
    def check(arguments: bytes) -> None:
        expectation = expected(entry, arguments)
        if expectation is not None:
            case = Case(entry.id, arguments, "fuzzing", expectation)
            loop.run_until_complete(must_agree(faces, case))

    check()
