"""Pydantic models: one module per tool, one per file of shared definitions."""

import importlib
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, cast

from msgspec import Struct

from gateway.codegen.cache import Remember
from gateway.codegen.ir import CommonContract, Model, Source, ToolContract
from gateway.codegen.names import identifier
from gateway.codegen.render.artifact import Artifact, docstring, python
from gateway.codegen.render.typed import Schema, TypedFile

_RESERVED: Final = (
    "Annotated", "Any", "BaseModel", "ConfigDict", "Field", "Literal", "RootModel", "TypeAliasType",
)  # fmt: skip
_SHARED: Final = re.compile(r"(common/([\w.-]+)\.json)#/\$defs/(\w+)")


class ModelModule(Struct, frozen=True, kw_only=True):
    """One module of models, ready for the library that writes classes."""

    path: str
    title: str
    source: Source
    definitions: dict[str, Schema]
    imports: dict[str, str]
    """Files of foreign references to the Python modules that define them."""

    @property
    def basis(self) -> str:
        """Everything that decides the text of the classes."""
        return json.dumps([self.definitions, self.imports])

    def render(self, remember: Remember) -> Artifact:
        """The module's file. Raises `ContractError` when no exact text can be made."""
        text = remember("models", self.basis, self.classes)
        return python(self.path, self.source, f"{docstring(self.title)}\n\n{text}")

    def classes(self) -> str:
        """The classes, made anew."""
        # By name: importing the library takes half a second that a remembered text does not need.
        library = importlib.import_module("gateway.codegen.render.datamodel")
        origin = str(self.source.path)
        return cast("str", library.pydantic_source(self.definitions, self.imports, origin))


def tool_models(tool: ToolContract, package: str) -> ModelModule:
    """`models/<connector>/<tool>.py`: the tool's input and output."""
    return _module(
        f"models/{tool.connector}/{identifier(tool.tool)}.py",
        f"{tool.title}.\n\n{tool.description}",
        tool.source,
        (tool.input_model, tool.output_model),
        package,
    )


def common_models(common: CommonContract, package: str) -> ModelModule:
    """`models/common/<file>.py`: the shared definitions of one file."""
    return _module(
        f"models/common/{identifier(common.name)}.py",
        f"Definitions that several contracts share: {common.name}.",
        common.source,
        common.models,
        package,
    )


def _module(
    path: str, title: str, source: Source, models: tuple[Model, ...], package: str
) -> ModelModule:
    schemas = {model.name: _localised(model.schema, str(model.path)) for model in models}
    references = {found for schema in schemas.values() for found in _foreign(schema)}
    typed = TypedFile(
        str(source.path), [*_RESERVED, *schemas, *(name for _, _, name in references)]
    )
    for model in models:
        typed.add(model.name, _with_origin(schemas[model.name], model))
    imports = {file: f"{package}.models.common.{identifier(stem)}" for file, stem, _ in references}
    return ModelModule(
        path=path,
        title=title,
        source=source,
        definitions=typed.definitions,
        imports=dict(sorted(imports.items())),
    )


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
