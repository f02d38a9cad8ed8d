"""What all documents of a server have in common: its name, its texts and its address."""

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from gateway.contract.server_description import ServerDescription, ServerDescriptions

DESCRIPTION_LENGTH: Final = 100
"""The longest description in registries and cards, in characters."""
_LOCAL: Final = "local"
"""The namespace of servers that are not published."""
_SENTENCE: Final = re.compile(r"^.*?[.](?=\s|$)", re.DOTALL)


class PublishedServer(Struct, frozen=True, kw_only=True):
    """One MCP server of a gateway, and where clients reach it."""

    name: str
    """The reversed name of a domain, a slash and the name of the server."""
    server: ServerDescription
    version: str
    url: str | None = None
    """Its endpoint over Streamable HTTP. None: it is not known."""

    @property
    def description(self) -> str:
        """The description in the length that registries allow."""
        return shortened(self.server.description or self.server.title)


def published_server(
    servers: ServerDescriptions, connector: str | None, version: str, public_url: str | None
) -> PublishedServer:
    """The server of `connector`; None: the one with the tools of all.

    `public_url` is where clients reach the gateway.
    """
    server = servers.of(connector)
    path = "/mcp" if connector is None else f"/mcp/{connector}"
    return PublishedServer(
        name=f"{servers.namespace or _LOCAL}/{server.name}",
        server=server,
        version=version,
        url=None if public_url is None else public_url.rstrip("/") + path,
    )


def shortened(text: str) -> str:
    """`text`, or its first sentence, or its first words, in `DESCRIPTION_LENGTH` characters."""
    if len(text) <= DESCRIPTION_LENGTH:
        return text
    sentence = _SENTENCE.match(text)
    if sentence is not None and len(sentence[0]) <= DESCRIPTION_LENGTH:
        return sentence[0]
    words, _, _ = text[:DESCRIPTION_LENGTH].rpartition(" ")
    return f"{words or text[: DESCRIPTION_LENGTH - 1]}…"


def common_members(published: PublishedServer, *, has_data_icons: bool) -> dict[str, Any]:
    """The members that registries and cards have alike. Registries allow no `data` icons."""
    server = published.server
    icons = [
        msgspec.json.decode(msgspec.json.encode(each))
        for each in server.icons
        if has_data_icons or each.src.startswith("https:")
    ]
    website = {} if server.website_url is None else {"websiteUrl": server.website_url}
    return {
        "name": published.name,
        "title": server.title,
        "description": published.description,
        "version": published.version,
        **website,
        **({"icons": icons} if icons else {}),
    }


def remote(url: str, versions: Sequence[str] = ()) -> dict[str, Any]:
    """How a client connects to `url`: with a gateway key, which it asks its user for."""
    key = {"description": "A key of the gateway.", "isRequired": True, "isSecret": True}
    header = {
        "name": "Authorization",
        "value": "Bearer {key}",
        "isRequired": True,
        "isSecret": True,
        "variables": {"key": key},
    }
    known = {"supportedProtocolVersions": list(versions)} if versions else {}
    return {"type": "streamable-http", "url": url, **known, "headers": [header]}
