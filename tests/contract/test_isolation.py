"""The data of clients is for one agent: on every transport, in every list, for every tool."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any, Final

import jsonschema
import pytest

from gateway.testing.fixtures import opened
from gateway.testing.gateways import Site, open_site
from gateway.testing.transports import HANDSHAKE, MODERN

CLIENTS: Final = "client_cache"
OTHERS: Final = {
    "orchestrator": ("query", "insert", "update"),
    "flight_search": ("query", "insert", "update"),
    "proposal_analysis": ("query", "insert", "update"),
    "communication": ("update",),
    "error_monitor": ("query", "insert", "update"),
}
CALLS: Final[dict[str, dict[str, Any]]] = {
    "query": {},
    "insert": {"data": [{"email": "a@example.com"}]},
    "update": {"filters": {"email": "a@example.com"}, "data": {"email": "b@example.com"}},
}
PAIRS: Final = [(agent, tool) for agent, tools in OTHERS.items() for tool in tools]


@pytest.fixture(scope="module")
def site(
    gateway_loop: asyncio.AbstractEventLoop, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    yield from opened(
        gateway_loop, open_site(tmp_path_factory.mktemp("isolation"), [*OTHERS, "client_data"])
    )


def arguments(tool: str, table: str) -> dict[str, Any]:
    return {"table": table, **CALLS[tool]}


def admits(schema: dict[str, Any], value: Any) -> bool:
    """The verdict of a validator that the gateway does not use."""
    return jsonschema.Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(("agent", "tool"), PAIRS)
def test_no_other_agent_reaches_the_clients(gateway_loop, site, agent: str, tool: str) -> None:
    run = gateway_loop.run_until_complete
    given = arguments(tool, CLIENTS)

    reply = run(site.post(agent, f"/v1/supabase/{tool}", given))
    assert (reply.status_code, reply.json()["code"]) == (403, "PERMISSION_ERROR")
    assert [each["pointer"] for each in reply.json()["errors"]] == ["/table"]
    for version in (MODERN, HANDSHAKE):
        name = f"supabase_{tool}"
        answer = run(site.mcp(agent, version, "tools/call", name=name, arguments=given))
        assert answer["result"]["isError"] is True
        (block,) = answer["result"]["content"]
        assert json.loads(block["text"])["code"] == "PERMISSION_ERROR"
    executed = run(
        site.post(agent, "/tools/execute", {"name": f"supabase.{tool}", "arguments": given})
    )
    assert executed.status_code == 403


@pytest.mark.parametrize("tool", OTHERS["error_monitor"])
def test_who_alerts_people_by_mail_reaches_no_request(gateway_loop, site, tool: str) -> None:
    """A request has the client's name, address and words."""
    run = gateway_loop.run_until_complete
    data = {"data": [{"client_name": "Ada"}]} if tool == "insert" else {}
    if tool == "update":
        data = {"filters": {"id": "none"}, "data": {"client_name": "Ada"}}
    statuses = {
        agent: run(
            site.post(agent, f"/v1/supabase/{tool}", {"table": "iso_requests", **data})
        ).status_code
        for agent in ("orchestrator", "error_monitor")
    }

    assert statuses == {"orchestrator": 200, "error_monitor": 403}
    listed = run(site.mcp("error_monitor", MODERN, "tools/list"))["result"]["tools"]
    schemas = {each["name"]: each["inputSchema"] for each in listed}
    assert "iso_requests" not in json.dumps(schemas[f"supabase_{tool}"])


def test_the_agent_for_clients_reaches_them_and_nothing_else(gateway_loop, site) -> None:
    run = gateway_loop.run_until_complete
    path = "/v1/supabase/query"
    assert run(site.post("client_data", path, {"table": CLIENTS})).status_code == 200
    assert run(site.post("client_data", path, {"table": "quotes"})).status_code == 403


@pytest.mark.parametrize(
    ("filters", "status"),
    [
        ({"client_id": "CL-1"}, 200),
        ({"email": "a@example.com"}, 200),
        ({"client_id": {"neq": "CL-1"}}, 403),
        ({"name": "Ada"}, 403),
        ({}, 403),
        (None, 403),
    ],
)
def test_whoever_writes_mail_reads_one_client_at_a_time(
    gateway_loop, site, filters: Any, status: int
) -> None:
    given = {"table": CLIENTS} | ({} if filters is None else {"filters": filters})
    reply = gateway_loop.run_until_complete(site.post("communication", "/v1/supabase/query", given))
    assert reply.status_code == status, reply.text


@pytest.mark.parametrize("version", [MODERN, HANDSHAKE])
@pytest.mark.parametrize(("agent", "tool"), PAIRS)
def test_lists_show_what_calls_accept(
    gateway_loop, site, agent: str, tool: str, version: str
) -> None:
    answer = gateway_loop.run_until_complete(site.mcp(agent, version, "tools/list"))
    listed = {each["name"]: each["inputSchema"] for each in answer["result"]["tools"]}
    schema = listed[f"supabase_{tool}"]

    assert admits(schema, arguments(tool, "iso_workflows"))
    assert not admits(schema, arguments(tool, CLIENTS))
    assert CLIENTS not in json.dumps(schema)


@pytest.mark.parametrize("agent", [each for each in OTHERS if "query" in OTHERS[each]])
def test_the_openapi_document_shows_what_calls_accept(gateway_loop, site, agent: str) -> None:
    run = gateway_loop.run_until_complete
    headers = {"authorization": f"Bearer {site.keys[agent]}"}
    document = run(site.client.get("/openapi.json", headers=headers)).json()
    uri = "gateway://contracts/supabase.query"
    read = run(site.mcp(agent, HANDSHAKE, "resources/read", uri=uri))
    alone = json.loads(read["result"]["contents"][0]["text"])

    for each in (document, alone):
        body = each["paths"]["/v1/supabase/query"]["post"]["requestBody"]["content"]
        schema = {**body["application/json"]["schema"], "components": each["components"]}
        assert admits(schema, {"table": "quotes"})
        assert not admits(schema, {"table": CLIENTS})
        examples = body["application/json"]["examples"].values()
        assert all(admits(schema, example["value"]) for example in examples)
