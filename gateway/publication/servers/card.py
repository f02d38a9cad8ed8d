"""Server cards: who an MCP server is and how to connect to it, without its tools (SEP-2127)."""

from collections.abc import Sequence
from typing import Any, Final

from gateway.publication.servers.published import PublishedServer, common_members, remote

MEDIA_TYPE: Final = "application/mcp-server-card+json"
SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"


def server_card(published: PublishedServer, versions: Sequence[str]) -> dict[str, Any]:
    """The card of a server that speaks the revisions `versions`.

    Without a known address it names none: its reader has come from there.
    """
    url = published.url
    return {
        "$schema": SCHEMA,
        **common_members(published, has_data_icons=True),
        **({} if url is None else {"remotes": [remote(url, versions)]}),
    }
