"""The vectors of each contract: small values that tell its schema from every near mistake.

Each is judged as the schema says, over REST, MCP and stdio alike, and nothing is sent for
arguments that it refuses.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from gateway.contract.values.schema import Validator
from gateway.testing.cases import Case, Expectation
from gateway.testing.fixtures import Loop
from gateway.testing.gateways import Faces, catalogue_under_test, project_under_test
from gateway.testing.judging import Verdict, failures
from gateway.testing.kept_vectors import ContractSchema, by_subject, vectors_for
from gateway.testing.records import COVERAGE, as_property
from gateway.testing.vectors import LEAST_SCORE, Vectors, vectors_of

__all__ = [
    "test_invalid_vectors_of_an_imported_operation_are_refused_alike",
    "test_vectors_of_arguments_are_judged_alike",
    "test_vectors_of_other_schemas_are_judged_by_their_gates",
    "test_vectors_tell_the_schema_from_near_mistakes",
]


@cache
def _contracts() -> dict[str, ContractSchema]:
    return dict(by_subject(catalogue_under_test(), project_under_test()))


def _vectors(subject: str) -> Vectors:
    return vectors_for(_contracts()[subject], project_under_test().schemas)


def test_vectors_tell_the_schema_from_near_mistakes(
    gateway_contract_schema: str, record_property: Callable[[str, object], None]
) -> None:
    """A report shows what they cover, whether it is enough or not."""
    found = _vectors(gateway_contract_schema)
    record_property(COVERAGE, as_property(found.coverage(gateway_contract_schema)))

    assert found.score >= LEAST_SCORE, found.survivors


def test_vectors_of_arguments_are_judged_alike(
    gateway_faces: Faces, gateway_loop: Loop, gateway_written_operation: str
) -> None:
    """Valid ones are answered, or refused by a declared error; of invalid ones nothing is sent."""
    verdicts: list[Verdict] = []
    for vector in _vectors(f"{gateway_written_operation} input").vectors:
        text = json.dumps(vector.value).encode()
        expectation: Expectation = "admitted" if vector.valid else "invalid"
        case = Case(gateway_written_operation, text, vector.name, expectation)
        verdicts += gateway_loop.run_until_complete(gateway_faces.verdicts(case))

    assert failures(verdicts) == []


def test_vectors_of_other_schemas_are_judged_by_their_gates(gateway_contract_schema: str) -> None:
    """Results, payloads of webhooks and events, by the gates that the gateway has for them."""
    gate = _gate(gateway_contract_schema)
    found = _vectors(gateway_contract_schema).vectors

    wrong = [each for each in found if gate.admits(each.value) is not each.valid]
    assert wrong == []
    assert all(gate.violations(each.value) for each in found if not each.valid)


def test_invalid_vectors_of_an_imported_operation_are_refused_alike(
    gateway_faces: Faces, gateway_loop: Loop, gateway_imported_operation: str
) -> None:
    """No vendor's system is needed to know it: nothing is sent."""
    entry = gateway_faces.catalogue.find(gateway_imported_operation)
    verdicts: list[Verdict] = []
    for vector in vectors_of(entry.listing.input_schema).vectors:
        if not vector.valid:
            text = json.dumps(vector.value).encode()
            case = Case(gateway_imported_operation, text, vector.name, "invalid")
            verdicts += gateway_loop.run_until_complete(gateway_faces.verdicts(case))

    assert failures(verdicts) == []


def _gate(subject: str) -> Validator:
    """The compiled schema by which the running gateway judges."""
    catalogue: Any = catalogue_under_test()
    name, _, kind = subject.rpartition(" ")
    match kind:
        case "input":
            found = catalogue.find(name).input
        case "output":
            found = catalogue.find(name).output
        case "payload":
            provider, _, event = name.partition(".")
            found = catalogue.webhooks[provider].validators[event]
        case _:
            found = catalogue.events[name].validator
    gate: Validator = found
    return gate
