"""The hard cases of OpenAPI, forty and one of our own: from a document to what a vendor receives.

Each file of `cases/` has a document, calls of its tools, and what the vendor must receive for them,
or the name of the refusal. All of it goes the way of a user: an import, the generated record, a
gateway in a process of its own, and a socket.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.testing.transports import HANDSHAKE, MODERN
from tests.forty.checks import check_case
from tests.forty.imports import ImportSite, cases, import_site, names

CASES = Path(__file__).parent / "cases"
NAMES = names(CASES)


@pytest.fixture(scope="module")
def documents() -> dict[str, dict[str, Any]]:
    """Each of them, by name."""
    return cases(CASES)


@pytest.fixture(scope="module")
def site(
    documents: dict[str, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ImportSite]:
    with import_site(tmp_path_factory.mktemp("forty"), documents) as found:
        yield found


def test_there_are_forty_and_one_of_our_own() -> None:
    assert [int(name[:2]) for name in NAMES] == [*range(1, 42)]


@pytest.mark.parametrize("name", NAMES)
def test_a_case(site: ImportSite, documents: dict[str, dict[str, Any]], name: str) -> None:
    check_case(site, name, documents[name])


LINES = {"type": "application/jsonl", "body": '{"n":1}\n{"n":2}\n'}


def messages(
    site: ImportSite, tool: str, version: str, arguments: Any, **meta: Any
) -> list[dict[str, Any]]:
    """All messages that answer a call of `tool`."""
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": version}
    if version == MODERN:
        headers |= {"mcp-method": "tools/call", "mcp-name": tool}
        meta |= {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = site.client.post(
        f"{site.gateway.url}/mcp", json=message, headers=site.gateway.authorization | headers
    )
    if answer.headers["content-type"] == "application/json":
        return [answer.json()]
    lines = answer.text.splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


@pytest.mark.parametrize("version", [MODERN, HANDSHAKE, "2024-11-05"])
def test_events_are_reported_to_a_client_that_asks_before_their_result(
    site: ImportSite, version: str
) -> None:
    site.reply.clear()
    site.reply.update(LINES)
    progress, answer = messages(site, "c39_lines", version, {}, progressToken="t1")
    text = {} if version == "2024-11-05" else {"message": "2 events received"}
    params = {"progressToken": "t1", "progress": 2, **text}
    assert progress == {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
    assert json.loads(answer["result"]["content"][0]["text"]) == {"events": [{"n": 1}, {"n": 2}]}


@pytest.mark.parametrize("version", [MODERN, HANDSHAKE])
def test_without_a_token_or_events_the_answer_is_one_message(
    site: ImportSite, version: str
) -> None:
    site.reply.clear()
    site.reply.update(LINES)
    assert len(messages(site, "c39_lines", version, {})) == 1
    site.reply.clear()
    site.reply.update({"body": '{"id":1}'})
    assert len(messages(site, "c38_find", version, {}, progressToken="t1")) == 1


def test_recursive_results_are_published_by_reference(site: ImportSite) -> None:
    listed = site.document["paths"]["/v1/c20/tree"]["post"]["responses"]["200"]
    complete, selected = listed["content"]["application/json"]["schema"]["anyOf"]
    assert "#/components/schemas/c20." in json.dumps(complete)
    assert ".selected" in json.dumps(selected)
