"""What answers say of the server: `serverInfo` and `instructions`, as each revision has them."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from gateway.auth.authorize import Policy
from gateway.auth.principal import Principal
from gateway.catalogue import Catalogue
from gateway.contract.server_description import ServerDescription
from gateway.transports.mcp.revisions import ProtocolRevision, revision_of

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
