"""How the MCP servers of a project describe themselves, as the contracts say it."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

TITLE_LENGTH: Final = 100
"""The longest title, in characters."""


class Icon(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An icon of a server (`Icon` of MCP 2025-11-25)."""

    src: str
    """An `https` URL, or a `data` URI with an image in base64."""
    mime_type: str | None = None
    sizes: tuple[str, ...] | None = None
    """Such as `48x48`, or `any`. None: it can be used in each size."""


class ServerDescription(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """How one MCP server describes itself."""

    name: str = "contract-gateway"
    """The name for programs, without a namespace."""
    title: str = "Contract gateway"
    description: str | None = None
    instructions: str | None = None
    """What a model should know of the server as a whole."""
    website_url: str | None = None
    icons: tuple[Icon, ...] = ()


class ServerDescriptions(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The MCP servers of a project."""

    namespace: str | None = None
    """The reversed domain name under which they are published. None: they are not published."""
    gateway: ServerDescription = ServerDescription()
    """That of `/mcp`, which has the tools of all connectors."""
    connectors: Mapping[str, ServerDescription] = {}

    def of(self, connector: str | None) -> ServerDescription:
        """The server with the tools of `connector`; None: the one with all tools."""
        if connector is None:
            return self.gateway
        return self.connectors.get(connector) or ServerDescription(name=connector, title=connector)
