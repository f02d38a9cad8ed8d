"""Documents that describe MCP servers to people, hosts and registries before they connect."""

import io
import re
import zipfile
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from gateway.contract.server_description import ServerDescription, ServerDescriptions
from gateway.errors import ConfigurationError

# What all documents of a server have in common: its name, its texts and its address.

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


# MCP bundles (MCPB): a host installs one to start `gateway mcp`, which connects to a gateway.
#
# A bundle is a zip file with `manifest.json` (version 0.4) and a Python project that `uv` installs.
# The same inputs give the same bytes.

SUFFIX: Final = ".mcpb"
ENTRY: Final = "server.py"
_MOMENT: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip file can have."""
_MODE: Final = 0o644 << 16
_PROGRAM: Final = '''"""Runs the command `gateway` with the arguments of the manifest."""

from gateway.__main__ import main

main()
'''


class Wheel(Struct, frozen=True):
    """A built distribution of the gateway, for bundles that do not fetch it from an index."""

    name: str
    """Its file name."""
    content: bytes


def bundle(published: PublishedServer, wheel: Wheel | None = None) -> bytes:
    """The bundle of a server. Without `wheel`, `uv` fetches the gateway from its index."""
    files = {
        "manifest.json": msgspec.json.format(msgspec.json.encode(manifest(published)), indent=2),
        "pyproject.toml": _project(published, wheel).encode(),
        ENTRY: _PROGRAM.encode(),
        **({} if wheel is None else {wheel.name: wheel.content}),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _MOMENT)
            entry.external_attr = _MODE
            entry.create_system = 3  # Unix, on each system
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def manifest(published: PublishedServer) -> dict[str, Any]:
    """`manifest.json`. The key is asked for when the bundle is installed, and is never in it."""
    server = published.server
    run = ["run", "--directory", "${__dirname}", ENTRY, "mcp", "--url", "${user_config.url}"]
    address = {
        "type": "string",
        "title": "Address",
        "description": "The address of the gateway's MCP endpoint.",
        "required": True,
        **({} if published.url is None else {"default": published.url}),
    }
    key = {
        "type": "string",
        "title": "Key",
        "description": "A key of the gateway. It decides which tools there are.",
        "required": True,
        "sensitive": True,
    }
    return {
        "manifest_version": "0.4",
        "name": published.name.partition("/")[2],
        "display_name": server.title,
        "version": published.version,
        "description": published.description,
        **({} if server.description is None else {"long_description": server.description}),
        "author": {"name": published.name.partition("/")[0]},
        **({} if server.website_url is None else {"homepage": server.website_url}),
        "server": {
            "type": "uv",
            "entry_point": ENTRY,
            "mcp_config": {
                "command": "uv",
                "args": run,
                "env": {"GATEWAY_KEY": "${user_config.key}"},
            },
        },
        "tools_generated": True,
        "user_config": {"url": address, "key": key},
    }


def _project(published: PublishedServer, wheel: Wheel | None) -> str:
    source = (
        ""
        if wheel is None
        else f'\n[tool.uv.sources]\ncontract-gateway = {{ path = "./{wheel.name}" }}\n'
    )
    return (
        "[project]\n"
        'name = "gateway-bundle"\n'
        f'version = "{published.version}"\n'
        'requires-python = ">=3.11"\n'
        f'dependencies = ["contract-gateway=={published.version}"]\n'
        f"{source}"
    )


# Server cards: who an MCP server is and how to connect to it, without its tools (SEP-2127).

MEDIA_TYPE: Final = "application/mcp-server-card+json"
CARD_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"


def server_card(published: PublishedServer, versions: Sequence[str]) -> dict[str, Any]:
    """The card of a server that speaks the revisions `versions`.

    Without a known address it names none: its reader has come from there.
    """
    url = published.url
    return {
        "$schema": CARD_SCHEMA,
        **common_members(published, has_data_icons=True),
        **({} if url is None else {"remotes": [remote(url, versions)]}),
    }


# `server.json`: the entry of a server in the MCP registry (schema of 2025-12-11).

REGISTRY_SCHEMA: Final = (
    "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
)


class PublishedBundle(Struct, frozen=True, kw_only=True):
    """A bundle that can be downloaded."""

    url: str
    sha256: str


def server_json(
    published: PublishedServer, namespace: str | None, bundle: PublishedBundle | None = None
) -> dict[str, Any]:
    """The entry. Raises `ConfigurationError` for a server that a registry would refuse."""
    if namespace is None:
        raise ConfigurationError(
            "the contracts do not say the name of the server in registries; add x-server.name to "
            "openapi.yaml, such as com.example/gateway, and run `gateway generate`"
        )
    if published.url is None and bundle is None:
        raise ConfigurationError(
            "there is nothing to connect to; give --public-url, or --bundle and --bundle-url"
        )
    if bundle is not None and ("mcp" not in bundle.url or not bundle.url.startswith("https://")):
        raise ConfigurationError(
            "the registry wants the URL of a bundle to start with https:// and to contain `mcp`"
        )
    url = published.url
    return {
        "$schema": REGISTRY_SCHEMA,
        **common_members(published, has_data_icons=False),
        **({} if bundle is None else {"packages": [_package(bundle)]}),
        **({} if url is None else {"remotes": [remote(url)]}),
    }


def _package(bundle: PublishedBundle) -> dict[str, Any]:
    return {
        "registryType": "mcpb",
        "identifier": bundle.url,
        "fileSha256": bundle.sha256,
        "transport": {"type": "stdio"},
    }
