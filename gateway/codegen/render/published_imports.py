"""The parts of `openapi.json` for the operations of imported documents."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Raw

from gateway.codegen.ir import Contracts, ImportedContract, ImportedTool
from gateway.codegen.render.published_key import with_key
from gateway.contract.operation import Effect
from gateway.contract.selection.argument import with_fields
from gateway.contract.values.definitions import DATA, MAPS, PREFIX, with_definitions

_COMPONENTS: Final = "#/components/schemas/"
_PROBLEM: Final = {"$ref": f"{_COMPONENTS}problem"}


def import_paths(contracts: Contracts) -> dict[str, Raw]:
    """The path of each imported operation, as text, because all of them are large.

    Its arguments have the schema that validates them.
    """
    return {
        f"/v1/{each.connector}/{tool.tool}": _text({"post": _operation(each, tool)})
        for each in contracts.imported
        for tool in each.operations
    }


def import_schemas(contracts: Contracts) -> dict[str, Raw]:
    """The definitions that the arguments of imported operations refer to, by published name."""
    return {
        f"{each.connector}.{name}": _text(_published(each, schema))
        for each in contracts.imported
        for name, schema in _used(each)
    }


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


def _operation(contract: ImportedContract, tool: ImportedTool) -> dict[str, Any]:
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
                "content": {"application/json": {"schema": {"type": "object"}}}
                | {media_type: {} for media_type in tool.file_types},
            },
            "default": {"description": "The call failed.", "content": problem},
        },
    }
    return operation if tool.effect is Effect.READ else with_key(operation)


def _used(contract: ImportedContract) -> Iterator[tuple[str, Any]]:
    """The definitions that arguments refer to, directly or indirectly."""
    schemas = [tool.decoded_schema() for tool in contract.operations]
    whole = with_definitions({"allOf": schemas}, contract.decoded_definitions())
    if isinstance(whole, dict):
        yield from whole.get("$defs", {}).items()


def _published(contract: ImportedContract, node: Any, *, is_map: bool = False) -> Any:
    """`node` with references to published components. `is_map`: the members are no keywords."""
    if isinstance(node, list):
        return [_published(contract, each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: f"{_COMPONENTS}{contract.connector}.{value.removeprefix(PREFIX)}"
        if key == "$ref" and not is_map and isinstance(value, str)
        else value
        if key in DATA and not is_map
        else _published(contract, value, is_map=key in MAPS and not is_map)
        for key, value in node.items()
    }
