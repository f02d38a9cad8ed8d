"""Each agent sees, with its own key, what the policies grant; all else looks unknown."""

from typing import Any

import pytest

from gateway.contract.agent_view import OWN_TOOLS, SEARCH_TOOLS
from gateway.publication.view import ShownNames
from gateway.testing.fixtures import Loop
from gateway.testing.gateways import Site
from gateway.testing.transports import HANDSHAKE, MODERN

__all__ = ["test_an_agent_lists_what_it_is_granted", "test_every_other_tool_looks_unknown"]


@pytest.mark.parametrize("version", [MODERN, HANDSHAKE])
def test_an_agent_lists_what_it_is_granted(
    gateway_loop: Loop, gateway_site: Site, gateway_agent: str, version: str
) -> None:
    answer = gateway_loop.run_until_complete(gateway_site.mcp(gateway_agent, version, "tools/list"))

    parts = gateway_site.gateway.parts
    granted = parts.catalogue.grants[gateway_agent]
    expected = {
        entry.id
        for entry in parts.catalogue.entries
        if entry.id in granted and not entry.tool.requires
    }
    listed = {tool["name"] for tool in answer["result"]["tools"]}
    if expected and parts.views.of(gateway_agent).mode == "search":
        # Its other tools are found, and not listed.
        assert SEARCH_TOOLS in listed
        expected = set()
    # Clients that refuse long names are shown short ones.
    names = ShownNames(parts.catalogue, parts.views.server_name)
    entries = [names.entry(name) for name in listed - OWN_TOOLS]
    assert {entry and entry.id for entry in entries} == expected
    assert len(entries) == len(expected)


def test_every_other_tool_looks_unknown(
    gateway_loop: Loop, gateway_site: Site, gateway_agent: str
) -> None:
    """Over REST and MCP, it is answered like a tool that does not exist."""
    run = gateway_loop.run_until_complete
    catalogue = gateway_site.gateway.parts.catalogue
    granted = catalogue.grants[gateway_agent]
    nothing = run(gateway_site.post(gateway_agent, "/v1/no/such", {}))
    unlisted = run(_called(gateway_site, gateway_agent, "no_such"))

    for entry in (each for each in catalogue.entries if each.id not in granted):
        reply = run(gateway_site.post(gateway_agent, entry.operation.route, {}))
        assert reply.status_code == nothing.status_code == 404
        assert _comparable(reply.json()) == _comparable(nothing.json())
        answer = run(_called(gateway_site, gateway_agent, entry.tool.name))
        assert _shape(answer) == _shape(unlisted)


async def _called(site: Site, agent: str, name: str) -> Any:
    return await site.mcp(agent, MODERN, "tools/call", name=name, arguments={})


def _comparable(problem: dict[str, Any]) -> dict[str, Any]:
    """A problem without the id of the call."""
    return {name: value for name, value in problem.items() if name != "request_id"}


def _shape(answer: dict[str, Any]) -> Any:
    """An MCP error without the name that was asked for."""
    return {"code": answer["error"]["code"], "members": sorted(answer["error"])}
