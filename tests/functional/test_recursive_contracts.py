"""Contracts whose schemas contain themselves, from the files to the calls."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import RunningGateway, run_gateway, running_gateway

FORUM = Path(__file__).parents[1] / "assets" / "contracts" / "forum"
ITS_OWN = {"GATEWAY_SCHEMAS": ""}
"""The project is the folder in which the command runs."""
REVISIONS = ("2025-06-18", "2024-11-05")
EDITS = {
    "paths:\n": "paths:\n  /v1/forum/add_comment: {$ref: ./tools/forum/add_comment.yaml}\n"
    "  /v1/forum/get_thread: {$ref: ./tools/forum/get_thread.yaml}\n",
    "x-upstreams:\n": "x-upstreams:\n  - ./upstreams/forum/openapi.yaml\n",
    "  - name: store\n": "  - name: forum\n    description: Threads of a forum.\n  - name: store\n",
}


@pytest.fixture(scope="module")
def project(new_initial: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new project with the forum, generated."""
    folder = new_initial(tmp_path_factory.mktemp("forum"))
    shutil.copytree(FORUM, folder / "schemas", dirs_exist_ok=True)
    index = folder / "schemas" / "openapi.yaml"
    text = index.read_text()
    for old, new in EDITS.items():
        text = text.replace(old, new, 1)
    index.write_text(text)
    run_gateway(folder, "generate", environment=ITS_OWN)
    return folder


@pytest.fixture(scope="module")
def gateway(project: Path) -> Iterator[RunningGateway]:
    with running_gateway(project, environment=ITS_OWN | {"GATEWAY_LIST_MODE": "full"}) as found:
        yield found


def nested(levels: int, leaf: dict[str, Any]) -> dict[str, Any]:
    for _ in range(levels):
        leaf = {"text": "more", "replies": [leaf]}
    return leaf


def rest(gateway: RunningGateway, tool: str, arguments: Any) -> httpx.Response:
    url = f"{gateway.url}/v1/forum/{tool}"
    return httpx.post(url, json=arguments, headers=gateway.authorization, timeout=PATIENCE_SECONDS)


def mcp(gateway: RunningGateway, revision: str, method: str, **params: Any) -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": revision,
    }
    found = httpx.post(
        f"{gateway.url}/mcp",
        json=message,
        headers=gateway.authorization | headers,
        timeout=PATIENCE_SECONDS,
    ).json()
    return found["result"]


@pytest.mark.parametrize("levels", [0, 1, 12, 25])
def test_valid_arguments_are_accepted_however_deep(gateway: RunningGateway, levels: int) -> None:
    arguments = {"thread": "t1", "draft": nested(levels, {"text": "end", "token": "secret"})}
    answer = rest(gateway, "add_comment", arguments)
    assert (answer.status_code, answer.json()["second"]) == (200, "Third")
    result = mcp(gateway, REVISIONS[0], "tools/call", name="forum_add_comment", arguments=arguments)
    assert result["structuredContent"] == answer.json()


@pytest.mark.parametrize(
    ("levels", "pointer", "detail"),
    [
        (0, "/draft/text", "is required"),
        (1, "/draft/replies/0/text", "is required"),
        (20, f"/draft{'/replies/0' * 20}/text", "is required"),
    ],
)
def test_a_mistake_inside_is_named_alike(
    gateway: RunningGateway, levels: int, pointer: str, detail: str
) -> None:
    arguments = {"thread": "t1", "draft": nested(levels, {"token": "secret"})}
    answer = rest(gateway, "add_comment", arguments)
    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["pointer"]) == (422, pointer)
    assert detail in error["detail"]
    result = mcp(gateway, REVISIONS[0], "tools/call", name="forum_add_comment", arguments=arguments)
    assert result["isError"]
    assert pointer in json.dumps(result)


def test_what_nests_deeper_than_any_request_may_is_refused(gateway: RunningGateway) -> None:
    arguments = {"thread": "t1", "draft": nested(40, {"text": "end"})}
    answer = rest(gateway, "add_comment", arguments)
    assert answer.status_code == 400
    assert "nested deeper than 64 levels" in answer.text


def test_fields_select_members_at_any_depth(gateway: RunningGateway) -> None:
    fields = ["replies.author.name", "replies.replies.replies.text"]
    answer = rest(gateway, "get_thread", {"thread": "t1", "fields": fields})
    assert answer.json() == {"replies": [{"author": {"name": "Ada"}}]}
    refused = rest(gateway, "get_thread", {"thread": "t1", "fields": ["replies.replies.txt"]})
    assert refused.status_code == 422
    assert "text" in refused.text


@pytest.mark.parametrize("revision", REVISIONS)
def test_definitions_are_listed_with_the_tool(gateway: RunningGateway, revision: str) -> None:
    listed = mcp(gateway, revision, "tools/list")["tools"]
    tool = next(each for each in listed if each["name"] == "forum_add_comment")
    references = re.findall(r'"\$ref": "([^"]+)"', json.dumps(tool["inputSchema"]))
    assert all(each.startswith("#/$defs/") for each in references)
    names = {each.removeprefix("#/$defs/") for each in references}
    assert names == tool["inputSchema"].get("$defs", {}).keys()


def test_the_published_documents_refer_to_components(project: Path) -> None:
    text = (project / "generated" / "openapi.json").read_text()
    schemas = json.loads(text)["components"]["schemas"]
    references = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
    assert "$defs" not in text
    assert references <= schemas.keys()
    assert {"forum.Comment", "forum.Comment.selected", "forum.add_comment.input.Draft"} <= {
        *references
    }


def test_models_are_classes_that_name_themselves(project: Path) -> None:
    models = project / "generated" / "models"
    assert 'list["Draft"]' in (models / "forum" / "add_comment.py").read_text()
    assert 'list["GetThreadOutput"]' in (models / "forum" / "get_thread.py").read_text()
    assert 'list["Comment"]' in (models / "common" / "forum.py").read_text()


def test_secrets_inside_stay_secret(project: Path) -> None:
    text = (project / "generated" / "operations" / "forum.py").read_text()
    assert '"/draft/token"' in text
    assert '"/draft/replies/*"' in text


def test_the_command_line_shows_their_members(project: Path) -> None:
    shown = run_gateway(project, "tools", "show", "forum.get_thread", environment=ITS_OWN)
    assert re.search(r"replies +list of object +The replies\.", shown)
