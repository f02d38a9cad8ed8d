"""No answer of any kind has members that the protocol's revision does not have, at any depth.

The allow lists are written from the official schemas of the revisions (`schema/<revision>` of the
specification's repository): the SDK has the types of the two newest ones only.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from gateway.auth.principal import Credentials
from gateway.events.feed import Feed
from gateway.transports.events import Followers
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.protocol import MODERN_VERSIONS
from gateway.transports.mcp.server import build_server
from tests.bridged import pipes
from tests.interaction.test_revisions import TESTER, answered, exchange, streams_of

ANY: Final = object()
"""A value whose members the protocol does not describe, such as a JSON Schema."""
VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
HINTS_SINCE, STRUCTURE_SINCE, ICONS_SINCE, MODERN_SINCE = VERSIONS[1:]
HANDSHAKE_METHODS: Final = ("initialize", "ping")
ASKED: Final[Mapping[str, dict[str, Any]]] = {
    "initialize": {"capabilities": {}, "clientInfo": TESTER},
    "ping": {},
    "server/discover": {},
    "tools/list": {},
    "tools/call": {"name": "example_greet", "arguments": {"name": "Ada"}},
    "resources/list": {},
    "resources/templates/list": {},
    "resources/read": {"uri": "gateway://events"},
}
REFUSED: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("tools/call", {"name": "example_greet", "arguments": {}}),
    ("tools/call", {"name": "no_such_tool", "arguments": {}}),
    ("tools/call", {"arguments": {}}),
    ("tools/list", {"cursor": "x"}),
    ("resources/read", {"uri": "gateway://nothing"}),
    ("prompts/list", {}),
)


def since(version: str, first: str, **members: Any) -> dict[str, Any]:
    return members if version >= first else {}


def answers(version: str) -> dict[str, Any]:
    """What each result can have. A list stands for a list of such objects."""
    structure = since(version, STRUCTURE_SINCE, title=None, _meta=ANY)
    server = {"name": None, "version": None, **since(version, STRUCTURE_SINCE, title=None)}
    server |= since(version, ICONS_SINCE, description=None, icons=ANY, websiteUrl=None)
    capabilities: dict[str, Any] = {
        "experimental": ANY,
        "logging": {},
        "prompts": {"listChanged": None},
        "resources": {"listChanged": None, "subscribe": None},
        "tools": {"listChanged": None},
        **since(version, HINTS_SINCE, completions={}),
        **since(version, MODERN_SINCE, extensions=ANY),
    }
    hints = ("title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
    tool = {
        **structure,
        "name": None,
        "description": None,
        "inputSchema": ANY,
        **since(version, HINTS_SINCE, annotations=dict.fromkeys(hints)),
        **since(version, STRUCTURE_SINCE, outputSchema=ANY),
    }
    content = {"type": None, "text": None, "annotations": ANY}
    content |= since(version, STRUCTURE_SINCE, _meta=ANY)
    called = {"content": [content], "isError": None}
    called |= since(version, STRUCTURE_SINCE, structuredContent=ANY)
    resource = {"uri": None, "name": None, "description": None, "mimeType": None, **structure}
    contents = {"uri": None, "mimeType": None, "text": None}
    contents |= since(version, STRUCTURE_SINCE, _meta=ANY)
    lists = since(version, MODERN_SINCE, ttlMs=None, cacheScope=None)
    found: dict[str, Any] = {
        "ping": {},
        "tools/list": {"tools": [tool], "nextCursor": None, **lists},
        "tools/call": called,
        "resources/list": {"resources": [resource], "nextCursor": None, **lists},
        "resources/templates/list": {"resourceTemplates": [ANY], "nextCursor": None, **lists},
        "resources/read": {"contents": [contents], **lists},
        "initialize": {
            "protocolVersion": None,
            "capabilities": capabilities,
            "serverInfo": server,
            "instructions": None,
        },
        "server/discover": {
            "supportedVersions": ANY,
            "capabilities": capabilities,
            "instructions": None,
            **lists,
        },
    }
    every = {"_meta": ANY, **since(version, MODERN_SINCE, resultType=None)}
    return {method: {**members, **every} for method, members in found.items()}


def unknown(value: Any, known: Any, place: str = "") -> list[str]:
    """The places in `value` that `known` does not have."""
    if known is ANY or known is None:
        return []
    if isinstance(known, list):
        return [each for part in value for each in unknown(part, known[0], f"{place}/*")]
    found = [f"{place}/{name}" for name in value if name not in known]
    for name in value.keys() & known.keys():
        found += unknown(value[name], known[name], f"{place}/{name}")
    return found


EVERY = pytest.mark.parametrize("version", VERSIONS)


@EVERY
@pytest.mark.usefixtures("mcp_path")
async def test_over_http_on_both_paths(site: Any, version: str) -> None:
    async def ask(method: str, params: dict[str, Any]) -> Any:
        return await answered(site, version, method, params)

    await look_at(version, ask)


@EVERY
async def test_over_stdio(site: Any, feed: Feed, version: str, admin_key: str) -> None:
    credentials, pipeline = Credentials(bearer=admin_key), site.pipeline
    principal = await pipeline.identification.identify(credentials)

    async def caller_of(_: Any) -> Caller:
        return Caller(
            principal=principal,
            credentials=credentials,
            transport="stdio",
            request_id="r",
            view=site.tools.view(principal),
        )

    followers = Followers(feed, pipeline.identification, pipeline.policy, pipeline.audit)
    server = build_server(site.tools, caller_of, "1", followers)
    async with exchange(streams_of(server), version) as ask:
        await look_at(version, ask)


@EVERY
async def test_through_the_bridge(
    site: Any, socket_site: str, version: str, admin_key: str
) -> None:
    async with exchange(pipes(f"{socket_site}/mcp", admin_key), version) as ask:
        await look_at(version, ask)


async def look_at(version: str, ask: Callable[..., Any]) -> None:
    """Check the answer to each request, and to those that are refused."""
    known = answers(version)
    is_modern = version in MODERN_VERSIONS
    for method, params in ASKED.items():
        is_other = method in HANDSHAKE_METHODS if is_modern else method == "server/discover"
        if is_other:
            continue
        greeting = {"protocolVersion": version} if method == "initialize" else {}
        message = await ask(method, params | greeting)
        assert set(message) == {"jsonrpc", "id", "result"}, message
        assert unknown(message["result"], known[method]) == [], method
    for method, params in REFUSED:
        message = await ask(method, params)
        if "result" in message:
            assert message["result"]["isError"] is True
            assert unknown(message["result"], known[method]) == []
        else:
            assert set(message) == {"jsonrpc", "id", "error"}, message
            assert set(message["error"]) <= {"code", "message", "data"}
