"""Texts in resources and prompts: those of functions, and those that callers send."""

import base64
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import pytest_asyncio
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from gateway.catalogue.index import OpenOffered, OpenResource
from gateway.contract.offered import LARGEST, LONGEST_URI, DeclaredResource, HandlerContents
from gateway.store.records import AuditQuery
from tests.interaction.test_offered import ERAS, GRANTS, Site, opened, refusal

pytestmark = pytest.mark.asyncio(loop_scope="module")
HIDDEN = "a\u200bb\U000e0041c"
MADE = "charter://made"
GRANT = "resources/avinode.made"


def made(offered: OpenOffered, mime_type: str, content: str | bytes) -> OpenOffered:
    """What is `offered`, with this resource in the place of all others."""

    async def run(_: Mapping[str, str]) -> str | bytes:
        return content

    declared = DeclaredResource(
        connector="avinode",
        name="made",
        uri=MADE,
        title="Made",
        description="What a function makes.",
        mime_type=mime_type,
        contents=HandlerContents(module="m", function="f"),
    )
    return OpenOffered((OpenResource(declared, run=run),), offered.prompts)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """One gateway for all tests."""
    grants = {"administrator": GRANTS["administrator"] | {GRANT}}
    async with opened(tmp_path_factory.mktemp("site"), grants) as found:
        yield found


@pytest_asyncio.fixture(loop_scope="module")
async def site(shared: Site) -> AsyncIterator[Site]:
    """The gateway, without the records of the tests before."""
    await shared.forget()
    offered = shared.gateway.parts.catalogue.offered
    yield shared
    shared.gateway.parts.catalogue.offered = offered


async def read(site: Site, mode: str, mime_type: str, content: str | bytes) -> tuple[Any, Any]:
    """What the client gets, or its refusal, and the newest audit record."""
    catalogue = site.gateway.parts.catalogue
    catalogue.offered = made(catalogue.offered, mime_type, content)
    async with site.client(mode) as client:
        if _is_sent(mime_type, content):
            (found,) = (await client.read_resource(MADE)).contents
        else:
            found = await refusal(client.read_resource(MADE))
    return found, await newest(site)


async def newest(site: Site) -> Any:
    await site.gateway.parts.audit.flush()
    found = await site.gateway.parts.store.audit.page(AuditQuery(limit=1))
    return found.records[0]


def _is_sent(mime_type: str, content: str | bytes) -> bool:
    if mime_type == "image/png":
        return isinstance(content, bytes)
    data = content.encode() if isinstance(content, str) else content
    return len(data) <= LARGEST and b"\xff" not in data


@ERAS
@pytest.mark.parametrize("mime_type", ["text/plain", "application/JSON", "image/svg+xml"])
@pytest.mark.parametrize("content", [HIDDEN, HIDDEN.encode()])
async def test_a_media_type_of_text_makes_it_a_text(
    site: Site, mode: str, mime_type: str, content: str | bytes
) -> None:
    found, record = await read(site, mode, mime_type, content)
    assert (found.text, found.mime_type) == ("abc", mime_type)
    assert (record.operation, record.outcome, record.hidden_characters) == (GRANT, "ok", 2)


@ERAS
async def test_all_others_are_bytes(site: Site, mode: str) -> None:
    found, record = await read(site, mode, "image/png", b"\xff\x00")
    assert base64.b64decode(found.blob) == b"\xff\x00"
    assert (record.outcome, record.hidden_characters) == ("ok", 0)


@pytest.mark.parametrize(
    ("mime_type", "content"),
    [
        ("image/png", "a text"),
        ("text/plain", b"\xff"),
        ("text/plain", "é" * (LARGEST // 2 + 1)),
    ],
)
async def test_a_content_that_is_not_of_its_media_type_is_a_defect(
    site: Site, mime_type: str, content: str | bytes
) -> None:
    (code, _), record = await read(site, "2026-07-28", mime_type, content)
    assert code == INTERNAL_ERROR
    assert (record.operation, record.status) == (GRANT, 500)


@ERAS
async def test_arguments_of_prompts_come_back_without_hidden_characters(
    site: Site, mode: str
) -> None:
    async with site.client(mode) as client:
        found: Any = await client.get_prompt("avinode_compare_quotes", {"rfp_id": HIDDEN})
        record = await newest(site)
    assert "`abc`" in found.messages[0].content.text
    assert record.hidden_characters == 2


@ERAS
async def test_a_refusal_shows_no_more_of_a_uri_than_there_can_be(site: Site, mode: str) -> None:
    async with site.client(mode) as client:
        long = await refusal(client.read_resource("x://" + "a" * 10_000))
        hidden = await refusal(client.read_resource(f"x://{HIDDEN}"))
    assert long == (INVALID_PARAMS, {"uri": ("x://" + "a" * LONGEST_URI)[:LONGEST_URI]})
    assert hidden == (INVALID_PARAMS, {"uri": "x://abc"})


@ERAS
async def test_the_events_are_no_resource_of_a_connector_and_that_is_recorded(
    site: Site, mode: str
) -> None:
    async with site.client(mode, "/mcp/avinode") as client:
        found = await refusal(client.read_resource("gateway://events"))
        assert found == (INVALID_PARAMS, {"uri": "gateway://events"})
        assert await site.records() == [("mcp:resources/read", "TOOL_NOT_FOUND")]
