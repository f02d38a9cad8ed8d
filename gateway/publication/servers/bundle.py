"""MCP bundles (MCPB): a host installs one to start `gateway mcp`, which connects to a gateway.

A bundle is a zip file with `manifest.json` (version 0.4) and a Python project that `uv` installs.
The same inputs give the same bytes.
"""

import io
import zipfile
from typing import Any, Final

import msgspec
from msgspec import Struct

from gateway.publication.servers.published import PublishedServer

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
