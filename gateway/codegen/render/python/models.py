"""Renders Pydantic models: one module per tool, event, entity and file of shared definitions."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gateway.codegen.ir import (
    CommonContract,
    ContractSource,
    EntityContract,
    EventContract,
    Model,
    PayloadContract,
    ToolContract,
    WebhookContract,
)
from gateway.codegen.render.artifact import Artifact, docstring, python
from gateway.codegen.render.python.definitions import with_classes
from gateway.codegen.render.python.typed import Schema, TypedFile
from gateway.contracts.cache import Remember
from gateway.contracts.names import identifier

_RESERVED: Final = (
    "Annotated", "Any", "BaseModel", "ConfigDict", "Field", "Literal", "RootModel", "TypeAliasType",
)  # fmt: skip
_SHARED: Final = re.compile(r"(common/(\w+)\.json)#/\$defs/(\w+)")


class ModelFile(Struct, frozen=True, kw_only=True):
    """One module of models."""

    path: str
    title: str
    source: ContractSource
    models: tuple[Model, ...]

    def render(self, package: str, remember: Remember) -> Artifact:
        """The file. Raises `ContractError` if a model cannot be generated exactly."""
        basis = f"{package} {self.path} {self.source.sha256}"
        text = remember("models", basis, lambda: self._text(package))
        return python(self.path, self.source, text)

    def _text(self, package: str) -> str:
        # The import takes half a second, and a cached text does not need it.
        from gateway.codegen.render.python.datamodel import (  # noqa: PLC0415 - see above
            pydantic_source,
        )

        kept = [replace(model, schema=_localised(model)) for model in self.models]
        references = sorted({each for model in kept for each in _foreign(model.schema)})
        foreign = [name for _, _, name in references]
        schemas = with_classes(kept, [*_RESERVED, *foreign])
        typed = TypedFile(str(self.source.path), [*_RESERVED, *schemas, *foreign])
        origins = {model.name: model for model in self.models}
        for name, schema in schemas.items():
            typed.add(name, _with_origin(schema, origins[name]) if name in origins else schema)
        common = f"{package}.models.common"
        imports = {file: f"{common}.{identifier(stem)}" for file, stem, _ in references}
        classes = pydantic_source(typed.definitions, imports, str(self.source.path))
        return f"{docstring(self.title)}\n\n{classes}"


def tool_models(tool: ToolContract) -> ModelFile:
    """`models/<connector>/<tool>.py`: the tool's input and output."""
    return ModelFile(
        path=f"models/{tool.connector}/{tool.tool}.py",
        title=f"{tool.title}.\n\n{tool.description}",
        source=tool.source,
        models=(tool.input_model, tool.output_model),
    )


def payload_models(webhook: WebhookContract, payload: PayloadContract) -> ModelFile:
    """`models/webhooks/<provider>/<event>.py`: the payload of one event."""
    return ModelFile(
        path=f"models/webhooks/{webhook.provider}/{payload.module}.py",
        title=f"The payload of {payload.type} from {webhook.provider}.",
        source=webhook.source,
        models=(payload.model,),
    )


def event_models(event: EventContract) -> ModelFile:
    """`models/events/<entity>_<verb>_v<n>.py`: an event as subscribers receive it."""
    return ModelFile(
        path=f"models/events/{event.name.replace('.', '_')}.py",
        title=f"{event.event.title}: {event.event.type}.",
        source=event.source,
        models=(event.model,),
    )


def entity_models(entity: EntityContract) -> ModelFile:
    """`models/rows/<kind>.py`: a row as queries return it."""
    return ModelFile(
        path=f"models/rows/{identifier(entity.entity.kind)}.py",
        title=f"A row of {entity.entity.kind}.",
        source=entity.source,
        models=(entity.model,),
    )


def common_models(common: CommonContract) -> ModelFile:
    """`models/common/<file>.py`: the shared definitions of one file."""
    return ModelFile(
        path=f"models/common/{identifier(common.name)}.py",
        title=f"Definitions that several contracts share: {common.name}.",
        source=common.source,
        models=common.models,
    )


def _localised(model: Model) -> dict[str, Any]:
    """The schema of `model` with references into its own file made local."""
    found: dict[str, Any] = _local(model.schema, str(model.path))
    return found


def _local(schema: Any, file: str) -> Any:
    if isinstance(schema, dict):
        return {key: _local(value, file) for key, value in schema.items()}
    if isinstance(schema, list):
        return [_local(value, file) for value in schema]
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
    """`schema` with the place of its contract in the description, which becomes the docstring."""
    if schema.get("type") != "object":
        return schema
    text = str(schema.get("description", "")).strip()
    origin = f"Schema: schemas/{model.path}{f'#{model.pointer}' if model.pointer else ''}"
    return schema | {"description": f"{text}\n\n{origin}" if text else origin}
