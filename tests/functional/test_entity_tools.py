"""The read tools that an entity declares: no handler, and one result over REST and MCP."""

import json
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.authoring.codegen.generate import PackageNames, generate
from gateway.authoring.contracts import meta
from gateway.store.records import Changes, EntityChange
from gateway.testing.gateways import Faces, open_faces
from gateway.testing.transports import HANDSHAKE, MODERN, CallAnswer
from tests.work import claim, finish, message, put

PACKAGE = "lending_of_the_functional_test"
NOW = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)
LIST, GET = "desk.list_loans", "desk.get_loan"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project whose entity `loans` has both tools, which its administrator may call."""
    root = tmp_path_factory.mktemp("lending")
    shutil.copytree(Path(__file__).parents[1] / "golden/webhook/in", root / "schemas")
    meta.install(root / "schemas")
    generate(root / "schemas", root / PACKAGE, names=PackageNames(package=PACKAGE))
    sys.path.insert(0, str(root))
    yield root
    sys.path.remove(str(root))
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.fixture
async def faces(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Faces]:
    monkeypatch.setenv("GATEWAY_SCHEMAS", str(project / "schemas"))
    monkeypatch.setenv("GATEWAY_PACKAGE", PACKAGE)
    async with open_faces(tmp_path) as opened:
        await lend(opened, 1, isbn="9780000000001", lent_on="2026-11-01")
        await lend(opened, 2, isbn="9780000000002")
        await lend(opened, 3, isbn="9780000000001")
        yield opened


async def lend(faces: Faces, number: int, **values: Any) -> None:
    """A message whose work writes one loan."""
    store = faces.gateway.parts.store
    (webhook,) = await put(store, message(number))
    reported = EntityChange(
        kind="loans",
        values={"loan_number": f"L-{number}", **values},
        mode="upsert",
        webhook_id=webhook,
        occurred_at=NOW + timedelta(minutes=number),
    )
    (claimed,) = await claim(store)
    assert await finish(store, claimed, Changes(entities=(reported,)))


async def ask(faces: Faces, tool: str, **arguments: Any) -> CallAnswer:
    """The result, which is the same on every face."""
    entry, text = faces.catalogue.find(tool), json.dumps(arguments).encode()
    verdicts = [
        await faces.rest(entry, text),
        await faces.get(entry, arguments),
        await faces.mcp(entry, text, MODERN),
        await faces.mcp(entry, text, HANDSHAKE),
    ]
    first = verdicts[0]
    for each in verdicts:
        assert (each.accepted, each.code, each.errors) == (first.accepted, first.code, first.errors)
        assert not each.accepted or each.body == first.body
        assert each.body.get("reason") == first.body.get("reason")
    return first


async def test_a_row_is_read_by_its_key(faces: Faces) -> None:
    found = (await ask(faces, GET, loan_number="L-1")).body["item"]
    assert (found["loan_number"], found["isbn"]) == ("L-1", "9780000000001")
    assert found["lent_on"] == "2026-11-01"


async def test_a_key_without_a_row_is_the_declared_error_on_every_face(faces: Faces) -> None:
    missing = await ask(faces, GET, loan_number="L-9")
    assert (missing.status, missing.code) == (404, "TOOL_EXECUTION_ERROR")
    assert missing.body["reason"] == "not_found"
    assert missing.body["detail"] == "There is no row with this key."


async def test_rows_are_listed_by_filters_and_in_pages(faces: Faces) -> None:
    def numbers(verdict: CallAnswer) -> list[str]:
        return [row["loan_number"] for row in verdict.body["items"]]

    assert numbers(await ask(faces, LIST)) == ["L-3", "L-2", "L-1"]
    first = await ask(faces, LIST, isbn="9780000000001", limit=1)
    assert numbers(first) == ["L-3"]
    cursor = first.body["next_cursor"]
    rest = await ask(faces, LIST, isbn="9780000000001", limit=1, cursor=cursor)
    assert numbers(rest) == ["L-1"]
    assert rest.body["next_cursor"] is None
    other = await ask(faces, LIST, isbn="9780000000002", cursor=cursor)
    assert (other.status, {pointer for pointer, _ in other.errors}) == (422, {"/cursor"})


async def test_arguments_that_no_row_can_have_are_refused(faces: Faces) -> None:
    cases: list[tuple[str, dict[str, Any], str]] = [
        (GET, {}, "/loan_number"),
        (GET, {"loan_number": ""}, "/loan_number"),
        (LIST, {"lent_on": "2026-11-01"}, "/lent_on"),
        (LIST, {"limit": 201}, "/limit"),
    ]
    for tool, arguments, pointer in cases:
        refused = await ask(faces, tool, **arguments)
        assert (refused.status, {each for each, _ in refused.errors}) == (422, {pointer})


async def test_an_agent_needs_a_grant_like_for_any_tool(faces: Faces) -> None:
    granted = faces.catalogue.grants
    assert {GET, LIST} <= granted["administrator"]
    assert not {GET, LIST} & granted["reader"]
