"""Each boundary of each schema, and what lies beyond it: Schemathesis' coverage phase.

The same arguments go to REST, to MCP in both revisions and to stdio. The authority says what must
come of each.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from gateway.testing.cases import Case
from gateway.testing.fixtures import Loop
from gateway.testing.gateways import Faces
from gateway.testing.generation import covering_arguments, expected
from gateway.testing.judging import Disagreement, Verdict
from gateway.testing.reducing import cause_of, failed_of, reduced

__all__ = [
    "test_each_boundary_of_an_imported_operation_is_judged_alike",
    "test_each_boundary_of_the_arguments_is_judged_alike",
]

EVERY: int = 1
"""One in so many values is tried."""
ORIGIN: Final = "coverage"


def boundary_cases(faces: Faces, operation: str) -> Iterator[Case]:
    """The cases that the authority decides."""
    entry = faces.catalogue.find(operation)
    for text in islice(covering_arguments(faces.catalogue, entry), 0, None, EVERY):
        expectation = expected(entry, text)
        if expectation is not None:
            yield Case(operation, text, ORIGIN, expectation)


async def boundary_failures(faces: Faces, operation: str) -> list[Verdict]:
    """What failed: of each cause, on the smallest arguments found."""
    found: dict[str, list[Verdict]] = {}
    for case in boundary_cases(faces, operation):
        failed = failed_of(await faces.verdicts(case))
        if failed and (cause := cause_of(failed)) not in found:
            found[cause] = await reduced(faces, case)
    return [each for verdicts in found.values() for each in verdicts]


def test_each_boundary_of_the_arguments_is_judged_alike(
    gateway_faces: Faces, gateway_loop: Loop, gateway_operation: str
) -> None:
    """Valid ones are admitted or refused by a declared error, invalid ones send nothing."""
    found = gateway_loop.run_until_complete(boundary_failures(gateway_faces, gateway_operation))
    if found:
        raise Disagreement(found)


def test_each_boundary_of_an_imported_operation_is_judged_alike(
    gateway_faces: Faces, gateway_loop: Loop, gateway_imported_operation: str
) -> None:
    operation = gateway_imported_operation
    found = gateway_loop.run_until_complete(boundary_failures(gateway_faces, operation))
    if found:
        raise Disagreement(found)
