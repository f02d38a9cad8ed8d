"""What clients are shown of the server and of its tools, as each revision has it."""

import asyncio
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway.auth.authorize import Policy
from gateway.auth.principal import Principal
from gateway.catalogue import Catalogue, Entry
from gateway.contract.server_description import ServerDescription
from gateway.contract.values import jsontext
from gateway.publication.listed import (
    NO_HEADERS,
    HeaderParameters,
    ListedTool,
    published,
    with_headers,
)
from gateway.publication.own_tools import Listable
from gateway.publication.view import ShownNames, ToolView
from gateway.transports.mcp.protocol import ProtocolRevision, revision_of

SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"
"""The member of `_meta` with the description of the server, since 2026-07-28."""
_INFO: Final = "serverInfo"
_INSTRUCTIONS: Final = "instructions"


class ShownServers:
    """The description that each caller gets of the server at an endpoint.

    A connector is described to callers that may call one of its tools. Others get a description
    that says no more than the path that they already know.
    """

    def __init__(self, catalogue: Catalogue, policy: Policy) -> None:
        self._catalogue = catalogue
        self._policy = policy
        self._connectors: dict[str, frozenset[str]] = {}

    @property
    def gateway(self) -> ServerDescription:
        """The server with the tools of all connectors."""
        return self._catalogue.servers.gateway

    def may_see(self, principal: Principal, connector: str | None) -> bool:
        """Whether the caller may call a tool at the endpoint of `connector`."""
        agent = principal.agent
        found = self._connectors.get(agent)
        if found is None:
            visible = self._policy.visible(principal, self._catalogue)
            found = self._connectors[agent] = frozenset(
                entry.operation.connector for entry in visible
            )
        return connector is None or connector in found

    def of(self, principal: Principal, connector: str | None) -> ServerDescription:
        """The server at the endpoint of `connector`, as this caller is shown it."""
        if not self.may_see(principal, connector):
            return ServerDescription(name=str(connector), title=str(connector))
        return self._catalogue.servers.of(connector)


def server_info(server: ServerDescription, version: str) -> dict[str, Any]:
    """The short description that is part of each result."""
    return {"name": server.name, "title": server.title, "version": version}


def full_info(
    server: ServerDescription, version: str, revision: ProtocolRevision
) -> dict[str, Any]:
    """The description for a client that asks for it, with the members that `revision` has."""
    info = server_info(server, version)
    if not revision.has_titles:
        del info["title"]
    if revision.has_icons:
        members = ("description", "websiteUrl", "icons")
        known = msgspec.json.decode(msgspec.json.encode(server))
        info |= {name: known[name] for name in members if known.get(name)}
    return info


def introduced(
    result: Mapping[str, Any], method: str, server: ServerDescription, version: str
) -> Mapping[str, Any]:
    """`result`, whose server the SDK has named, as the `server` that is described here."""
    if method == "initialize":
        revision = revision_of(result["protocolVersion"])
        return _instructed({**result, _INFO: full_info(server, version, revision)}, server)
    meta = result.get("_meta")
    if not isinstance(meta, Mapping) or SERVER_INFO not in meta:
        return result
    if method != "server/discover":
        return {**result, "_meta": {**meta, SERVER_INFO: server_info(server, version)}}
    info = full_info(server, version, revision_of(result["supportedVersions"][-1]))
    return _instructed({**result, "_meta": {**meta, SERVER_INFO: info}}, server)


def _instructed(result: Mapping[str, Any], server: ServerDescription) -> Mapping[str, Any]:
    return result if not server.instructions else {**result, _INSTRUCTIONS: server.instructions}


MAX_BYTES: Final = 32 * 2**20
"""The most bytes of texts that are kept."""
PLAIN_BYTES: Final = 8 * 2**20
"""How many of them are kept as they are. More are compressed: the texts of 10,000 tools of real
documents have 44 MB, and to make them takes ten times as long as to unpack them."""
_FAST: Final = 1
"""The level of compression."""
MOST_AT_ONCE: Final = 100
"""Texts that are kept are joined at once if there are no more than these. To unpack more of them
takes time too."""

_Form: TypeAlias = tuple[ToolView, tuple[bool, bool, bool], bool, bool]


class _Kept(Struct, frozen=True):
    text: bytes
    is_packed: bool


class ToolTexts:
    """Makes and keeps the texts. Agents with the same view share them.

    Lists whose texts are not kept are made in one thread, one list after the other. Ten thousand
    tools take seconds, and one schema with many references some tens of milliseconds, in which an
    event loop that makes them answers nobody. Only that thread writes, so nothing is locked.
    """

    def __init__(
        self,
        names: ShownNames,
        max_bytes: int = MAX_BYTES,
        plain_bytes: int = PLAIN_BYTES,
        headers: HeaderParameters = NO_HEADERS,
    ) -> None:
        self._names = names
        self._headers = headers
        self._max_bytes = max_bytes
        self._plain_bytes = plain_bytes
        self._size = 0
        self._texts: dict[_Form, dict[Listable, _Kept]] = {}
        self._maker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="lists")

    async def of(
        self,
        tools: Sequence[Listable],
        view: ToolView,
        revision: ProtocolRevision,
        connector: str | None,
    ) -> list[bytes]:
        """The text of each of `tools`: see `text`."""

        def texts() -> list[bytes]:
            return [self.text(each, view, revision, connector) for each in tools]

        kept = self._texts.get(self._form(view, revision, connector), {})
        if len(tools) <= MOST_AT_ONCE and all(each in kept for each in tools):
            return texts()
        return await asyncio.get_running_loop().run_in_executor(self._maker, texts)

    def text(
        self, tool: Listable, view: ToolView, revision: ProtocolRevision, connector: str | None
    ) -> bytes:
        """The text of `tool`, under its name at the endpoint of `connector`."""
        texts = self._texts.setdefault(self._form(view, revision, connector), {})
        kept = texts.get(tool)
        if kept is None:
            name = self._names.name(tool.tool, connector, view.profile)
            is_full = view.mode == "full"
            listing = tool.whole_listing if is_full and isinstance(tool, Entry) else tool.listing
            shown = published(listing, view)
            if isinstance(tool, Entry) and _is_unstructured(tool):
                shown = replace(shown, output_schema=None)
            if isinstance(tool, Entry) and tool.id in self._headers:
                headers = self._headers[tool.id] if revision.is_modern else None
                shown = replace(shown, input_schema=with_headers(shown.input_schema, headers))
            text = jsontext.encode(known_to(revision, replace(shown, name=name)))
            self._keep(texts, tool, text)
            return text
        return zlib.decompress(kept.text) if kept.is_packed else kept.text

    def _form(self, view: ToolView, revision: ProtocolRevision, connector: str | None) -> _Form:
        has_headers = revision.is_modern and bool(self._headers)
        return view, revision.shape, connector is not None, has_headers

    def _keep(self, texts: dict[Listable, _Kept], tool: Listable, text: bytes) -> None:
        kept = _Kept(text, is_packed=False)
        if self._size + len(text) > self._plain_bytes:
            kept = _Kept(zlib.compress(text, _FAST), is_packed=True)
        if self._size + len(kept.text) > self._max_bytes:
            for each in self._texts.values():
                each.clear()
            self._size = 0
        texts[tool] = kept
        self._size += len(kept.text)


def _is_unstructured(entry: Entry) -> bool:
    """Whether a call may return its job in place of the result, or blocks in place of JSON."""
    return entry.operation.task != "never" or entry.operation.has_blocks


def known_to(revision: ProtocolRevision, tool: ListedTool) -> ListedTool:
    """`tool` with the members that `revision` has.

    Where a tool has no title, its annotations have it, if the revision has annotations.
    """
    hints = tool.annotations if revision.has_hints else None
    if not revision.has_titles and hints is not None and tool.title is not None:
        hints = {"title": tool.title, **hints}
    return replace(
        tool,
        title=tool.title if revision.has_titles else None,
        output_schema=tool.output_schema if revision.has_structure else None,
        annotations=hints,
    )


def tool_name(listable: Listable, connector: str | None) -> str:
    """The tool's name at the endpoint of `connector`; None is the endpoint for all."""
    return listable.tool.name if connector is None else listable.tool.bare_name
