"""Tools whose handlers return files: over REST, over MCP, kept, repeated, and as jobs."""

import base64
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.gateway_process import RunningGateway, run_gateway, running_gateway
from tests.media_project import FILES, HERE, IMAGE, PICTURE, add_tool, new_project

PNG = base64.b64decode(IMAGE["data"])
FACTS = {"content_type": "image/png", "size": 4}
HANDLERS = """
from gateway.contract.connector import tool_handler
from gateway.contract.values.files import FileContent

FILES = {
    "png": FileContent(media_type="image/png", data=b"\\x89PNG"),
    "wav": FileContent(media_type="audio/wav", data=b"RIFF"),
    "pdf": FileContent(media_type="application/pdf", data=b"%PDF"),
    "big": FileContent(media_type="image/png", data=bytes(5_000_000)),
    "huge": FileContent(media_type="image/png", data=bytes(6_000_001)),
    "more": FileContent(media_type="image/png", data=b"1", members={"size": 2}),
}
calls = 0


@tool_handler
async def draw(arguments) -> FileContent:
    global calls
    calls += 1
    found = FILES.get(arguments.kind)
    if arguments.kind == "number":
        return FileContent(media_type="image/png", data=str(calls).encode())
    return found
"""


@pytest.fixture(scope="module")
def gateway(
    tmp_path_factory: pytest.TempPathFactory, new_initial: Callable[[Path], Path]
) -> Iterator[RunningGateway]:
    folder = new_initial(tmp_path_factory.mktemp("files") / "project")
    new_project(folder, HANDLERS)
    add_tool(folder, "draw", PICTURE, FILES, handler="draw")
    cached = "    cache: {seconds: 300}\n"
    add_tool(folder, "glance", PICTURE, FILES, handler="draw", policy=cached)
    add_tool(folder, "print", PICTURE, FILES, handler="draw", effect="write")
    task = "    task: required\n"
    add_tool(folder, "render", PICTURE, FILES, handler="draw", policy=task)
    run_gateway(folder, "generate", environment=HERE)
    with running_gateway(folder, environment=HERE) as running:
        yield running


def rest(gateway: RunningGateway, tool: str, kind: str, **headers: str) -> httpx.Response:
    return httpx.post(
        f"{gateway.url}/v1/media/{tool}",
        json={"kind": kind},
        headers={**gateway.authorization, **headers},
    )


def mcp(
    gateway: RunningGateway, tool: str, arguments: dict[str, Any], version: str = "2026-07-28"
) -> dict[str, Any]:
    """The result of the tool, as clients of this revision get it."""
    params: dict[str, Any] = {"name": tool, "arguments": arguments}
    headers = {**gateway.authorization, "accept": "application/json, text/event-stream"}
    headers |= {"mcp-protocol-version": version}
    if version == "2026-07-28":
        headers |= {"mcp-method": "tools/call", "mcp-name": tool}
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    result: dict[str, Any] = httpx.post(f"{gateway.url}/mcp", json=message, headers=headers).json()[
        "result"
    ]
    return result


def test_rest_sends_the_bytes_which_no_browser_renders(gateway: RunningGateway) -> None:
    answer = rest(gateway, "draw", "png")

    assert (answer.status_code, answer.content) == (200, PNG)
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["content-disposition"] == "attachment"
    assert "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("accept", "status", "media_type"),
    [
        ("audio/wav, image/png", 200, "image/png"),
        ("application/json", 200, "application/json"),
        ("text/html", 406, "application/problem+json"),
    ],
)
def test_rest_sends_the_form_that_the_client_accepts(
    gateway: RunningGateway, accept: str, status: int, media_type: str
) -> None:
    answer = rest(gateway, "draw", "png", accept=accept)

    assert (answer.status_code, answer.headers["content-type"]) == (status, media_type)
    if media_type == "application/json":
        assert answer.json() == IMAGE


@pytest.mark.parametrize(
    ("kind", "version", "block"),
    [
        ("png", "2024-11-05", "image"),
        ("png", "2025-11-25", "image"),
        ("png", "2026-07-28", "image"),
        ("wav", "2024-11-05", "resource"),
        ("wav", "2025-11-25", "audio"),
        ("wav", "2026-07-28", "audio"),
    ],
)
def test_mcp_sends_a_block(gateway: RunningGateway, kind: str, version: str, block: str) -> None:
    result = mcp(gateway, "media_draw", {"kind": kind}, version)

    text, found = result["content"]
    assert (text["type"], found["type"], result["isError"]) == ("text", block, False)
    data = found["resource"]["blob"] if block == "resource" else found["data"]
    assert data == rest(gateway, "draw", kind, accept="application/json").json()["data"]


@pytest.mark.parametrize(
    ("kind", "status", "pointer"),
    [("pdf", 502, "/content_type"), ("huge", 502, "/size"), ("more", 500, None), ("?", 500, None)],
)
def test_a_file_that_the_contract_does_not_declare_is_never_a_success(
    gateway: RunningGateway, kind: str, status: int, pointer: str | None
) -> None:
    over_rest = rest(gateway, "draw", kind)
    over_mcp = mcp(gateway, "media_draw", {"kind": kind})

    problem = over_mcp["_meta"]["contract-gateway/problem"]
    assert (over_rest.status_code, problem["status"], over_mcp["isError"]) == (status, status, True)
    assert over_rest.json()["code"] == problem["code"]
    if pointer is not None:
        assert [each["pointer"] for each in over_rest.json()["errors"]] == [pointer]


def test_a_large_file_is_sent_over_rest_only(gateway: RunningGateway) -> None:
    result = mcp(gateway, "media_draw", {"kind": "big"})

    assert len(rest(gateway, "draw", "big").content) == 5_000_000
    assert result["_meta"]["contract-gateway/problem"]["code"] == "RESULT_TOO_LARGE"


def test_a_cached_file_keeps_its_bytes(gateway: RunningGateway) -> None:
    first = rest(gateway, "glance", "number")
    second = rest(gateway, "glance", "number")

    assert (second.content, second.headers["content-type"]) == (first.content, "image/png")
    assert "hit" in second.headers["cache-status"]
    result = mcp(gateway, "media_glance", {"kind": "number"})
    assert base64.b64decode(result["content"][1]["data"]) == first.content
    assert "contract-gateway/age" in result["_meta"]


def test_a_repetition_with_the_key_gets_the_same_file(gateway: RunningGateway) -> None:
    first = rest(gateway, "print", "number", **{"idempotency-key": "k1"})
    second = rest(gateway, "print", "number", **{"idempotency-key": "k1"})

    assert (second.content, second.headers["content-type"]) == (first.content, "image/png")
    assert second.headers["idempotency-replayed"] == "true"


def test_the_result_of_a_job_is_the_file(gateway: RunningGateway) -> None:
    job = rest(gateway, "render", "png").headers["location"]
    answer = httpx.get(f"{gateway.url}{job}/result", headers=gateway.authorization)
    while answer.status_code == 409:
        time.sleep(0.05)
        answer = httpx.get(f"{gateway.url}{job}/result", headers=gateway.authorization)

    assert (answer.content, answer.headers["content-type"]) == (PNG, "image/png")
    result = mcp(gateway, "job_result", {"job_id": job.rpartition("/")[2]})
    assert result["content"][1]["type"] == "image"


def test_the_document_says_what_rest_answers(gateway: RunningGateway) -> None:
    document = httpx.get(f"{gateway.url}/openapi.json", headers=gateway.authorization).json()

    operation = document["paths"]["/v1/media/draw"]["post"]
    content = operation["responses"]["200"]["content"]
    assert [*content] == ["application/json", "image/png", "audio/wav"]
    assert "fields" not in str(operation["requestBody"])
