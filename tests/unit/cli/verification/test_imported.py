"""Imported operations are verified with made arguments, or left out and counted."""

from pathlib import Path

import msgspec
import pytest

from gateway.catalogue import Catalogue, PublishedDocuments
from gateway.catalogue.imported import FOLDER, open_imported
from gateway.catalogue.index import AgentPolicies
from gateway.cli.authoring import verify as subject
from gateway.cli.authoring.verify import TRANSPORTS, CallRefused
from gateway.cli.verification.imported import MADE, imported_plan
from gateway.cli.verification.world import World
from gateway.codegen.imported import record_text
from gateway.contract.operation import DeclaredError, Effect
from gateway.testing.fixtures import _written
from tests.shelter import OPERATIONS, connector
from tests.unit.cli.verification.test_verify import transport

REPORT: list[str] = []


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    file = tmp_path / FOLDER / "shelter.json"
    file.parent.mkdir()
    gone = DeclaredError(reason="not_found", status=404, title="There is none.")
    operations = (
        msgspec.structs.replace(each, errors=(gone,)) if each.tool == "read_pet" else each
        for each in OPERATIONS
    )
    file.write_text(record_text(connector(*operations)))
    (found,) = open_imported(tmp_path)
    return Catalogue(
        found.entries,
        upstreams={"shelter": found.upstream},
        agents=AgentPolicies({}, {}),
        published=PublishedDocuments(b"{}"),
        imported={"shelter": found.document},
    )


def test_each_read_gets_a_call_with_valid_arguments(catalogue):
    plan = imported_plan(catalogue, None, REPORT.append)
    reads = [each.id for each in catalogue.entries if each.operation.effect is Effect.READ]
    assert [step.entry.id for step in plan.steps] == reads
    assert all(step.entry.input.admits(step.arguments) for step in plan.steps)
    assert {step.example for step in plan.steps} == {MADE}


def test_the_others_are_counted_with_the_reason(catalogue):
    plan = imported_plan(catalogue, "shelter", REPORT.append)
    number = len(catalogue.entries) - len(plan.steps)
    assert number > 1
    assert list(plan.lines()) == [
        f"not verified: {number} imported tools that write or destroy",
    ]
    assert imported_plan(catalogue, "other", REPORT.append).left_out == {}


@pytest.mark.parametrize(
    ("refusal", "is_verified"),
    [
        ("404 NOT_FOUND: There is none.", True),
        ("502 TRANSPORT_ERROR: The upstream answered 404.", True),
        ("502 TRANSPORT_ERROR: The upstream answered 500.", False),
    ],
)
async def test_an_error_is_an_answer_if_it_is_declared_or_says_that_nothing_is_there(
    catalogue, monkeypatch, tmp_path, refusal, is_verified
):
    plan = imported_plan(catalogue, None, REPORT.append)
    (step,) = (each for each in plan.steps if each.entry.id == "shelter.read_pet")

    def refused(_):
        raise CallRefused(refusal)

    monkeypatch.setattr(subject, "TRANSPORTS", dict.fromkeys(TRANSPORTS, transport(refused)))
    world = World(tmp_path, ("shelter",), {})
    (found,) = await subject.verify(catalogue, world, more=[step], report=REPORT.append)
    assert found.is_verified is is_verified
    assert found.operation == "shelter.read_pet"


def test_the_contract_suite_generates_cases_for_written_tools_only(catalogue):
    assert list(_written(catalogue)) == []
