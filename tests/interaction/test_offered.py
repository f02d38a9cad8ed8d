"""Resources, prompts and completions of the catalogue, for the SDK's client over sockets."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ElicitResult, PromptReference, ResourceTemplateReference

from gateway.app.gateway import Gateway
from gateway.settings import read_settings
from gateway.store.records import AuditQuery
from gateway.testing.asgi_server import serving
from gateway.transports.mcp import offered as paging
from tests.bridged import bridged

ADMINISTRATOR = "key-of-the-administrator-0123456789abcdef"
pytestmark = pytest.mark.asyncio(loop_scope="module")
ERAS = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
CHECKLIST = "charter://guides/request-checklist"
CONTRACTS = "gateway://contracts/{operation}"
GRANTS = {
    "administrator": frozenset(
        {"avinode.search_airports", "avinode.get_rfp_status", "gmail.get_email"}
        | {"resources/avinode.request_checklist", "prompts/avinode.plan_charter_request"}
        | {"prompts/avinode.compare_quotes"}
    ),
}


class Site:
    """The gateway on a socket."""

    def __init__(self, gateway: Gateway, url: str) -> None:
        self.gateway = gateway
        self.url = url
        self._last: str | None = None

    async def forget(self) -> None:
        """Let `records` begin here."""
        await self.gateway.parts.audit.flush()
        found = await self.gateway.parts.store.audit.page(AuditQuery(limit=1))
        self._last = found.records[0].id if found.records else None

    @asynccontextmanager
    async def client(self, mode: str, path: str = "/mcp", elicit: Any = None) -> AsyncIterator[Any]:
        headers = {"authorization": f"Bearer {ADMINISTRATOR}"}
        async with httpx2.AsyncClient(headers=headers) as http:
            wire = streamable_http_client(self.url + path, http_client=http)
            async with Client(wire, mode=mode, cache=None, elicitation_callback=elicit) as client:
                yield client

    async def records(self) -> list[tuple[str, str]]:
        """The operations and outcomes of the audit records, oldest first."""
        await self.gateway.parts.audit.flush()
        found = await self.gateway.parts.store.audit.page(AuditQuery(limit=100))
        own = [*takewhile(lambda each: each.id != self._last, found.records)]
        return [
            (each.operation, each.outcome)
            for each in reversed(own)
            if not each.operation.startswith("operator.")
        ]


@asynccontextmanager
async def opened(folder: Path, grants: dict[str, frozenset[str]]) -> AsyncIterator[Site]:
    values = {"data": folder, "database_url": "memory:"}
    settings = read_settings({"GATEWAY_BOOTSTRAP_KEY": ADMINISTRATOR}, None, values)
    gateway = Gateway.open(settings, grants=grants)
    async with gateway, serving(gateway.http_app()) as url:
        yield Site(gateway, url)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """One gateway for all tests."""
    async with opened(tmp_path_factory.mktemp("site"), GRANTS) as found:
        yield found


@pytest_asyncio.fixture(loop_scope="module")
async def site(shared: Site) -> Site:
    """The gateway, without the records of the tests before."""
    await shared.forget()
    return shared


async def refusal(asked: Any) -> tuple[int, Any]:
    with pytest.raises(MCPError) as refused:
        await asked
    return refused.value.error.code, refused.value.error.data


@ERAS
async def test_what_is_listed_can_be_read(site: Site, mode: str) -> None:
    async with site.client(mode) as client:
        listed = (await client.list_resources()).resources
        assert [each.uri for each in listed] == [CHECKLIST]
        (contents,) = (await client.read_resource(CHECKLIST)).contents
        templates = (await client.list_resource_templates()).resource_templates
    assert contents.text.startswith("# Checklist of a charter request\n")
    assert listed[0].size == len(contents.text.encode())
    assert contents.mime_type == listed[0].mime_type == "text/markdown"
    uris = ["charter://rfps/{rfp_id}", CONTRACTS, "gateway://pages/{operation}"]
    assert [each.uri_template for each in templates] == uris


@ERAS
async def test_without_the_grant_it_is_as_if_it_was_not_there(tmp_path: Path, mode: str) -> None:
    granted = {"administrator": frozenset({"gmail.get_email"})}
    async with opened(tmp_path, granted) as site, site.client(mode) as client:
        assert (await client.list_resources()).resources == []
        assert (await client.list_prompts()).prompts == []
        hidden = (
            CHECKLIST,
            "charter://rfps/arfp-1",
            "gateway://contracts/avinode.search_airports",
            "gateway://events",
        )
        for uri in (*hidden, "charter://nothing"):
            found = await refusal(client.read_resource(uri))
            assert found == (INVALID_PARAMS, {"uri": uri})
        unknown = await refusal(client.get_prompt("no_such_prompt"))
        assert await refusal(client.get_prompt("avinode_compare_quotes")) == unknown
        ref = PromptReference(name="avinode_compare_quotes")
        argument = {"name": "criterion", "value": ""}
        assert (await refusal(client.complete(ref, argument)))[0] == INVALID_PARAMS


@ERAS
async def test_a_resource_of_a_tool_is_a_call_of_the_tool(site: Site, mode: str) -> None:
    async with site.client(mode) as client:
        code, data = await refusal(client.read_resource("charter://rfps/arfp-none"))
    assert (code, data["reason"]) == (INVALID_PARAMS, "rfp_not_found")
    assert data["uri"] == "charter://rfps/arfp-none"
    assert (await site.records())[-1][0] == "avinode.get_rfp_status"


@ERAS
async def test_reads_leave_one_record_each(site: Site, mode: str) -> None:
    async with site.client(mode) as client:
        await client.read_resource(CHECKLIST)
        await client.read_resource("gateway://contracts/gmail.get_email")
        await refusal(client.read_resource("gateway://contracts/gmail.send_email"))
        await refusal(client.read_resource("charter://nothing"))
        await client.get_prompt("avinode_compare_quotes", {"rfp_id": "r"})
        await refusal(client.get_prompt("avinode_compare_quotes"))
        await refusal(client.get_prompt("nothing"))
    assert await site.records() == [
        ("resources/avinode.request_checklist", "ok"),
        ("gateway.contracts", "ok"),
        ("gateway.contracts", "TOOL_NOT_FOUND"),
        ("mcp:resources/read", "TOOL_NOT_FOUND"),
        ("prompts/avinode.compare_quotes", "ok"),
        ("prompts/avinode.compare_quotes", "VALIDATION_ERROR"),
        ("mcp:prompts/get", "TOOL_NOT_FOUND"),
    ]


@ERAS
async def test_a_prompt_names_only_tools_that_may_be_called(site: Site, mode: str) -> None:
    given = {"wish": "{priority} {avinode.search_airports}"}
    async with site.client(mode) as client:
        listed = (await client.list_prompts()).prompts
        found = await client.get_prompt("avinode_plan_charter_request", given)
    async with site.client(mode, "/mcp/avinode") as client:
        names = [each.name for each in (await client.list_prompts()).prompts]
        bare = await client.get_prompt("plan_charter_request", given)
    assert [each.name for each in listed] == [f"avinode_{name}" for name in names]
    first, airports = (each.content.text for each in found.messages)
    assert "\n\n{priority} {avinode.search_airports}\n\n" in first
    assert "What matters most is price." in first
    assert "`avinode_search_airports`" in airports
    assert "`search_airports`" in bare.messages[1].content.text


@ERAS
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (ElicitResult(action="accept", content={"rfp_id": "arfp-7"}), "ok"),
        (ElicitResult(action="decline"), "VALIDATION_ERROR"),
        (ElicitResult(action="accept", content={"rfp_id": "r" * 201}), None),
        (ElicitResult(action="accept", content={}), None),
    ],
    ids=["accepted", "declined", "too long", "incomplete"],
)
async def test_a_client_is_asked_for_arguments_of_a_prompt_that_are_missing(
    site: Site, mode: str, answer: ElicitResult, outcome: str | None
) -> None:
    asked: list[Any] = []

    async def elicit(_: Any, params: Any) -> ElicitResult:
        asked.append(params)
        return answer

    async with site.client(mode, elicit=elicit) as client:
        getting = client.get_prompt("avinode_compare_quotes", {"criterion": "price"})
        if outcome == "ok":
            assert "arfp-7" in (await getting).messages[0].content.text
        else:
            code, _ = await refusal(getting)
            assert code == INVALID_PARAMS

    (question,) = asked
    assert [*question.requested_schema["properties"]] == ["rfp_id"]
    grant = "prompts/avinode.compare_quotes"
    ended = [] if outcome is None else [(grant, outcome)]
    assert await site.records() == [(grant, "INPUT_REQUIRED"), *ended]


@ERAS
@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({}, "/rfp_id"),
        ({"rfp_id": "r", "other": "x"}, "/other"),
        ({"rfp_id": "r", "criterion": "luck"}, "/criterion"),
        ({"rfp_id": "r" * 201}, "/rfp_id"),
    ],
)
async def test_an_argument_is_refused_and_never_ignored(
    site: Site, mode: str, given: dict[str, str], pointer: str
) -> None:
    async with site.client(mode) as client:
        code, data = await refusal(client.get_prompt("avinode_compare_quotes", given))
    assert code == INVALID_PARAMS
    assert [each["pointer"] for each in data["errors"]] == [pointer]


@ERAS
async def test_documents_are_of_one_tool(site: Site, mode: str) -> None:
    async with site.client(mode) as client:
        (contract,) = (await client.read_resource("gateway://contracts/gmail.get_email")).contents
        (page,) = (await client.read_resource("gateway://pages/gmail.get_email")).contents
    assert list(json.loads(contract.text)["paths"]) == ["/v1/gmail/get_email"]
    assert page.text.startswith("# ")
    assert "`gmail.get_email`" in page.text


@ERAS
async def test_completions_are_what_begins_alike(site: Site, mode: str) -> None:
    prompt = PromptReference(name="avinode_compare_quotes")
    documents = ResourceTemplateReference(uri=CONTRACTS)
    async with site.client(mode) as client:
        criteria = await client.complete(prompt, {"name": "criterion", "value": "a"})
        free = await client.complete(prompt, {"name": "rfp_id", "value": ""})
        tools = await client.complete(documents, {"name": "operation", "value": "avinode."})
        argument = {"name": "nothing", "value": ""}
        assert (await refusal(client.complete(prompt, argument)))[0] == INVALID_PARAMS
        assert (await refusal(client.complete(documents, argument)))[0] == INVALID_PARAMS
    assert criteria.completion.values == ["aircraft"]
    assert (free.completion.values, free.completion.total) == ([], 0)
    found = ["avinode.get_rfp_status", "avinode.search_airports"]
    assert tools.completion.values == found


@ERAS
async def test_pages_hold_everything_once(
    site: Site, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "PAGE", 1)
    async with site.client(mode) as client:
        found, cursor = [], None
        while True:
            page = await client.list_resource_templates(cursor=cursor)
            found += [each.uri_template for each in page.resource_templates]
            cursor = page.next_cursor
            if cursor is None:
                break
        for wrong in ("", "x", "YWZ0ZXI6eA", "é"):
            for ask in (client.list_resources, client.list_prompts):
                assert (await refusal(ask(cursor=wrong)))[0] == INVALID_PARAMS
    assert found == ["charter://rfps/{rfp_id}", CONTRACTS, "gateway://pages/{operation}"]


async def test_how_long_they_may_be_kept(site: Site) -> None:
    async with site.client("2026-07-28") as client:
        kept = [
            await client.list_resources(),
            await client.list_resource_templates(),
            await client.list_prompts(),
            await client.read_resource(CHECKLIST),
        ]
    assert {(each.ttl_ms, each.cache_scope) for each in kept} == {(60_000, "private")}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_subscriptions_are_declared_where_they_work(site: Site, mode: str) -> None:
    async with site.client(mode) as client:
        assert client.server_capabilities.resources is not None
        assert client.server_capabilities.resources.subscribe is True
        assert client.server_capabilities.resources.list_changed is True
        assert client.server_capabilities.prompts is not None
        assert client.server_capabilities.prompts.list_changed is True


@pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")
async def test_only_what_the_gateway_sees_change_can_be_subscribed_to(site: Site) -> None:
    """What a tool makes at each reading changes without notice."""
    page = "gateway://pages/avinode.search_airports"
    async with site.client("legacy") as client:
        for uri in (CHECKLIST, page):
            await client.subscribe_resource(uri)
            await client.unsubscribe_resource(uri)
        code, data = await refusal(client.subscribe_resource("charter://rfps/arfp-1"))
        assert (code, data["code"]) == (INVALID_PARAMS, "VALIDATION_ERROR")
        assert "does not notice" in data["detail"]
        assert data["uri"] == "charter://rfps/arfp-1"


@ERAS
async def test_the_bridge_carries_them(site: Site, mode: str) -> None:
    async with bridged(f"{site.url}/mcp", ADMINISTRATOR, mode) as client:
        assert [each.uri for each in (await client.list_resources()).resources] == [CHECKLIST]
        assert len((await client.list_resource_templates()).resource_templates) == 3
        contents: Any = (await client.read_resource(CHECKLIST)).contents[0]
        names = [each.name for each in (await client.list_prompts()).prompts]
        prompt: Any = await client.get_prompt("avinode_compare_quotes", {"rfp_id": "r"})
        ref = PromptReference(name="avinode_compare_quotes")
        completed = await client.complete(ref, {"name": "criterion", "value": "p"})
        uri = "charter://nothing"
        assert await refusal(client.read_resource(uri)) == (INVALID_PARAMS, {"uri": uri})
    assert contents.text.startswith("# Checklist")
    assert names == ["avinode_compare_quotes", "avinode_plan_charter_request"]
    assert "`r`" in prompt.messages[0].content.text
    assert completed.completion.values == ["price"]
