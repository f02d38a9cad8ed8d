"""`server.json`: the entry of a server in the MCP registry (schema of 2025-12-11)."""

from typing import Any, Final

from msgspec import Struct

from gateway.errors import ConfigurationError
from gateway.publication.servers.published import PublishedServer, common_members, remote

SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


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
        "$schema": SCHEMA,
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
