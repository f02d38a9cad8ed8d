"""What clients are shown: names, descriptions, views, and continuations of results."""

import asyncio
import base64
import random
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.catalogue import AgentPolicies, Catalogue, Entry, PublishedDocuments
from gateway.contract.agent_view import AgentView
from gateway.errors import ConfigurationError
from gateway.profiles.clients import PROFILES
from gateway.publication.continuation import MAX_LENGTH, Continuation, NotSealed, sealed, unsealed
from gateway.publication.listed import shortened
from gateway.publication.view import ShownNames, ToolView, Views
from gateway.testing.suite import agents
from tests.unit import shipped
from tests.unit.tables import each_of

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


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Find an airport.",
        "A list [1] and a call f(x), where a < b.",
        "Ends with blanks  ",
        "x" * 100,
    ],
)
def test_a_short_text_without_markup_is_unchanged(text: str) -> None:
    assert shortened(text, 100) is text


def test_the_target_of_a_link_is_left_out() -> None:
    text = 'See "[Pagination](https://docs.example.com/rest?a=b)" and [here](/docs#x).'
    assert shortened(text, 200) == 'See "Pagination" and here.'


def test_tags_are_left_out_and_other_angle_brackets_are_not() -> None:
    text = '<p>Send the <code>id</code> of a <a href="/docs/api">customer</a>.</p>\n<p>a <b c</p>'
    assert shortened(text, 200) == "Send the id of a customer.\na <b c"
    assert shortened("Use <owner>/<repo>.", 200) == "Use <owner>/<repo>."


def test_a_long_text_ends_with_a_sentence() -> None:
    text = "Creates a hook. It needs the scope `repo`. " + "More words follow here. " * 20
    short = shortened(text, 60)
    assert short == "Creates a hook. It needs the scope `repo`."


def test_a_long_text_ends_with_a_paragraph_where_no_sentence_ends() -> None:
    text = "A list of things\n   \n\n- one of them is long and has no end " + "and so on " * 20
    assert shortened(text, 40) == "A list of things"


def test_a_text_without_sentences_ends_with_a_word() -> None:
    assert shortened("word " * 50, 22) == "word word word word…"
    assert shortened("a" * 50, 20) == "a" * 19 + "…"


def test_dots_inside_words_end_no_sentence() -> None:
    text = "Use api.example.com version 1.2.3 of the interface and nothing else at all. Yes."
    assert shortened(text, 40) == "Use api.example.com version 1.2.3 of…"


@each_of("limit", [1, 2, 20, 300])
@each_of("text", ["[" * 10_000, "<a " * 10_000, "\n \n" * 9000, "a. " * 9000])
def test_no_text_is_longer_than_its_limit(text: str, limit: int) -> None:
    assert len(shortened(text, limit)) <= limit


def test_of_a_huge_text_only_the_beginning_is_read() -> None:
    assert shortened("One sentence. " + "[x](" * 3_000_000, 100).startswith("One sentence.")


def test_an_agent_without_a_view_gets_the_default() -> None:
    assert Views(default="full").of("anyone") == ToolView("full", "default")
    assert Views().of("anyone") == ToolView("slim", "default")


def test_the_policy_of_an_agent_is_stronger_than_the_default() -> None:
    views = Views({"a": AgentView(list="search"), "b": AgentView(profile="gemini")}, "full")

    assert views.of("a") == ToolView("search", "default")
    assert views.of("b") == ToolView("full", "gemini")


def test_the_client_chooses_the_profile_where_nothing_else_does() -> None:
    views = Views({"careful": AgentView(profile="claude")})
    assert views.of("other") == ToolView("slim", "default")
    assert views.of("other", "gemini") == ToolView("slim", "gemini")
    assert views.of("careful", "gemini") == ToolView("slim", "claude")
    assert views.of("other", "gemini") is views.of("other", "gemini")


def test_a_setting_decides_for_agents_without_a_profile() -> None:
    views = Views({"careful": AgentView(profile="claude")}, profile="source")
    assert views.of("other", "gemini").profile == "source"
    assert views.of("careful", "gemini").profile == "claude"


def test_a_profile_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="did you mean gemini"):
        Views(profile="gemni")
    with pytest.raises(ConfigurationError, match="no client profile 'x'; the profiles are default"):
        Views({"agent": AgentView(profile="x")})


NEXT = Continuation("shop.list", '{"query":"Löwe","fields":["rows.id"]}', 312, "ab" * 16)
SECRET = b"gw_key"


def text() -> str:
    found = sealed(NEXT, SECRET)
    assert found is not None
    return found


def test_it_opens_for_its_caller() -> None:
    assert unsealed(text(), SECRET) == NEXT
    assert len(text()) < 250


def test_another_key_does_not_open_it() -> None:
    with pytest.raises(NotSealed):
        unsealed(text(), b"gw_other")


@pytest.mark.parametrize("place", [0, 10, 21, 22, 60, -1])
def test_a_changed_character_is_noticed(place: int) -> None:
    given = list(text())
    given[place] = "A" if given[place] != "A" else "B"

    with pytest.raises(NotSealed):
        unsealed("".join(given), SECRET)


@each_of("given", ["", "A", "AAAA", "é", "=", "A" * (MAX_LENGTH + 1), "a b", "\n"])
def test_other_texts_are_refused(given: str) -> None:
    with pytest.raises(NotSealed):
        unsealed(given, SECRET)


def test_arguments_that_are_too_long_have_no_continuation() -> None:
    noise = base64.b64encode(random.Random(1).randbytes(4000)).decode()  # noqa: S311 - only long

    assert sealed(Continuation("shop.list", noise, 1, ""), SECRET) is None
