"""The parts of `openapi.json` for the operations of imported documents."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw

from gateway.codegen.imported_contracts import ImportedContract, ImportedTool
from gateway.codegen.ir import Contracts
from gateway.codegen.render.published_jobs import with_accepted
from gateway.codegen.render.published_key import with_key
from gateway.contract.operation import Effect
from gateway.contract.selection import relaxed, with_fields
from gateway.contract.values.schema import DATA, MAPS, PREFIX, with_definitions
from gateway.encoding.replies.results import ANY_OBJECT

_DEFINITIONS: Final = "$defs"
_SELECTED: Final = ".selected"
"""The end of the names of the definitions of results with the members that `fields` names."""
_COMPONENTS: Final = "#/components/schemas/"
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
        complete, selected = _used(each)
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


def _used(contract: ImportedContract) -> tuple[dict[str, Any], dict[str, Any]]:
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
