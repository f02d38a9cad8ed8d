"""Renders `openapi.json`, `tools.json` and the records of the run time as JSON."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.codegen.ir import (
    Annotations,
    Contracts,
    ContractSource,
    ToolContract,
    UpstreamContract,
)
from gateway.codegen.render.artifact import Artifact, document
from gateway.codegen.render.published_definitions import SharedDefinitions
from gateway.codegen.render.published_events import event_items, security_schemes, webhook_paths
from gateway.codegen.render.published_imports import import_paths, import_schemas, import_tags
from gateway.codegen.render.published_jobs import job_paths, job_schemas, job_tags, with_accepted
from gateway.codegen.render.published_key import KEY_PARAMETERS, with_key
from gateway.codegen.render.published_selection import (
    listed_input,
    published_components,
    published_input,
    selecting_item,
)
from gateway.codegen.render.published_servers import without_servers
from gateway.contract.operation import Effect
from gateway.contract.values.files import BLOCKS_TYPE
from gateway.errors import ContractError

_SOURCES: Final = frozenset(
    {"paths", "components", "webhooks", "x-entities", "x-policies", "x-server", "x-upstreams"}
)
"""Members of the index that refer to other files, or are for MCP servers."""


def tools_json(contracts: Contracts) -> Artifact:
    """`tools.json`: the tools as `tools/list` returns them, sorted by name."""
    tools = sorted(contracts.tools, key=lambda tool: tool.mcp_name)
    return document("tools.json", {"tools": [_listing(tool) for tool in tools]})


def openapi_json(contracts: Contracts) -> Artifact:
    """`openapi.json`: the OpenAPI 3.1.1 document that the gateway serves."""
    index = contracts.index.document
    own = index.get("components", {})
    shared = SharedDefinitions()
    paths, events = _paths(contracts, shared), shared.without(event_items(contracts), is_map=True)
    components = _components(contracts, shared)
    schemas = own.get("schemas", {}) | components | import_schemas(contracts)
    schemas = schemas | job_schemas(contracts)
    schemes = own.get("securitySchemes", {}) | security_schemes(contracts)
    return document(
        "openapi.json",
        {
            **{name: value for name, value in index.items() if name not in _SOURCES},
            "tags": [
                *without_servers(index.get("tags", ())),
                *import_tags(contracts),
                *job_tags(contracts),
            ],
            "paths": paths,
            "webhooks": events,
            "components": own
            | {
                "parameters": own.get("parameters", {}) | KEY_PARAMETERS,
                "securitySchemes": schemes,
                "schemas": dict(sorted(schemas.items())),
            },
        },
    )


def _paths(contracts: Contracts, shared: SharedDefinitions) -> dict[str, Any]:
    tools = {tool.route: shared.without(_path_item(tool)) for tool in contracts.tools}
    webhooks = shared.without(webhook_paths(contracts), is_map=True)
    return {**tools, **import_paths(contracts), **job_paths(contracts), **webhooks}


def upstream_json(contract: UpstreamContract) -> Artifact:
    """`upstreams/<connector>.json`: the upstream, which the run time decodes."""
    return document(f"upstreams/{contract.upstream.name}.json", contract.upstream)


def events_json(contracts: Contracts) -> Artifact:
    """`events.json`: the published events by type, which the run time decodes."""
    return document("events.json", {each.event.type: each.event for each in contracts.events})


def entities_json(contracts: Contracts) -> Artifact:
    """`entities.json`: the entities by kind, which the run time decodes."""
    return document("entities.json", {each.entity.kind: each.entity for each in contracts.entities})


def _path_item(tool: ToolContract) -> dict[str, Any]:
    """The Path Item of a tool, with a generated `get` if the contract has x-query."""
    item = selecting_item(tool) if tool.selects_fields else tool.path_item
    if tool.file_types:
        item = item | {"post": _with_files(tool, item["post"])}
    if tool.has_blocks:
        item = item | {"post": _with_blocks(item["post"])}
    if tool.effect is not Effect.READ or tool.escalation is not None:
        item = item | {"post": with_key(item["post"])}
    if tool.task != "never":
        item = item | {"post": with_accepted(item["post"])}
    return {"get": _query(tool, item["post"]), **item} if tool.is_query else item


def _with_files(tool: ToolContract, post: dict[str, Any]) -> dict[str, Any]:
    """The operation with the media types of results that are files."""
    success = post["responses"]["200"]
    content = success["content"] | {media_type: {} for media_type in tool.file_types}
    return post | {"responses": post["responses"] | {"200": success | {"content": content}}}


def _with_blocks(post: dict[str, Any]) -> dict[str, Any]:
    """The operation whose result has the same form under both of its media types."""
    success = post["responses"]["200"]
    content = success["content"] | {BLOCKS_TYPE: success["content"]["application/json"]}
    return post | {"responses": post["responses"] | {"200": success | {"content": content}}}


def _query(tool: ToolContract, post: dict[str, Any]) -> dict[str, Any]:
    """The operation with its arguments as query parameters."""
    schema = published_input(tool)
    required = schema.get("required", ())
    return {
        **{name: post[name] for name in ("tags", "summary", "description")},
        "operationId": f"{tool.id}.get",
        "parameters": [
            {"name": name, "in": "query", "required": name in required, **_parameter(schema)}
            for name, schema in schema["properties"].items()
        ],
        "responses": post["responses"],
    }


def _parameter(schema: dict[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in schema.items() if name != "description"}
    return {"description": schema["description"], "schema": rest}


def _listing(tool: ToolContract) -> dict[str, Any]:
    return {
        "name": tool.mcp_name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": listed_input(tool),
        "outputSchema": tool.output_schema,
        "annotations": _hints(tool.annotations),
    }


def _hints(annotations: Annotations) -> dict[str, bool]:
    return {
        "readOnlyHint": annotations.read_only,
        "destructiveHint": annotations.destructive,
        "idempotentHint": annotations.idempotent,
        "openWorldHint": annotations.open_world,
    }


def _used(contracts: Contracts) -> Iterator[tuple[ContractSource, Mapping[str, Any]]]:
    """The components of each published contract."""
    yield from ((tool.source, published_components(tool)) for tool in contracts.tools)
    yield from ((webhook.source, webhook.components) for webhook in contracts.webhooks)
    yield from ((event.source, event.components) for event in contracts.events)


def _components(contracts: Contracts, shared: SharedDefinitions) -> dict[str, Any]:
    """All components. Raises `ContractError` if two different ones have the same name."""
    found: dict[str, Any] = {}
    for source, components in _used(contracts):
        for name, each in components.items():
            schema = shared.without(each)
            if found.setdefault(name, schema) != schema:
                raise ContractError(
                    f"schemas/{source.path}: another schema is also published as {name};"
                    " rename the file"
                )
    return {**shared.found, **found}
