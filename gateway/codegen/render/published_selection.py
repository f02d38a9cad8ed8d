"""The published parts of an operation that has the argument `fields`."""

from typing import Any, Final

from gateway.codegen.ir import ToolContract
from gateway.codegen.render.published_definitions import renamed
from gateway.contract.selection import relaxed, with_fields

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
