"""Imported operations: MCP and REST never disagree, and each result fits the vendor's document."""

import json

import pytest

from gateway.testing.cases import Case, imported_cases, wrong_cases
from gateway.testing.fixtures import Loop, draw_of
from gateway.testing.gateways import Faces
from gateway.testing.judging import IMPOSSIBLE, Verdict, agree

__all__ = [
    "test_made_arguments_of_an_imported_operation_are_answered_alike",
    "test_wrong_arguments_of_an_imported_operation_are_refused_alike",
]


def _made(faces: Faces, operation: str, config: pytest.Config) -> list[Case]:
    made = imported_cases(faces.catalogue.find(operation), draw_of(config).seed)
    if not made:
        pytest.skip("the schema of the arguments has no sample")
    return made


def test_made_arguments_of_an_imported_operation_are_answered_alike(
    gateway_faces: Faces,
    gateway_loop: Loop,
    gateway_imported_operation: str,
    pytestconfig: pytest.Config,
) -> None:
    """Each face sends the same request. What no request can carry is refused, and nothing sent."""
    entry = gateway_faces.catalogue.find(gateway_imported_operation)
    made = _made(gateway_faces, gateway_imported_operation, pytestconfig)
    verdicts: list[Verdict] = []
    for case in made:
        found = gateway_loop.run_until_complete(gateway_faces.ask_all(entry, case.arguments))
        assert found.requests == [found.requests[0]] * len(found.requests)
        assert (found.requests[0] is None) is (found.first.code == "VALIDATION_ERROR")
        verdicts += found.verdicts(case, gateway_faces.catalogue)
    agree(verdicts)
    if all(each.outcome == "skipped" for each in verdicts):
        pytest.skip(IMPOSSIBLE)


def test_wrong_arguments_of_an_imported_operation_are_refused_alike(
    gateway_faces: Faces,
    gateway_loop: Loop,
    gateway_imported_operation: str,
    pytestconfig: pytest.Config,
) -> None:
    """An unknown argument, a missing one, one of another type: nothing is sent."""
    entry = gateway_faces.catalogue.find(gateway_imported_operation)
    *_, made = _made(gateway_faces, gateway_imported_operation, pytestconfig)
    for case in wrong_cases(entry, json.loads(made.arguments)):
        agree(gateway_loop.run_until_complete(gateway_faces.verdicts(case)))
