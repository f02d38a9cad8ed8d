"""Limits and policies of imported tools, as `import.yaml` says: over each transport, and after an
eject."""

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from gateway.app import Gateway
from gateway.authoring.codegen.generate import PackageNames, generate
from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.lint import lint
from gateway.authoring.openapi.folder import ImportFolder
from gateway.authoring.openapi.importing import import_again, import_new
from gateway.authoring.openapi.lowering.records import OperationSelection
from gateway.authoring.project.changes import place
from gateway.authoring.project.ejecting.ejection import EjectionWish, eject
from gateway.authoring.project.staging import OWN_PACKAGES, Project, bare_project
from tests.eventually import eventually
from tests.interaction.operated import operated
from tests.vendors import given, written

PACKAGE = "package_of_the_limits"
THING = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}
REPLY = {"200": {"description": "It", "content": {"application/json": {"schema": THING}}}}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1"},
    "servers": [{"url": "https://shop.example/v1"}],
    "paths": {
        f"/{name}": {"get": {"operationId": name, "responses": REPLY}}
        for name in ("find", "order", "free", "report")
    },
}
LIMITS = """\
limits: {calls: [{max: 3, seconds: 3600}]} # ours
tool_limits:
  GET /order: {calls: [{max: 1, seconds: 60}], concurrent: 1, cost: 5}
  free: {cost: 1}
policy: {timeoutSeconds: 60}
tool_policies:
  rep*: {task: required, attempts: {max: 2, backoffSeconds: [0]}}
"""
POLICY = {
    "effect": "read",
    "timeoutSeconds": 60,
    "attempts": {"max": 2, "backoffSeconds": [0]},
    "task": "required",
    "limits": {"calls": [{"max": 3, "seconds": 3600}]},
}


@pytest.fixture
def folder(tmp_path: Path) -> ImportFolder:
    place(tmp_path, bare_project("site", "1.2.3"))
    found = ImportFolder(schemas=tmp_path / "schemas", connector="shop")
    written(found, import_new(found, given(DOCUMENT), OperationSelection()))
    text = found.files / "import.yaml"
    text.write_text(f"{text.read_text('utf-8')}{LIMITS}", "utf-8")
    return found


@pytest.fixture
def package(folder: ImportFolder, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    root = folder.schemas.parent
    generate(folder.schemas, root / PACKAGE, names=PackageNames(package=PACKAGE))
    monkeypatch.syspath_prepend(root)
    yield PACKAGE
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.fixture
async def opened(
    package: str, folder: ImportFolder
) -> AsyncIterator[tuple[Gateway, httpx.AsyncClient]]:
    root = folder.schemas.parent
    found = {"GATEWAY_PACKAGE": package, "GATEWAY_SCHEMAS": str(folder.schemas)}
    async with operated(root / "data", **found) as each:
        yield each


async def over_mcp(http: httpx.AsyncClient, tool: str) -> dict[str, Any]:
    params = {"name": tool, "arguments": {}}
    answer = await http.post(
        "/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
        headers={
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2025-06-18",
        },
    )
    result: dict[str, Any] = answer.json()["result"]
    return result


async def test_rest_and_mcp_share_the_limit_of_each_tool(opened) -> None:
    _, http = opened
    first = await http.post("/v1/shop/find", json={})
    second = await over_mcp(http, "shop_find")
    third = await http.post("/v1/shop/find", json={})
    refused = await http.post("/v1/shop/find", json={})
    also_refused = await over_mcp(http, "shop_find")

    assert first.headers["ratelimit-policy"] == '"hour";q=3;w=3600'
    assert first.headers["ratelimit"].startswith('"hour";r=2;')
    assert (third.status_code, second.get("isError", False)) == (200, False)
    assert (refused.status_code, refused.json()["limit"]["tool"]) == (429, "shop.find")
    assert also_refused["isError"] is True
    problem = also_refused["_meta"]["contract-gateway/problem"]
    assert (problem["code"], problem["violated-policies"]) == ("RATE_LIMIT_ERROR", ["hour"])


async def test_a_tool_has_its_own_limits_in_place_of_the_usual_ones(opened) -> None:
    _, http = opened
    answers = [await http.post("/v1/shop/order", json={}) for _ in range(2)]
    free = [await http.post("/v1/shop/free", json={}) for _ in range(5)]
    listed = (await http.get("/operator/limits")).json()["items"]

    assert [each.status_code for each in answers] == [200, 429]
    assert answers[0].headers["ratelimit-policy"] == (
        '"minute";q=1;w=60, "concurrent";q=1;qu="concurrent-requests"'
    )
    assert {each.status_code for each in free} == {200}
    assert not any(name.startswith("ratelimit") for each in free for name in each.headers)
    assert ("shop.order", "minute", 1, 1) in [
        (each["tool"], each["limit"], each["used"], each["max"]) for each in listed
    ]


async def test_a_call_becomes_a_job_where_the_import_says_so(opened) -> None:
    gateway, http = opened
    accepted = await http.post("/v1/shop/report", json={})
    document = (await http.get("/openapi.json")).json()

    assert accepted.status_code == 202
    result = f"{accepted.headers['location']}/result"

    async def ended() -> Any:
        answer = await http.get(result)
        return answer.json() if answer.status_code == 200 else None

    async with gateway.at_work():
        assert (await eventually(ended)).keys() == {"id"}
    assert "202" in document["paths"]["/v1/shop/report"]["post"]["responses"]
    assert "202" not in document["paths"]["/v1/shop/find"]["post"]["responses"]


def test_an_update_keeps_limits_and_their_comments(folder: ImportFolder) -> None:
    paths = {**DOCUMENT["paths"], "/new": {"get": {"operationId": "new", "responses": REPLY}}}
    run = written(folder, import_again(folder, given({**DOCUMENT, "paths": paths})))

    assert (folder.files / "import.yaml").read_text("utf-8").endswith(LIMITS)
    found = {each.tool: each.limits for each in run.outcome.connector.operations}
    assert found["new"] == found["find"]
    assert (found["find"].calls[0].max, found["order"].cost) == (3, 5)


def test_an_eject_writes_the_limits_of_a_tool_into_its_contract(folder: ImportFolder) -> None:
    root = folder.schemas.parent
    project = Project(
        folder=root, schemas=folder.schemas, handler_packages=OWN_PACKAGES, version="1.0.0"
    )
    wish = EjectionWish(connector="shop", tools=("order", "free", "report"))
    found = eject(project, read_tree(folder.schemas), wish)
    place(root, found.files, found.removed)

    policies = {
        name: yaml.safe_load((folder.schemas / f"tools/shop/{name}.yaml").read_text("utf-8"))
        for name in ("order", "free", "report")
    }
    assert policies.pop("report")["post"]["x-policy"] == POLICY
    limits = {name: each["post"]["x-policy"].get("limits") for name, each in policies.items()}
    assert limits == {
        "order": {"calls": [{"max": 1, "seconds": 60}], "concurrent": 1, "cost": 5},
        "free": None,
    }
    findings = lint(read_tree(folder.schemas), packages=OWN_PACKAGES)
    assert [each.rule for each in findings if each.severity == "error"] == []
