"""Renders `openapi.json`, `tools.json`, `servers.json` and the records of the run time as JSON."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw

from gateway.authoring.codegen.ir import (
    Annotations,
    Contracts,
    ContractSource,
    ImportedContract,
    ImportedTool,
    ToolContract,
    UpstreamContract,
)
from gateway.authoring.codegen.render.artifact import Artifact, document
from gateway.authoring.codegen.render.definitions import SharedDefinitions, renamed
from gateway.authoring.codegen.render.published_events import (
    event_items,
    security_schemes,
    webhook_paths,
)
from gateway.contract.operation import JOBS, Effect
from gateway.contract.selection import relaxed, with_fields
from gateway.contract.server_description import (
    TITLE_LENGTH,
    Icon,
    ServerDescription,
    ServerDescriptions,
)
from gateway.contract.values.files import BLOCKS_TYPE
from gateway.contract.values.hidden import visible_text
from gateway.contract.values.schema import DATA, MAPS, PREFIX, with_definitions
from gateway.encoding.replies.results import ANY_OBJECT
from gateway.errors import ContractError

# The parts of `openapi.json` for jobs: the answer 202, and the paths of the jobs themselves.

_JOB: Final = {"$ref": "#/components/schemas/job"}
_JOB_PROBLEM: Final = {
    "description": "The request failed.",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/problem"}}},
}
_ID: Final = {
    "name": "job_id",
    "in": "path",
    "required": True,
    "description": "The id of a job.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 64},
}
_MOMENT: Final = {"type": "string", "format": "date-time"}
_STATUSES: Final = ["queued", "running", "input_required", "succeeded", "failed", "cancelled"]
_SCHEMA: Final[dict[str, Any]] = {
    "title": "Job",
    "description": "A call that goes on after its request has ended.",
    "type": "object",
    "required": ["id", "operation", "status", "created_at", "updated_at"],
    "properties": {
        "id": {"description": "The id of the job.", "type": "string"},
        "operation": {"description": "The operation that is called.", "type": "string"},
        "status": {
            "description": "queued and running go on. input_required waits for its client. The"
            " others are final.",
            "enum": _STATUSES,
        },
        "created_at": {"description": "When the call became a job.", **_MOMENT},
        "updated_at": {"description": "When the status changed.", **_MOMENT},
        "expires_at": {
            "description": "Until when an ended job is kept. Then it is answered with 410.",
            **_MOMENT,
        },
        "progress": {
            "description": "How far the call is, if it reports this.",
            "type": "object",
            "required": ["done", "message"],
            "properties": {
                "done": {"description": "A number that grows.", "type": "number"},
                "message": {"description": "What it counts.", "type": "string"},
            },
        },
        "input_requests": {
            "description": "The open questions by key, as MCP has them.",
            "type": "object",
        },
        "result": {
            "description": "The result of a job that succeeded, as the tool would answer it.",
            "type": "object",
        },
        "mocked": {
            "description": "The upstreams of the call for which a mock answered, while another one"
            " was live.",
            "type": "array",
            "items": {"type": "string"},
        },
        "left_out": {
            "description": "How many rows the result lacks, because they break the upstream's"
            " contract.",
            "type": "integer",
        },
        "problem": {
            "description": "Why the job failed, as the tool would answer it.",
            "$ref": "#/components/schemas/problem",
        },
    },
}


def job_paths(contracts: Contracts) -> dict[str, Any]:
    """The paths of jobs. None if no call becomes a job."""
    if not _has_jobs(contracts):
        return {}
    page = {
        "type": "object",
        "required": ["items", "next"],
        "properties": {
            "items": {"description": "Newest first.", "type": "array", "items": _JOB},
            "next": {
                "description": "The parameter `after` of the next page. null on the last one.",
                "type": ["string", "null"],
            },
        },
    }
    cancelled = _job_operation(
        "jobs.cancel", "Cancel a job", "Cancel a job that has not ended.", _JOB
    )
    shown = "Show one of your jobs, with its result or problem when it has ended."
    return {
        "/v1/jobs": {
            "get": _job_operation("jobs.list", "List jobs", "List your jobs.", page, _PAGE)
        },
        "/v1/jobs/{job_id}": {"get": _job_operation("jobs.show", "Show a job", shown, _JOB, [_ID])},
        "/v1/jobs/{job_id}/result": {"get": _RESULT},
        "/v1/jobs/{job_id}/events": {"get": _EVENTS},
        "/v1/jobs/{job_id}/cancel": {"post": cancelled | {"parameters": [_ID]}},
    }


def job_schemas(contracts: Contracts) -> dict[str, Any]:
    """The schema of jobs, by its name. None if no call becomes a job."""
    return {"job": _SCHEMA} if _has_jobs(contracts) else {}


def job_tags(contracts: Contracts) -> list[dict[str, str]]:
    """The tag of the paths of jobs. None if no call becomes a job."""
    text = "Calls that go on after their requests have ended."
    return [{"name": JOBS, "description": text}] if _has_jobs(contracts) else []


def with_accepted(operation: dict[str, Any]) -> dict[str, Any]:
    """The Operation Object of a call that may become a job."""
    location = {"description": "The path of the job.", "schema": {"type": "string"}}
    accepted = {
        "description": "The call goes on as a job.",
        "headers": {"Location": location},
        "content": {"application/json": {"schema": _JOB}},
    }
    return operation | {"responses": operation["responses"] | {"202": accepted}}


_RESULT: Final = {
    "operationId": "jobs.result",
    "tags": [JOBS],
    "summary": "Get the result of a job",
    "description": "Get what the tool would have answered. 409 until the job has ended.",
    "parameters": [_ID],
    "responses": {
        "200": {"description": "The result.", "content": {"application/json": {}}},
        "default": _JOB_PROBLEM,
    },
}
_EVENTS: Final = {
    "operationId": "jobs.events",
    "tags": [JOBS],
    "summary": "Follow a job",
    "description": "Get the job as an event `job` whenever it has changed, until it has ended.",
    "parameters": [_ID],
    "responses": {
        "200": {
            "description": "A stream of events.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        "default": _JOB_PROBLEM,
    },
}
_PAGE: Final = [
    {
        "name": "limit",
        "in": "query",
        "description": "The most jobs of the page.",
        "schema": {"type": "integer", "minimum": 1, "maximum": 200, "default": 50},
    },
    {
        "name": "after",
        "in": "query",
        "description": "The id of the last job of the page before.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 64},
    },
]


def _job_operation(
    name: str, summary: str, description: str, schema: Any, parameters: list[Any] | None = None
) -> dict[str, Any]:
    ok = {"description": summary, "content": {"application/json": {"schema": schema}}}
    return {
        "operationId": name,
        "tags": [JOBS],
        "summary": summary,
        "description": description,
        **({"parameters": parameters} if parameters else {}),
        "responses": {"200": ok, "default": _JOB_PROBLEM},
    }


def _has_jobs(contracts: Contracts) -> bool:
    imported = (each.policy.task for found in contracts.imported for each in found.operations)
    return any(mode != "never" for mode in (*(tool.task for tool in contracts.tools), *imported))


# The header `Idempotency-Key`, which every published operation that writes has.

_NAME: Final = "IdempotencyKey"
KEY_PARAMETERS: Final[Mapping[str, Any]] = {
    _NAME: {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": "A text of your choice for this call, such as a UUID. For a day, the same"
        " request with the same key gets the same answer, and the call has its effect once.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!#-~]+$"},
    }
}
"""The components of the document."""


def with_key(operation: dict[str, Any]) -> dict[str, Any]:
    """The Operation Object with the header."""
    known = operation.get("parameters", [])
    return operation | {"parameters": [*known, {"$ref": f"#/components/parameters/{_NAME}"}]}


# The published parts of an operation that has the argument `fields`.

_COMPONENTS: Final = "#/components/schemas/"


def published_input(tool: ToolContract) -> dict[str, Any]:
    """The input schema that validates calls."""
    return with_fields(tool.input_schema) if tool.selects_fields else tool.input_schema


def listed_input(tool: ToolContract) -> dict[str, Any]:
    """The same, with its definitions if it is listed as it is written."""
    schema = tool.input_schema if tool.written_input is None else tool.written_input
    return with_fields(schema) if tool.selects_fields else schema


def published_components(tool: ToolContract) -> dict[str, dict[str, Any]]:
    """The components of the tool, among them its input and the form of its selected results."""
    if not tool.selects_fields:
        return tool.components
    results = tool.output_schema
    # Selected results are valid by other definitions than complete ones.
    names = {name: f"{name}.selected" for name in results.get("$defs", ())}
    own = {_selected_name(tool): relaxed(renamed(results, names))}
    if _input_name(tool) in tool.components:
        # Arguments inside the arguments have no `fields`.
        inner = {_input_name(tool): f"{_input_name(tool)}.inner"}
        own[_input_name(tool)] = renamed(published_input(tool), inner)
    return tool.components | own


def selecting_item(tool: ToolContract) -> dict[str, Any]:
    """The Path Item of a tool with `fields`: a result is complete, or has the selected members."""
    post = tool.path_item["post"]
    complete = _schema_of(post["responses"]["200"])
    selected = {"$ref": f"{_COMPONENTS}{_selected_name(tool)}"}
    return tool.path_item | {
        "post": post
        | {
            "requestBody": _with_schema(post["requestBody"], _input(tool)),
            "responses": post["responses"]
            | {
                "200": _with_schema(post["responses"]["200"], {"anyOf": [complete, selected]}),
            },
        }
    }


def _input(tool: ToolContract) -> dict[str, Any]:
    """A reference to the tool's own component. An input of another file is written out."""
    reference = {"$ref": f"{_COMPONENTS}{_input_name(tool)}"}
    is_own = _schema_of(tool.path_item["post"]["requestBody"]) == reference
    return reference if is_own else published_input(tool)


def _input_name(tool: ToolContract) -> str:
    return f"{tool.id}.input"


def _selected_name(tool: ToolContract) -> str:
    return f"{tool.id}.selected"


def _schema_of(holder: dict[str, Any]) -> Any:
    return holder["content"]["application/json"]["schema"]


def _with_schema(holder: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """A Request Body or Response Object with another schema."""
    content = holder["content"]
    media = content["application/json"] | {"schema": schema}
    return holder | {"content": content | {"application/json": media}}


# Renders `servers.json`: how the MCP server of each connector describes itself.

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


# The parts of `openapi.json` for the operations of imported documents.

_DEFINITIONS: Final = "$defs"
_SELECTED: Final = ".selected"
"""The end of the names of the definitions of results with the members that `fields` names."""
_PROBLEM: Final = {"$ref": f"{_COMPONENTS}problem"}


def import_paths(contracts: Contracts) -> dict[str, Raw]:
    """The path of each imported operation, as text, because all of them are large.

    Its arguments have the schema that validates them.
    """
    return {
        f"/v1/{each.connector}/{tool.tool}": _text({"post": _operation(each, tool, definitions)})
        for each in contracts.imported
        for definitions in (each.decoded_definitions(),)
        for tool in each.operations
    }


def import_schemas(contracts: Contracts) -> dict[str, Raw]:
    """The definitions that arguments and results refer to, by published name."""
    found: dict[str, Raw] = {}
    for each in contracts.imported:
        complete, selected = _used_definitions(each)
        for name, schema in complete.items():
            found[f"{each.connector}.{name}"] = _text(_published(each, schema))
        for name, schema in selected.items():
            text = _text(_published(each, relaxed(schema), _SELECTED))
            found[f"{each.connector}.{name}{_SELECTED}"] = text
    return found


def import_tags(contracts: Contracts) -> list[dict[str, str]]:
    """A tag for each imported document that the index does not describe."""
    known = {tag["name"] for tag in contracts.index.document.get("tags", ())}
    return [
        {"name": each.connector, "description": each.title}
        for each in contracts.imported
        if each.connector not in known
    ]


def _text(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value))


def _operation(
    contract: ImportedContract, tool: ImportedTool, definitions: Mapping[str, Any]
) -> dict[str, Any]:
    schema = _published(contract, tool.decoded_schema())
    if tool.selects_fields:
        schema = with_fields(schema)
    problem = {"application/problem+json": {"schema": _PROBLEM}}
    operation = {
        "operationId": tool.id,
        "tags": [contract.connector],
        "summary": tool.title,
        "description": tool.description,
        "x-mcp": {"name": f"{contract.connector}_{tool.tool}"},
        "x-policy": {"effect": tool.effect},
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {
            "200": {
                "description": f"As {contract.title} documents it.",
                "content": {"application/json": {"schema": _result(contract, tool, definitions)}}
                | {media_type: {} for media_type in tool.file_types},
            },
            "default": {"description": "The call failed.", "content": problem},
        },
    }
    if tool.policy.task != "never":
        operation = with_accepted(operation)
    return operation if tool.effect is Effect.READ else with_key(operation)


def _result(
    contract: ImportedContract, tool: ImportedTool, definitions: Mapping[str, Any]
) -> dict[str, Any]:
    """The schema of the results: complete ones, and those with the members of `fields`."""
    whole = tool.published_results(definitions)
    schema = {name: value for name, value in whole.items() if name != _DEFINITIONS}
    complete: dict[str, Any] = _published(contract, schema)
    if not tool.selects_fields or whole == ANY_OBJECT:
        return complete
    return {"anyOf": [complete, _published(contract, relaxed(schema), _SELECTED)]}


def _used_definitions(contract: ImportedContract) -> tuple[dict[str, Any], dict[str, Any]]:
    """The definitions that arguments and results refer to, directly or indirectly.

    The second ones are those that selected results refer to.
    """
    definitions = contract.decoded_definitions()
    complete, selected = set[str](), set[str]()
    for tool in contract.operations:
        arguments = with_definitions({"allOf": [tool.decoded_schema()]}, definitions)
        result = tool.published_results(definitions)
        names = result.get(_DEFINITIONS, {}).keys()
        complete |= names
        complete |= arguments.get(_DEFINITIONS, {}).keys() if isinstance(arguments, dict) else set()
        selected |= names if tool.selects_fields else set()
    return (
        {name: definitions[name] for name in sorted(complete)},
        {name: definitions[name] for name in sorted(selected)},
    )


def _published(
    contract: ImportedContract, node: Any, suffix: str = "", *, is_map: bool = False
) -> Any:
    """`node` with references to published components. `is_map`: the members are no keywords."""
    if isinstance(node, list):
        return [_published(contract, each, suffix) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: f"{_COMPONENTS}{contract.connector}.{value.removeprefix(PREFIX)}{suffix}"
        if key == "$ref" and not is_map and isinstance(value, str)
        else value
        if key in DATA and not is_map
        else _published(contract, value, suffix, is_map=key in MAPS and not is_map)
        for key, value in node.items()
    }


# Renders `openapi.json`, `tools.json` and the records of the run time as JSON.

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
