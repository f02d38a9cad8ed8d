"""Renders `servers.json`: how the MCP server of each connector describes itself."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from gateway.codegen.ir import Contracts
from gateway.codegen.render.artifact import Artifact, document
from gateway.contract.server_description import (
    TITLE_LENGTH,
    Icon,
    ServerDescription,
    ServerDescriptions,
)
from gateway.contract.values.hidden import visible_text

EXTENSION: Final = "x-server"
"""The member of the index and of its tags with what only MCP servers have."""


def servers_json(contracts: Contracts) -> Artifact:
    """`servers.json`, which the run time decodes."""
    return document("servers.json", msgspec.to_builtins(servers(contracts)))


def servers(contracts: Contracts) -> ServerDescriptions:
    """The servers that the index and the imported documents describe."""
    index = contracts.index.document
    tags = {tag["name"]: tag for tag in index.get("tags", ())}
    own = index.get(EXTENSION, {})
    namespace, _, name = own.get("name", "").rpartition("/")
    titles: dict[str, str | None] = {
        **{each.connector: each.title for each in contracts.imported},
        **dict.fromkeys(contracts.by_connector()),
    }
    return ServerDescriptions(
        namespace=namespace or None,
        gateway=_described(
            own,
            name=name or ServerDescription().name,
            title=index.get("info", {}).get("title"),
            description=None,
        ),
        connectors={
            connector: _connector(connector, tags.get(connector, {}), title)
            for connector, title in sorted(titles.items())
        },
    )


def without_servers(tags: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """`tags` as the published documents have them."""
    return [{name: tag[name] for name in tag if name != EXTENSION} for tag in tags]


def _connector(name: str, tag: Mapping[str, Any], title: str | None) -> ServerDescription:
    """`title` is that of the imported document, if it is one."""
    return _described(
        tag.get(EXTENSION, {}),
        name=name,
        title=title or name.replace("_", " ").capitalize(),
        description=tag.get("description") or title,
    )


def _described(
    own: Mapping[str, Any], *, name: str, title: str | None, description: str | None
) -> ServerDescription:
    title = own.get("title", title) or ServerDescription().title
    description = own.get("description", description)
    instructions = own.get("instructions", description)
    return ServerDescription(
        name=name,
        title=_shown(title)[:TITLE_LENGTH],
        description=description and _shown(description),
        instructions=instructions and _shown(instructions),
        website_url=own.get("websiteUrl"),
        icons=tuple(msgspec.convert(each, Icon) for each in own.get("icons", ())),
    )


def _shown(text: str) -> str:
    """`text` without hidden characters: documents of others have any."""
    return visible_text(text)[0].strip()
