"""The names under which clients see tools, and by which they call them."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.catalogue import (
    AgentPolicies,
    Catalogue,
    Entry,
    PublishedDocuments,
)
from gateway.profiles.clients import PROFILES
from gateway.publication.view import ShownNames, Views
from gateway.testing.suite import agents
from tests.unit import shipped

AGENT = "reader"
LONG = "list_the_repositories_that_an_organization_can_see"


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    """Our own tools, one of them with a long name."""
    first, *others = shipped.catalogue().entries
    tool = replace(first.tool, name=f"vendor_{LONG}", bare_name=LONG)
    changed = Entry(first.operation, tool, first.listing, first.input, first.output)
    return Catalogue(
        [changed, *others],
        upstreams={},
        agents=AgentPolicies({AGENT: frozenset({changed.id})}),
        published=PublishedDocuments(b"{}"),
    )


def test_a_long_name_is_short_where_the_profile_needs_it(catalogue: Catalogue) -> None:
    names, tool = ShownNames(catalogue), catalogue.entries[0].tool
    for profile in PROFILES.values():
        room = profile.room()
        for connector, own in ((None, tool.name), (catalogue.connectors[0], tool.bare_name)):
            shown = names.name(tool, connector, profile.name)
            if room is None or len(own) <= room:
                assert shown == own
            else:
                assert len(shown) <= room
                assert names.entry(shown, connector) is catalogue.entries[0]


@pytest.mark.parametrize("server", ["g", "a-name-of-the-gateway-with-40-characters"])
def test_the_name_that_users_give_the_server_takes_its_room(
    catalogue: Catalogue, server: str
) -> None:
    names, tool = ShownNames(catalogue, server), catalogue.entries[0].tool
    for profile in PROFILES.values():
        shown = names.name(tool, None, profile.name)
        assert names.entry(shown) is catalogue.entries[0]
        if profile.max_name is not None:
            assert len(profile.prefix.format(server=server) + shown) <= profile.max_name


def test_our_own_tools_keep_their_names(catalogue: Catalogue) -> None:
    names = ShownNames(catalogue)
    for profile in PROFILES:
        for entry in catalogue.entries[1:]:
            assert names.name(entry.tool, None, profile) == entry.tool.name


def test_a_name_that_nobody_is_shown_is_no_tool(catalogue: Catalogue) -> None:
    names = ShownNames(catalogue)
    short = names.name(catalogue.entries[0].tool, None, "claude")
    assert names.entry("vendor_list_000000") is None
    assert names.entry(short, "no_such_connector") is None
    # At the endpoint of the connector, the tool has another name.
    assert names.entry(short, catalogue.connectors[0]) is None


@pytest.mark.parametrize("is_right", [True, False])
def test_the_suite_of_a_project_knows_short_names(catalogue: Catalogue, is_right: bool) -> None:
    parts = SimpleNamespace(catalogue=catalogue, views=Views())
    first, other, *_ = catalogue.entries
    shown = ShownNames(catalogue).name((first if is_right else other).tool, None, "default")

    async def mcp(*_: str) -> Any:
        return {"result": {"tools": [{"name": shown}]}}

    site: Any = SimpleNamespace(gateway=SimpleNamespace(parts=parts), mcp=mcp)
    loop = asyncio.new_event_loop()
    try:
        if is_right:
            agents.test_an_agent_lists_what_it_is_granted(loop, site, AGENT, "")
        else:
            with pytest.raises(AssertionError):
                agents.test_an_agent_lists_what_it_is_granted(loop, site, AGENT, "")
    finally:
        loop.close()
