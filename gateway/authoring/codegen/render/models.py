"""Renders Pydantic models, never stricter than the schemas that they are made of."""

import itertools
import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gateway.authoring.codegen.ir import (
    CommonContract,
    ContractSource,
    EntityContract,
    EventContract,
    Model,
    PayloadContract,
    ToolContract,
    WebhookContract,
)
from gateway.authoring.codegen.render.artifact import Artifact, docstring, python
from gateway.authoring.codegen.render.definitions import with_classes
from gateway.authoring.contracts.cache import Remember
from gateway.authoring.contracts.names import identifier, shortest_free, singular
from gateway.authoring.lint.schemas import MOST_IN_TUPLES
from gateway.errors import ContractError

# Reduces a schema to the part that Python types can express, so that models are never stricter.
#
# The validator checks values with the whole schema. A model is a typed view of valid values: every
# valid value must load, and dump to an equal value. So only keywords that a type expresses exactly
# are kept. These are left out:
#
# * `format`: types such as `datetime` reject some valid texts and change others, as `.5Z` and
#   `.500000Z`,
# * `not`, `if`, `allOf`, `contains`, `dependent…`, `propertyNames`, `unevaluated…` and similar,
# * `const` and `enum` with values other than text, null and whole numbers but 0 and 1: in Python
#   `True` equals 1, so a union would make one of the other,
# * the items of a tuple with more than eight of them, or of one that may be shorter,
# * the members of objects in a union of which Pydantic may take the wrong one,
# * bounds of numbers that a float cannot represent,
# * `multipleOf` a fraction, or of 2**53 and more,
# * bounds of values without a name (list items, union branches, map values).
#
# A `number` becomes `int | float`, because a float cannot represent all whole numbers beyond
# 2**53.

Schema = dict[str, Any]

_BOUNDS: Final[Mapping[str, tuple[str, ...]]] = {
    "string": ("minLength", "maxLength", "pattern"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("minItems", "maxItems"),
}
_LARGEST_EXACT: Final = 2**53
_DOCSTRING_COLUMNS: Final = 90


class TypedFile:
    """Collects the definitions of one module: its models and the objects nested in them."""

    def __init__(self, path: str, reserved: Iterable[str]) -> None:
        self._path = path
        self._taken: dict[str, str] = dict.fromkeys(reserved, "")
        self.definitions: dict[str, Schema] = {}

    def add(self, name: str, schema: Schema) -> None:
        """Define `name` as the typed view of `schema`, and the objects nested in it."""
        is_class = is_record(schema) and kinds_of(schema) == ["object"]
        view = self._record(schema, [name]) if is_class else self._view(schema, [name])
        self.definitions[name] = view | _described(schema)

    def _view(self, schema: Schema | bool, steps: list[str]) -> Schema:
        """The type of a value with a name: a property or a definition."""
        if isinstance(schema, bool):
            return {}
        if "$ref" in schema:
            return {"$ref": schema["$ref"]}
        if "const" in schema or "enum" in schema:
            return _choice(schema)
        if "anyOf" in schema or "oneOf" in schema:
            return self._union(schema, steps)
        if schema.keys() - {"description", "title"} == {"allOf"} and len(schema["allOf"]) == 1:
            return self._view(schema["allOf"][0], steps)
        return self._by_kind(schema, steps)

    def _inner(self, schema: Schema | bool, steps: list[str]) -> Schema:
        """The type of a value without a name, which has no bounds."""
        view = self._view(schema, steps)
        surplus = {keyword for kind in kinds_of(view) for keyword in _BOUNDS.get(kind, ())}
        return {key: value for key, value in view.items() if key not in surplus}

    def _by_kind(self, schema: Schema, steps: list[str]) -> Schema:
        kinds = kinds_of(schema)
        concrete = [kind for kind in kinds if kind != "null"]
        if not concrete:
            return {"type": "null"} if kinds else {}
        if len(concrete) > 1:
            is_plain = not {"object", "array"}.intersection(concrete)
            return {"type": _with_integers(kinds)} if is_plain else {}
        view = self._single(concrete[0], schema, steps)
        return _nullable(view) if "null" in kinds else view

    def _single(self, kind: str, schema: Schema, steps: list[str]) -> Schema:
        if kind == "object":
            return self._object(schema, steps)
        bounds = {key: schema[key] for key in _BOUNDS.get(kind, ()) if key in schema}
        if kind == "number":
            bounds = {key: bound for key, bound in bounds.items() if _is_float(bound)}
        if not _is_divisor(bounds.get("multipleOf", 1)):
            del bounds["multipleOf"]
        if kind == "array":
            return self._array(schema, steps, bounds)
        return {"type": _with_integers([kind])} | bounds

    def _object(self, schema: Schema, steps: list[str]) -> Schema:
        if is_record(schema):
            return {"$ref": f"#/$defs/{self._hoisted(schema, steps)}"}
        values = schema.get("additionalProperties", True)
        if isinstance(values, bool) or "patternProperties" in schema:
            return {"type": "object"}
        return {
            "type": "object",
            "additionalProperties": self._inner(values, _last(steps, singular(steps[-1]))),
        }

    def _hoisted(self, schema: Schema, steps: list[str]) -> str:
        """The name of the definition that holds this nested object."""
        own = _text(schema)
        taken = [name for name, text in self._taken.items() if text != own]
        name = shortest_free(steps[1:], taken) or shortest_free(steps, taken)
        if name is None:
            raise ContractError(
                f"{self._path}: no free class name for {'/'.join(steps)};"
                " rename the property or give the object a `title`"
            )
        if name not in self.definitions:
            self._taken[name] = own
            self.definitions[name] = {}
            self.definitions[name] = self._record(schema, steps) | _described(schema)
        return name

    def _record(self, schema: Schema, steps: list[str]) -> Schema:
        properties = schema.get("properties", {})
        is_closed = (
            schema.get("additionalProperties") is False and "patternProperties" not in schema
        )
        return {
            "type": "object",
            "additionalProperties": not is_closed,
            "required": [name for name in schema.get("required", ()) if name in properties],
            "properties": {
                name: self._property(member, [*steps, name]) for name, member in properties.items()
            },
        }

    def _property(self, schema: Schema | bool, steps: list[str]) -> Schema:
        view = self._view(schema, steps)
        if isinstance(schema, bool):
            return view
        described = {} if _is_nested_class(view) else _described(schema)
        is_plain = "default" in schema and not _holds_object(schema["default"])
        return view | described | ({"default": schema["default"]} if is_plain else {})

    def _array(self, schema: Schema, steps: list[str], bounds: Schema) -> Schema:
        if "prefixItems" not in schema:
            item = _last(steps, singular(steps[-1]))
            return {"type": "array", "items": self._inner(schema.get("items", {}), item)} | bounds
        prefix = schema["prefixItems"]
        is_tuple = schema.get("items") is False and schema.get("minItems") == len(prefix)
        if not is_tuple or len(prefix) > MOST_IN_TUPLES:
            return {"type": "array", "items": {}} | bounds
        members = [
            self._inner(member, [*steps, f"item {_ORDINALS[index]}"])
            for index, member in enumerate(prefix)
        ]
        return {
            "type": "array",
            "prefixItems": members,
            "items": False,
            "minItems": len(prefix),
            "maxItems": len(prefix),
        }

    def _union(self, schema: Schema, steps: list[str]) -> Schema:
        branches = schema.get("anyOf") or schema["oneOf"]
        if "properties" in schema or "items" in schema:
            return self._by_kind({k: v for k, v in schema.items() if k not in _UNIONS}, steps)
        if _may_be_mistaken(branches):
            branches = [*(each for each in branches if not is_record(each)), {"type": "object"}]
        views = [self._inner(branch, _branch(branch, steps)) for branch in branches]
        has_integers = any("integer" in kinds_of(view) for view in views)
        if has_integers:
            views.sort(key=lambda view: any(map(_is_boolean, kinds_of(view))))
        return {"anyOf": views}


_UNIONS: Final = ("anyOf", "oneOf")
_TYPED: Final = frozenset({"type", "$ref", "const", "enum", "allOf", *_UNIONS})
_ORDINALS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight")


def is_record(schema: Schema | bool) -> bool:
    """Whether the schema describes objects with named properties, which become a class."""
    return isinstance(schema, dict) and (
        "object" in kinds_of(schema)
        and ("properties" in schema or schema.get("additionalProperties") is False)
        and not {"$ref", "const", "enum"}.intersection(schema)
    )


def _may_be_mistaken(branches: Iterable[Schema | bool]) -> bool:
    """Whether Pydantic may convert an object to the class of another branch, which changes it.

    Of classes that accept an object, it takes one with the most members that are set, before one
    that needs no conversion.
    """
    records = [each for each in branches if isinstance(each, dict) and is_record(each)]
    return any(_converts(one, other) for one, other in itertools.permutations(records, 2))


def _converts(schema: Schema, other: Schema) -> bool:
    """Whether an object of `schema` may be converted to the class of `other`."""
    here, there = schema.get("properties", {}), other.get("properties", {})
    if schema.get("additionalProperties") is False or not there.keys() - here.keys():
        return False
    if any(_are_disjoint(here.get(name), there.get(name)) for name in other.get("required", ())):
        return False
    return any(here.get(name) != each and not _is_exact(each) for name, each in there.items())


def _are_disjoint(one: Schema | bool | None, other: Schema | bool | None) -> bool:
    texts = [_texts(each) for each in (one, other)]
    return all(texts) and not texts[0].intersection(texts[1])


def _texts(schema: Schema | bool | None) -> set[str]:
    """The values of a choice among texts. Empty for other schemas."""
    if not isinstance(schema, dict):
        return set()
    values = [schema["const"]] if "const" in schema else schema.get("enum", ())
    return {*values} if all(isinstance(value, str) for value in values) else set()


def _is_exact(schema: Schema | bool) -> bool:
    """Whether Pydantic converts nothing to the type of the schema."""
    if isinstance(schema, bool) or _texts(schema) or not schema.keys() & _TYPED:
        return True
    kinds = kinds_of(schema)
    return bool(kinds) and {*kinds} <= {"string", "null"} and not schema.keys() & {"const", "enum"}


def _is_float(bound: float) -> bool:
    try:
        return float(bound) == bound
    except OverflowError:
        return False


def _is_divisor(step: float) -> bool:
    """Whether Pydantic divides by it without rounding."""
    return step == int(step) and step < _LARGEST_EXACT


def kinds_of(schema: Schema) -> list[str]:
    """The JSON types that the schema names."""
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else list(kinds)


def _choice(schema: Schema) -> Schema:
    values = [schema["const"]] if "const" in schema else list(schema["enum"])
    if all(value is None or isinstance(value, str | int) for value in values) and not (
        {0, 1}.intersection(values)
    ):
        return {"const": values[0]} if "const" in schema else {"enum": values}
    names = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
    kinds = [names.get(type(value)) for value in values]
    plain = [kind for kind in dict.fromkeys(kinds) if kind is not None]
    return {"type": _with_integers(plain)} if None not in kinds else {}


def _with_integers(kinds: list[str]) -> str | list[str]:
    wide = ["integer", "number"]
    spread = [each for kind in kinds for each in (wide if kind == "number" else [kind])]
    unique = list(dict.fromkeys(spread))
    if "integer" in unique:
        unique.sort(key=_is_boolean)
    return unique[0] if len(unique) == 1 else unique


def _is_boolean(kind: str) -> bool:
    """Whether it comes last in a union. Of `bool | int`, Pydantic takes `1.0` for True."""
    return kind == "boolean"


def _nullable(view: Schema) -> Schema:
    if isinstance(kinds := view.get("type"), str | list):
        return view | {"type": [*([kinds] if isinstance(kinds, str) else kinds), "null"]}
    return {"anyOf": [view, {"type": "null"}]}


def _described(schema: Schema) -> Schema:
    text = str(schema.get("description", "")).strip()
    return {"description": _wrapped(text)} if text else {}


def _wrapped(text: str) -> str:
    """`text` wrapped to the width of a docstring."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(
        textwrap.fill(part, _DOCSTRING_COLUMNS, break_long_words=False, break_on_hyphens=False)
        for part in paragraphs
    )


def _branch(branch: Schema | bool, steps: list[str]) -> list[str]:
    """The path of a union's branch. Its name is the title, or a constant text in it."""
    if isinstance(branch, bool):
        return steps
    members = branch.get("properties", {}).values()
    constants = [m["const"] for m in members if isinstance(m, dict) and "const" in m]
    tags = [each for each in constants if isinstance(each, str)]
    name = branch.get("title") or (f"{tags[0]} {steps[-1]}" if tags else None)
    return _last(steps, str(name)) if name else steps


def _is_nested_class(view: Schema) -> bool:
    """Whether the type is a class of this module, which has a docstring."""
    return str(view.get("$ref", "")).startswith("#")


def _last(steps: list[str], name: str) -> list[str]:
    return [*steps[:-1], name]


def _holds_object(value: Any) -> bool:
    if isinstance(value, list):
        return any(_holds_object(member) for member in value)
    return isinstance(value, dict)


def _text(schema: Schema) -> str:
    return json.dumps(schema)


# Renders Pydantic models: one module per tool, event, entity and file of shared definitions.

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
        from gateway.authoring.codegen.render.datamodel import pydantic_source  # noqa: PLC0415 - see above

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
