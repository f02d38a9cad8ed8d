"""The contract suite on an imported document: case 40, whose links lead from one tool to another.

Each test of the suite passes there, and fails if an answer is changed.
"""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from gateway.authoring.codegen.generate import PackageNames, generate
from gateway.authoring.project.changes import place
from gateway.authoring.project.staging import bare_project
from gateway.backends.wire import WireRequest
from gateway.catalogue import StoredOperation
from gateway.testing import PER_DOCUMENT, judging
from gateway.testing.cases import UNKNOWN, Case, OperationDraw, imported_cases, wrong_cases
from gateway.testing.fixtures import opened
from gateway.testing.gateways import Faces, WatchedWire, catalogue_under_test, open_faces
from gateway.testing.judging import failures
from gateway.testing.links import drawn_links, link_lines, link_of, link_problems
from gateway.testing.live import LiveGateway, answering, open_live
from gateway.testing.suite import imported, imported_faults, links
from gateway.testing.suite.faults import CASES
from tests.forty.imports import cases
from tests.forty.imports import imported as import_case

PACKAGE = "package_of_case_forty"
WHOLE = OperationDraw(is_whole=True)


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    with asyncio.Runner() as runner:
        yield runner.get_loop()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project with case 40 only, which the suite tests."""
    root = tmp_path_factory.mktemp("case_forty")
    place(root, bare_project("forty", "1.2.3"))
    (case,) = (
        each for name, each in cases(Path(__file__).parent / "cases").items() if "40" in name
    )
    import_case(root, "c40", case, "https://vendor.example")
    generate(root / "schemas", root / PACKAGE, names=PackageNames(package=PACKAGE))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(root)
        patch.setenv("GATEWAY_SCHEMAS", str(root / "schemas"))
        patch.setenv("GATEWAY_PACKAGE", PACKAGE)
        catalogue_under_test.cache_clear()
        yield root
    catalogue_under_test.cache_clear()
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def faces(project: Path, loop: asyncio.AbstractEventLoop) -> Iterator[Faces]:
    yield from opened(loop, open_faces(project / "data"))


@pytest.fixture(scope="module")
def live(project: Path, loop: asyncio.AbstractEventLoop) -> Iterator[LiveGateway]:
    yield from opened(loop, open_live(project / "live"))


@pytest.fixture
def changed(faces: Faces, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes one face answer a tool with other members than it does."""

    def change(face: str, tool: str, **members: Any) -> None:
        usual = getattr(faces, face)

        async def answer(entry: Any, *arguments: Any) -> Any:
            verdict = await usual(entry, *arguments)
            if entry.id != tool or not verdict.accepted:
                return verdict
            return msgspec.structs.replace(verdict, body={**verdict.body, **members})

        monkeypatch.setattr(faces, face, answer)

    return change


def follow(faces: Faces, loop: asyncio.AbstractEventLoop, config: Any, name: str) -> None:
    (number,) = (
        each
        for each in drawn_links(faces.catalogue, WHOLE)
        if link_of(faces.catalogue, each)[1].name == name
    )
    links.test_a_link_leads_from_one_answer_to_the_next(
        faces, loop, number, config, lambda *_: None
    )


def test_a_request_that_does_not_say_its_arguments_is_found(
    faces: Faces, loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mock of a document takes a parameter with another name for none at all."""
    case = Case("c40.pets", b'{"per-page": 3}', "planted", "answer")
    assert failures(loop.run_until_complete(faces.verdicts(case))) == []
    exchange = WatchedWire.exchange

    async def misnamed(wire: WatchedWire, request: WireRequest) -> Any:
        target = request.target.replace("per-page=", "page=")
        return await exchange(wire, replace(request, target=target))

    async def emptied(wire: WatchedWire, request: WireRequest) -> Any:
        return await exchange(wire, replace(request, target=request.target.partition("?")[0]))

    for planted, what in ((misnamed, "'page'"), (emptied, "per-page is missing")):
        monkeypatch.setattr(WatchedWire, "exchange", planted)
        found = failures(loop.run_until_complete(faces.verdicts(case)))
        assert len(found) == 4, found
        assert all(what in each and "/c40/openapi.json" in each for each in found)


@pytest.mark.parametrize("name", ["nextPage", "itself", "byReference", "renamed", "again"])
def test_a_link_is_followed(faces, loop, pytestconfig, name):
    follow(faces, loop, pytestconfig, name)


def test_what_cannot_be_followed_is_named_with_the_reason(faces):
    problems = list(link_problems(faces.catalogue))
    assert len(problems) == 4
    assert (
        "c40.add_pet, link 'placed' at '/paths/~1pets/post/responses/201/links/placed': the"
        " expression '$response.header.Location': results have only the"
        " headers that import.yaml names"
    ) in problems
    assert [*link_lines(problems, {}, WHOLE)] == [f"  not followed: {each}" for each in problems]


@pytest.mark.parametrize(
    ("face", "members"), [("rest", {"id": 1}), ("rest", {"name": 7}), ("mcp", {"name": "other"})]
)
def test_another_thing_than_the_link_names_is_noticed(
    faces, loop, pytestconfig, changed, face, members
):
    changed(face, "c40.pet", **members)
    with pytest.raises(AssertionError):
        follow(faces, loop, pytestconfig, "itself")


@pytest.mark.parametrize("tool", ["c40.pets", "c40.add_pet", "c40.pet", "c40.subscribe"])
def test_arguments_are_judged_alike(faces, loop, pytestconfig, tool):
    imported.test_made_arguments_of_an_imported_operation_are_answered_alike(
        faces, loop, tool, pytestconfig
    )
    imported.test_wrong_arguments_of_an_imported_operation_are_refused_alike(
        faces, loop, tool, pytestconfig
    )


def test_a_face_that_answers_otherwise_is_noticed(faces, loop, pytestconfig, changed):
    changed("mcp", "c40.pets", items=[1])
    with pytest.raises(AssertionError):
        imported.test_made_arguments_of_an_imported_operation_are_answered_alike(
            faces, loop, "c40.pets", pytestconfig
        )


def test_arguments_without_an_answer_of_the_mock_do_not_hide_the_others(
    faces, loop, pytestconfig, changed, monkeypatch
):
    looked = []

    def is_first(verdict: Any) -> bool:
        looked.append(verdict)
        return len(looked) == 1

    monkeypatch.setattr(judging, "is_impossible", is_first)
    changed("mcp", "c40.pets", items=[1])
    with pytest.raises(AssertionError):
        imported.test_made_arguments_of_an_imported_operation_are_answered_alike(
            faces, loop, "c40.pets", pytestconfig
        )


def test_wrong_arguments_are_wrong_in_one_place(faces):
    entry = faces.catalogue.find("c40.add_pet")
    (*_, made) = imported_cases(entry, 0)
    arguments = msgspec.json.decode(made.arguments)
    wrong = {each.origin: each.arguments for each in wrong_cases(entry, arguments)}
    assert [*wrong] == [f"unknown {UNKNOWN}", "no object", "without name", "wrong name"]
    assert not any(entry.input.admits(msgspec.json.decode(each)) for each in wrong.values())


@pytest.mark.parametrize("tool", ["c40.pets", "c40.pet"])
def test_faults_and_odd_replies_end_right(live, loop, pytestconfig, tool):
    imported_faults.test_a_fault_of_an_imported_upstream_is_the_right_problem(
        loop, live, tool, pytestconfig
    )
    imported_faults.test_no_reply_of_an_imported_upstream_is_so_odd_that_the_gateway_fails(
        loop, live, tool, pytestconfig
    )


def test_an_answer_in_place_of_a_fault_is_noticed(live, loop, pytestconfig, monkeypatch):
    answered = msgspec.structs.replace(CASES["500"], fault=answering(200, b'{"items": []}'))
    monkeypatch.setitem(imported_faults.CASES, "500", answered)
    with pytest.raises(AssertionError, match="the tool answered"):
        imported_faults.test_a_fault_of_an_imported_upstream_is_the_right_problem(
            loop, live, "c40.pets", pytestconfig
        )


def numbered(stored: StoredOperation, number: int) -> StoredOperation:
    head = msgspec.structs.replace(stored.head, id=f"{stored.head.id}_{number}")
    return StoredOperation(stored.document, head, stored._raw)


def test_few_operations_are_drawn_by_a_seed_and_it_is_said(faces):
    (document,) = faces.catalogue.imported.values()
    known = [numbered(each, number) for number in range(4) for each in document.operations]
    one, again, other = (OperationDraw(seed=seed).of(known) for seed in (0, 0, 1))
    assert len(one) == PER_DOCUMENT
    assert one == again != other
    assert {each.head.method for each in one} == {"GET", "POST", "PATCH"}
    assert OperationDraw(is_whole=True).of(known) == known
    assert [*OperationDraw().lines(faces.catalogue)] == [
        "gateway: 5 of 5 imported operations of c40 are tested"
    ]
