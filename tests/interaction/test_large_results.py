"""Results over MCP that are larger than an agent may be sent."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from gateway.testing.gateways import Site, open_site
from gateway.testing.transports import HANDSHAKE, MODERN
from gateway.transports.mcp import delivery

pytestmark = pytest.mark.asyncio(loop_scope="module")

MAX_TOKENS = 1_100
PART = "contract-gateway/part"
LIST = "sheets_list_clients"
READER, OTHER, GREETER = "client_data", "travel", "communication"
GRANTS = {
    READER: frozenset({"sheets.list_clients", "sheets.update_client"}),
    OTHER: frozenset({"sheets.list_clients"}),
    GREETER: frozenset({"example.greet"}),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    opening = open_site(
        tmp_path_factory.mktemp("large"), GRANTS, GRANTS, GATEWAY_MAX_RESULT_TOKENS=str(MAX_TOKENS)
    )
    async with opening as opened:
        yield opened


async def call(
    site: Site, name: str, agent: str = READER, version: str = MODERN, **arguments: Any
) -> Any:
    answer = await site.mcp(agent, version, "tools/call", name=name, arguments=arguments)
    return answer["result"]


async def parts(site: Site, version: str, **arguments: Any) -> list[Any]:
    """All parts of the list of clients, each by the continuation of the one before."""
    found = [await call(site, LIST, version=version, **arguments)]
    while "continuation" in found[-1]["_meta"][PART]:
        text = found[-1]["_meta"][PART]["continuation"]
        found.append(await call(site, "continue_result", version=version, continuation=text))
    return found


async def problem(site: Site, name: str, agent: str = READER, **arguments: Any) -> dict[str, Any]:
    result = await call(site, name, agent, **arguments)
    assert result["isError"] is True, result
    found: dict[str, Any] = result["_meta"]["contract-gateway/problem"]
    return found


@pytest.mark.parametrize("version", [MODERN, HANDSHAKE, "2024-11-05"])
async def test_the_parts_make_up_what_rest_answers(site: Site, version: str) -> None:
    whole = (await site.post(READER, "/v1/sheets/list_clients", {})).json()

    found = await parts(site, version)

    assert len(found) > 3
    texts = [part["content"][0]["text"] for part in found]
    values = [json.loads(text) for text in texts]
    assert [client for value in values for client in value["clients"]] == whole["clients"]
    assert all(len(text.encode()) <= MAX_TOKENS * 4 for text in texts)
    assert all(value.keys() == whole.keys() for value in values)
    facts = [part["_meta"][PART] for part in found]
    assert [each["from"] for each in facts] == [0, *(each["to"] for each in facts[:-1])]
    assert {each["of"] for each in facts} == {len(whole["clients"])}
    if version != "2024-11-05":
        assert [part["structuredContent"] for part in found] == values


async def test_a_model_reads_what_is_left_out_and_how_to_get_it(site: Site) -> None:
    first, *_, last = await parts(site, MODERN)

    facts = first["_meta"][PART]
    note = first["content"][1]["text"]
    assert f"items 1 to {facts['to']} of {facts['of']} (/clients)" in note
    assert f"call continue_result with continuation {facts['continuation']}" in note
    assert "last part" in last["content"][1]["text"]


async def test_a_continuation_keeps_the_fields_of_the_call(site: Site) -> None:
    whole = (await site.post(READER, "/v1/sheets/list_clients", {})).json()
    names = {name for client in whole["clients"] for name in client} - {"name"}

    found = await parts(site, MODERN, fields=[f"clients.{name}" for name in sorted(names)])

    assert len(found) > 1
    clients = [client for part in found for client in part["structuredContent"]["clients"]]
    assert len(clients) == len(whole["clients"])
    assert {name for client in clients for name in client} == names


@pytest.mark.parametrize("version", [MODERN, HANDSHAKE])
async def test_the_sdk_answers_as_the_fast_path(site: Site, version: str) -> None:
    fast = await call(site, LIST, version=version)
    headers = {"mcp_protocol_version": version}
    meta: dict[str, Any] = {"io.modelcontextprotocol/logLevel": "info"}
    if version == MODERN:
        headers |= {"mcp_method": "tools/call", "mcp_name": LIST}
        meta |= {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    params = {"name": LIST, "arguments": {}, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    reply = await site.post(READER, "/mcp", body, **headers)
    data = [line[6:] for line in reply.text.splitlines() if line.startswith("data: ")]

    assert (json.loads(data[-1]) if data else reply.json())["result"] == fast


async def test_each_part_is_a_call_of_the_tool_in_the_audit(site: Site) -> None:
    audit = site.gateway.parts.audit
    await audit.flush()
    before = len(await site.gateway.parts.store.audit.latest(1000))

    found = await parts(site, MODERN)

    await audit.flush()
    records = await site.gateway.parts.store.audit.latest(1000)
    new = records[: len(records) - before]
    assert [(each.operation, each.outcome) for each in new] == [
        ("sheets.list_clients", "ok")
    ] * len(found)


async def test_a_continuation_is_of_one_key_and_unchanged(site: Site) -> None:
    text = (await call(site, LIST))["_meta"][PART]["continuation"]

    refused = [
        await problem(site, "continue_result", OTHER, continuation=text),
        await problem(site, "continue_result", continuation=text[:-1]),
        await problem(site, "continue_result", continuation="é"),
    ]

    assert [each["status"] for each in refused] == [422] * 3
    assert {each["errors"][0]["pointer"] for each in refused} == {"/continuation"}


async def test_a_result_that_has_changed_is_not_continued(site: Site) -> None:
    first = await call(site, LIST)
    client = first["structuredContent"]["clients"][0]["client_id"]
    changed = await call(
        site, "sheets_update_client", client_id=client, updates={"company": "Elsewhere"}
    )
    assert changed["isError"] is False, changed

    refused = await problem(
        site, "continue_result", continuation=first["_meta"][PART]["continuation"]
    )

    assert refused["code"] == "CONFLICT"
    assert "call the tool again" in refused["detail"]
    record = await last_record(site)
    assert (record.operation, record.outcome) == ("sheets.list_clients", "CONFLICT")
    assert record.status == refused["status"] == 409


async def test_a_result_that_cannot_be_sent_is_audited_as_the_caller_got_it(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "cuttable", lambda *_: None)

    refused = await problem(site, LIST)

    assert refused["code"] == "RESULT_TOO_LARGE"
    record = await last_record(site)
    assert (record.operation, record.outcome) == ("sheets.list_clients", "RESULT_TOO_LARGE")
    assert (record.status, record.stage, record.arguments) == (422, "deliver", {})


async def last_record(site: Site) -> Any:
    audit = site.gateway.parts.audit
    await audit.flush()
    return (await site.gateway.parts.store.audit.latest(1))[0]


@pytest.mark.parametrize("version", [MODERN, HANDSHAKE])
async def test_the_tool_is_listed_for_callers_whose_reads_have_lists(
    site: Site, version: str
) -> None:
    names = {
        agent: {
            tool["name"]
            for tool in (await site.mcp(agent, version, "tools/list"))["result"]["tools"]
        }
        for agent in (OTHER, GREETER)
    }

    assert names == {OTHER: {LIST, "continue_result"}, GREETER: {"example_greet"}}
    answer = await site.mcp(
        GREETER, version, "tools/call", name="continue_result", arguments={"continuation": "x"}
    )
    assert "Unknown tool" in answer["error"]["message"]
