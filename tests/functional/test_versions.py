"""Two versions of a tool side by side, and calls of one that is gone."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.functional.test_file_results import mcp, rest
from tests.gateway_process import RunningGateway, run_gateway, running_gateway
from tests.media_project import HERE, add_tool, new_project

HANDLERS = """
from gateway.contract.connector import tool_handler
from generated.models.media.find import FindOutput
from generated.models.media.find_v1 import FindV1Output


@tool_handler
async def find(arguments) -> FindOutput:
    return FindOutput(found=[arguments.kind])


@tool_handler
async def find_v1(arguments) -> FindV1Output:
    return FindV1Output(found=arguments.kind)
"""
TEXT = {"description": "What was found.", "type": "string", "maxLength": 20}
NEW: dict[str, Any] = {
    "required": ["found"],
    "properties": {
        "found": {"description": "All of it.", "type": "array", "maxItems": 9, "items": TEXT}
    },
}
OLD: dict[str, Any] = {"required": ["found"], "properties": {"found": TEXT}}
DEPRECATION = '{since: "2026-11-30", sunset: "2027-05-31", successor: media.find}'
NOTE = "Deprecated since 2026-11-30, ends on 2027-05-31: call media_find instead."
BINDING = "  x-binding:\n"
AGENTS = "  old:\n    description: Calls the old version only.\n    grants: [media.find_v1]\n"


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    folder = tmp_path_factory.mktemp("versions") / "project"
    run_gateway(folder.parent, "init", "project", environment=HERE)
    new_project(folder, HANDLERS)
    add_tool(folder, "find", NEW, "", handler="find", example={"found": ["png"]})
    add_tool(folder, "find_v1", OLD, "", handler="find_v1", example={"found": "png"})
    declare(folder, "find", f"  x-replaces: [media.seek]\n{BINDING}")
    declare(folder, "find_v1", f"  x-deprecation: {DEPRECATION}\n{BINDING}")
    with (folder / "schemas/policies/agents.yaml").open("a") as agents:
        agents.write(AGENTS)
    run_gateway(folder, "lint", environment=HERE)
    run_gateway(folder, "generate", environment=HERE)
    with running_gateway(folder, environment=HERE) as running:
        yield running


def declare(folder: Path, tool: str, text: str) -> None:
    contract = folder / f"schemas/tools/media/{tool}.yaml"
    contract.write_text(contract.read_text().replace(BINDING, text))


def test_both_versions_answer_each_by_its_contract(gateway: RunningGateway) -> None:
    assert rest(gateway, "find", "a").json() == {"found": ["a"]}
    assert rest(gateway, "find_v1", "a").json() == {"found": "a"}


def test_rest_says_when_a_tool_ends_and_what_follows_it(gateway: RunningGateway) -> None:
    headers = rest(gateway, "find_v1", "a").headers
    assert headers["deprecation"] == "@1795996800"
    assert headers["sunset"] == "Mon, 31 May 2027 00:00:00 GMT"
    assert headers["link"] == '</v1/media/find>; rel="successor-version"'
    assert not {"deprecation", "sunset", "link"} & {*rest(gateway, "find", "a").headers}


@pytest.mark.parametrize("version", ["2026-07-28", "2025-06-18"])
def test_mcp_says_it_beside_the_result(gateway: RunningGateway, version: str) -> None:
    result = mcp(gateway, "media_find_v1", {"kind": "a"}, version)
    assert result["structuredContent"] == {"found": "a"}
    assert result["content"][-1]["text"] == f"This tool will end. {NOTE}"
    assert result["_meta"]["contract-gateway/deprecation"] == {
        "since": "2026-11-30",
        "sunset": "2027-05-31",
        "successor": "media.find",
    }
    assert len(mcp(gateway, "media_find", {"kind": "a"}, version)["content"]) == 1


def test_documents_say_it(gateway: RunningGateway) -> None:
    document = httpx.get(f"{gateway.url}/openapi.json", headers=gateway.authorization).json()
    old = document["paths"]["/v1/media/find_v1"]["post"]
    assert old["deprecated"] is True
    assert old["description"].startswith(NOTE)
    assert "deprecated" not in document["paths"]["/v1/media/find"]["post"]


def test_a_call_of_a_tool_that_is_gone_names_its_successor(gateway: RunningGateway) -> None:
    answer = rest(gateway, "seek", "a")
    assert (answer.status_code, answer.json()["code"]) == (410, "TOOL_REPLACED")
    assert "POST /v1/media/find, or media_find over MCP" in answer.json()["detail"]
    assert answer.headers["link"] == '</v1/media/find>; rel="successor-version"'
    result = mcp(gateway, "media_seek", {"kind": "a"})
    assert result["isError"]
    problem = json.loads(result["content"][0]["text"])
    assert (problem["status"], problem["code"]) == (410, "TOOL_REPLACED")
    assert "media_find over MCP" in problem["detail"]


def test_who_may_not_call_the_successor_learns_nothing(gateway: RunningGateway) -> None:
    arguments = "keys", "create", "old", "--data", ".", "--json"
    made = json.loads(run_gateway(gateway.data, *arguments, environment=HERE))
    old = {"Authorization": f"Bearer {made['key']}"}
    gone = httpx.post(f"{gateway.url}/v1/media/seek", json={"kind": "a"}, headers=old)
    never = httpx.post(f"{gateway.url}/v1/media/nothing", json={"kind": "a"}, headers=old)
    assert (gone.status_code, gone.json()["code"]) == (404, "TOOL_NOT_FOUND")
    assert gone.json() | {"request_id": ""} == never.json() | {"request_id": ""}
    assert "link" not in gone.headers
