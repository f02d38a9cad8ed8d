"""Calls of tools whose arguments are repeated in headers (`x-mcp-header`), over the bridge."""

import msgspec
from mcp import Client
from mcp_types import ListToolsResult, Tool
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from gateway.publication.header_parameters import KEYWORD


class HeaderParameters:
    """Lets the SDK's client send these headers: a client knows them of tools that it has listed."""

    def __init__(self) -> None:
        self._tools: frozenset[str] | None = None
        """The listed tools that have them. None: nothing was listed."""

    def noted(self, listed: ListToolsResult) -> ListToolsResult:
        """`listed`, of which it is noted which tools have them."""
        marked = (each.name for each in listed.tools if _has_keyword(each))
        self._tools = (self._tools or frozenset()) | frozenset(marked)
        return listed

    async def prepare(self, client: Client, tool: str) -> None:
        """List the tools with `client` if it needs to know the headers of `tool`."""
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        if self._tools is None or tool in self._tools:
            self.noted(await client.list_tools())


def _has_keyword(tool: Tool) -> bool:
    return KEYWORD.encode() in msgspec.json.encode(tool.input_schema)
