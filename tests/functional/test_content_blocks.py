"""Tools whose results are lists of content blocks: the same over REST and over MCP, and checked."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.functional.test_file_results import mcp, rest
from tests.gateway_process import RunningGateway, run_gateway, running_gateway
from tests.media_project import FILES, HERE, PICTURE, add_tool, new_project

TYPE = "application/vnd.contract-gateway.content+json"
CONTENT = f"        {TYPE}: {{}}\n"
OUTPUT: dict[str, Any] = {
    "required": ["content"],
    "properties": {
        "content": {
            "description": "The blocks.",
            "$ref": "../../common/content.json#/$defs/Blocks",
        }
    },
}
PNG = "iVBORw=="
TEXT = {"type": "text", "text": "A chart:"}
IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}
NOTE = {"uri": "test://note", "mimeType": "text/plain", "text": "Read me."}
FILE = {"uri": "test://file", "mimeType": "application/pdf", "blob": "JVBERg=="}
LINK = {
    "type": "resource_link",
    "uri": "https://example.com/chart",
    "name": "chart",
    "title": "The chart",
    "mimeType": "text/html",
    "size": 7,
}
MIXED = [
    TEXT,
    IMAGE,
    AUDIO,
    {"type": "resource", "resource": NOTE},
    {"type": "resource", "resource": FILE},
    LINK,
]
HALF = "A" * 4_000_000
"""Three megabytes of bytes, of which two blocks are too much over MCP."""
INVALID: dict[str, Any] = {
    "base64": [IMAGE | {"data": "iVBOR"}],
    "no image": [IMAGE | {"mimeType": "text/html"}],
    "hidden": [{"type": "resource", "resource": FILE | {"mimeType": "text/plain"}}],
    "uri": [LINK | {"uri": "no uri"}],
    "kind": [{"type": "video", "data": PNG, "mimeType": "video/mp4"}],
    "member": [TEXT | {"_meta": {"a": 1}}],
    "empty": [],
    "many": [TEXT] * 21,
}
SENT: dict[str, Any] = {
    "mixed": MIXED,
    "unseen": [{"type": "text", "text": "a\u200bb"}],
    "long": [{"type": "text", "text": "long " * 100_000}, IMAGE],
    "large": [TEXT, IMAGE | {"data": HALF}, AUDIO | {"data": HALF}, LINK],
    **INVALID,
}
HANDLERS = f"""
import json

from generated.models.media.report import ReportOutput
from gateway.contract.connector import tool_handler
from gateway.contract.values.files import FileContent

SENT = json.loads({json.dumps(SENT)!r})


FILES = {{
    "png": FileContent(media_type="image/png", data=b"\\x89PNG"),
    "wav": FileContent(media_type="audio/wav", data=b"RIFF"),
}}


@tool_handler
async def draw(arguments) -> FileContent:
    return FILES[arguments.kind]


@tool_handler
async def report(arguments) -> ReportOutput:
    # A model that was not validated: the schema has to refuse what is wrong.
    return ReportOutput.model_construct({{"content"}}, content=SENT[arguments.kind])
"""


@pytest.fixture(scope="module")
def gateway(
    tmp_path_factory: pytest.TempPathFactory, new_initial: Callable[[Path], Path]
) -> Iterator[RunningGateway]:
    folder = new_initial(tmp_path_factory.mktemp("blocks") / "project")
    new_project(folder, HANDLERS)

    def add(name: str, **rest: Any) -> None:
        shown = {"content": [TEXT, IMAGE]}
        add_tool(
            folder, name, OUTPUT, CONTENT, handler="report", kind="mixed", example=shown, **rest
        )

    add("report")
    add("show", kinds={"enum": ["mixed", "unseen"]})
    add("keep", policy="    cache: {seconds: 300}\n")
    add("print", effect="write")
    add("render", policy="    task: required\n")
    kinds = {"enum": ["png", "wav"]}
    add_tool(folder, "draw", PICTURE, FILES, handler="draw", kinds=kinds)
    run_gateway(folder, "generate", environment=HERE)
    with running_gateway(folder, environment=HERE) as running:
        yield running


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25", "2026-07-28"])
def test_the_blocks_are_the_same_over_both(gateway: RunningGateway, version: str) -> None:
    answer = rest(gateway, "report", "mixed")
    result = mcp(gateway, "media_report", {"kind": "mixed"}, version)

    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json() == {"content": MIXED}
    assert (result["content"], result["isError"]) == (MIXED, False)
    assert "structuredContent" not in result


def test_the_sdk_sends_the_same(gateway: RunningGateway) -> None:
    """A request with a level of log messages goes to the SDK."""
    params = {
        "name": "media_report",
        "arguments": {"kind": "mixed"},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/logLevel": "info",
        },
    }
    headers = {
        **gateway.authorization,
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "media_report",
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = httpx.post(f"{gateway.url}/mcp", json=message, headers=headers)

    assert answer.json()["result"]["content"] == MIXED


def test_older_revisions_get_the_data_in_blocks_that_they_have(gateway: RunningGateway) -> None:
    result = mcp(gateway, "media_report", {"kind": "mixed"}, "2024-11-05")

    audio, link = result["content"][2], result["content"][5]
    assert audio["resource"]["blob"] == AUDIO["data"]
    assert link == {"type": "text", "text": "The chart: chart (https://example.com/chart)"}
    assert [
        each["type"]
        for each in mcp(gateway, "media_report", {"kind": "mixed"}, "2025-03-26")["content"]
    ] == ["text", "image", "audio", "resource", "resource", "text"]


@pytest.mark.parametrize(
    ("accept", "status", "media_type"),
    [
        (TYPE, 200, TYPE),
        (f"{TYPE}, application/json", 200, "application/json"),
        ("image/png", 406, "application/problem+json"),
    ],
)
def test_rest_answers_with_the_media_type_that_is_accepted(
    gateway: RunningGateway, accept: str, status: int, media_type: str
) -> None:
    answer = rest(gateway, "report", "mixed", accept=accept)

    assert (answer.status_code, answer.headers["content-type"]) == (status, media_type)


@pytest.mark.parametrize("kind", INVALID)
def test_a_list_that_breaks_the_schema_is_never_a_success(
    gateway: RunningGateway, kind: str
) -> None:
    answer = rest(gateway, "report", kind)
    result = mcp(gateway, "media_report", {"kind": kind})

    problem = result["_meta"]["contract-gateway/problem"]
    assert (answer.status_code, problem["status"], result["isError"]) == (502, 502, True)
    assert answer.json()["code"] == problem["code"]
    assert answer.json()["errors"] == problem["errors"]
    assert answer.json()["errors"][0]["pointer"].startswith("/content")


def test_text_that_nobody_sees_is_removed(gateway: RunningGateway) -> None:
    shown = [{"type": "text", "text": "ab"}]

    assert rest(gateway, "report", "unseen").json() == {"content": shown}
    assert mcp(gateway, "media_report", {"kind": "unseen"})["content"] == shown


@pytest.mark.parametrize("kind", ["long", "large"])
def test_a_read_that_is_too_large_is_sent_over_rest_only(
    gateway: RunningGateway, kind: str
) -> None:
    result = mcp(gateway, "media_report", {"kind": kind})

    assert rest(gateway, "report", kind).json() == {"content": SENT[kind]}
    assert result["_meta"]["contract-gateway/problem"]["code"] == "RESULT_TOO_LARGE"


@pytest.mark.parametrize(
    ("kind", "kept"), [("long", ["image", "text"]), ("large", ["text", "resource_link", "text"])]
)
def test_a_write_leaves_out_what_is_too_large(
    gateway: RunningGateway, kind: str, kept: list[str]
) -> None:
    result = mcp(gateway, "media_print", {"kind": kind})

    assert [each["type"] for each in result["content"]] == kept
    assert "do not repeat it" in result["content"][-1]["text"]
    assert not result["isError"]


def test_cached_and_repeated_answers_are_the_blocks(gateway: RunningGateway) -> None:
    rest(gateway, "keep", "mixed")
    again = mcp(gateway, "media_keep", {"kind": "mixed"})
    key = {"idempotency-key": "k1"}
    rest(gateway, "print", "mixed", **key)
    repeated = rest(gateway, "print", "mixed", **key)

    assert again["content"] == MIXED
    assert "contract-gateway/age" in again["_meta"]
    assert (repeated.json(), repeated.headers["idempotency-replayed"]) == (
        {"content": MIXED},
        "true",
    )


def test_the_result_of_a_job_is_the_blocks(gateway: RunningGateway) -> None:
    job = mcp(gateway, "media_render", {"kind": "mixed"})["structuredContent"]["job_id"]
    result = mcp(gateway, "job_result", {"job_id": job})
    while result["isError"]:
        result = mcp(gateway, "job_result", {"job_id": job})
    path = f"{gateway.url}/v1/jobs/{job}/result"
    accepted = [{}, {"accept": "application/json"}, {"accept": TYPE}]
    over_rest = [httpx.get(path, headers=gateway.authorization | each) for each in accepted]

    assert result["content"] == MIXED
    assert [each.json() for each in over_rest] == [{"content": MIXED}] * 3
    types = [each.headers["content-type"] for each in over_rest]
    assert types == ["application/json", "application/json", TYPE]


def test_the_document_describes_both_media_types(gateway: RunningGateway) -> None:
    document = httpx.get(f"{gateway.url}/openapi.json", headers=gateway.authorization).json()

    operation = document["paths"]["/v1/media/report"]["post"]
    content = operation["responses"]["200"]["content"]
    assert content[TYPE]["schema"] == content["application/json"]["schema"]
    assert "fields" not in str(operation["requestBody"])


def test_the_contract_suite_passes(gateway: RunningGateway) -> None:
    """Also for a tool that returns files."""
    # These answer every value that their schemas admit.
    shown = "(media.show or media.draw) and (accepted or examples)"
    own = ("test", "--", "-q", "-k", shown)
    tested = run_gateway(gateway.data, *own, environment=HERE)

    assert " passed" in tested
