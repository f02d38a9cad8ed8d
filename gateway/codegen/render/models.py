"""Pydantic models: one module per tool, one per file of shared definitions."""

import importlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, cast

from gateway.codegen.cache import Remember
from gateway.codegen.ir import CommonContract, Model, Source, ToolContract
from gateway.codegen.names import module_name
from gateway.codegen.render.artifact import Artifact, docstring, python
from gateway.codegen.render.typed import Schema, TypedFile

_RESERVED: Final = (
    "Annotated", "Any", "BaseModel", "ConfigDict", "Field", "Literal", "RootModel", "TypeAliasType",
)  # fmt: skip
_SHARED: Final = re.compile(r"(common/([\w.-]+)\.json)#/\$defs/(\w+)")


def tool_models(tool: ToolContract, package: str, remember: Remember) -> Artifact:
    """`models/<connector>/<tool>.py`: the tool's input and output.

    Raises `ContractError` when no exact text can be made of them.
    """
    path = f"models/{tool.connector}/{tool.tool}.py"
    title = docstring(f"{tool.title}.\n\n{tool.description}")
    models = (tool.input_model, tool.output_model)
    classes = _remembered(tool.source, models, package, remember)
    return python(path, tool.source, f"{title}\n\n{classes}")


def common_models(common: CommonContract, package: str, remember: Remember) -> Artifact:
    """`models/common/<file>.py`: the shared definitions of one file.

    Raises `ContractError` when no exact text can be made of them.
    """
    path = f"models/common/{module_name(common.name)}.py"
    title = docstring(f"Definitions that several contracts share: {common.name}.")
    classes = _remembered(common.source, common.models, package, remember)
    return python(path, common.source, f"{title}\n\n{classes}")


def _remembered(source: Source, models: tuple[Model, ...], package: str, remember: Remember) -> str:
    basis = f"{package} {source.path} {source.sha256}"
    return remember("models", basis, lambda: _classes(source, models, package))


def _classes(source: Source, models: tuple[Model, ...], package: str) -> str:
    schemas = {model.name: _localised(model.schema, str(model.path)) for model in models}
    references = sorted({found for schema in schemas.values() for found in _foreign(schema)})
    typed = TypedFile(
        str(source.path), [*_RESERVED, *schemas, *(name for _, _, name in references)]
    )
    for model in models:
        typed.add(model.name, _with_origin(schemas[model.name], model))
    imports = {file: f"{package}.models.common.{module_name(stem)}" for file, stem, _ in references}
    # By name: importing the library takes half a second that a remembered text does not need.
    library = importlib.import_module("gateway.codegen.render.datamodel")
    return cast("str", library.pydantic_source(typed.definitions, imports, str(source.path)))


def _localised(schema: Any, file: str) -> Any:
    """`schema` with references into its own file made local."""
    if isinstance(schema, dict):
        return {key: _localised(value, file) for key, value in schema.items()}
    if isinstance(schema, list):
        return [_localised(value, file) for value in schema]
    is_own = isinstance(schema, str) and schema.startswith(f"{file}#/")
    return schema.removeprefix(file) if is_own else schema


def _foreign(schema: Any) -> Iterator[tuple[str, str, str]]:
    """File, stem and name of every shared definition that `schema` refers to."""
    members: Iterable[Any] = schema if isinstance(schema, list) else ()
    if isinstance(schema, dict):
        members = schema.values()
        if match := _SHARED.fullmatch(str(schema.get("$ref", ""))):
            yield match[1], match[2], match[3]
    for member in members:
        yield from _foreign(member)


def _with_origin(schema: Schema, model: Model) -> Schema:
    """A class says which file it is the view of."""
    if schema.get("type") != "object":
        return schema
    text = str(schema.get("description", "")).strip()
    origin = f"Schema: schemas/{model.path}{f'#{model.pointer}' if model.pointer else ''}"
    return schema | {"description": f"{text}\n\n{origin}" if text else origin}
