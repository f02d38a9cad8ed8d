"""Imported operations are verified or left out, and a slow gateway is waited for."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from gateway.authoring.codegen.imported import record_text
from gateway.catalogue import Catalogue, PublishedDocuments
from gateway.catalogue.imported import FOLDER, open_imported
from gateway.catalogue.index import AgentPolicies
from gateway.contract.operation import DeclaredError, Effect
from gateway.testing import verify as subject
from gateway.testing.cases import MADE, made_cases
from gateway.testing.fixtures import _written
from gateway.testing.served import READY, TRANSPORTS, World, awaited
from gateway.testing.transports import TransportFailed
from tests.eventually import PATIENCE_SECONDS
from tests.shelter import OPERATIONS, connector
from tests.unit.testing.test_verify import CallRefused, transport

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
    plan = made_cases(catalogue, None, REPORT.append)
    reads = [each.id for each in catalogue.entries if each.operation.effect is Effect.READ]
    assert [case.contract for case in plan.cases] == reads
    for case in plan.cases:
        assert catalogue.find(case.contract).input.admits(msgspec.json.decode(case.arguments))
    assert {case.origin for case in plan.cases} == {MADE}


def test_the_others_are_counted_with_the_reason(catalogue):
    plan = made_cases(catalogue, "shelter", REPORT.append)
    number = len(catalogue.entries) - len(plan.cases)
    assert number > 1
    assert list(plan.lines()) == [f"not verified: {number} imported tools that write or destroy"]
    assert made_cases(catalogue, "other", REPORT.append).left_out == {}


@pytest.mark.parametrize(
    ("refusal", "is_verified"),
    [
        ((404, "NOT_FOUND", "There is none."), True),
        ((502, "TRANSPORT_ERROR", "The upstream answered 404."), True),
        ((502, "TRANSPORT_ERROR", "The upstream answered 500."), False),
    ],
)
async def test_an_error_is_an_answer_if_it_is_declared_or_says_that_nothing_is_there(
    catalogue, monkeypatch, tmp_path, refusal, is_verified
):
    plan = made_cases(catalogue, None, REPORT.append)
    cases = [each for each in plan.cases if each.contract == "shelter.read_pet"]

    def refused(_):
        raise CallRefused(*refusal)

    monkeypatch.setattr(subject, "TRANSPORTS", dict.fromkeys(TRANSPORTS, transport(refused)))
    world = World(tmp_path, ("shelter",), {})
    (found,) = await subject.verify(catalogue, world, cases, REPORT.append)
    assert found.is_verified is is_verified
    assert found.operation == "shelter.read_pet"


def test_the_contract_suite_generates_cases_for_written_tools_only(catalogue):
    assert list(_written(catalogue)) == []


def output(*lines: str) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    reader.feed_data("".join(f"{line}\n" for line in lines).encode())
    return reader


async def test_what_comes_before_is_reported():
    said: list[str] = []
    reader = output("reading the contracts", "opening a gateway", "ready http://127.0.0.1:1")
    assert await awaited(reader, READY, said.append, PATIENCE_SECONDS) == "http://127.0.0.1:1"
    assert said == ["starting", "reading the contracts", "opening a gateway"]


async def test_a_process_that_ends_is_named_with_its_last_step():
    reader = output("reading the contracts")
    reader.feed_eof()
    with pytest.raises(TransportFailed, match="ended unasked after: reading the contracts"):
        await awaited(reader, READY, lambda _: None, PATIENCE_SECONDS)


async def test_a_silent_process_is_given_up():
    with pytest.raises(TransportFailed, match=r"nothing for 0\.01 seconds after: opening"):
        await awaited(output("opening"), READY, lambda _: None, 0.01)
