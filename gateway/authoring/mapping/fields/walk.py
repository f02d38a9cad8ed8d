"""Lists every value of a binding, with its scope and its target in the upstream's contract."""

import re
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gateway.authoring.mapping.fields.nodes import (
    BindingSource,
    Each,
    HttpMap,
    Items,
    Members,
    Reference,
    Value,
)
from gateway.authoring.mapping.fields.scope import Scope, UnknownSource, inner_scope
from gateway.contract.schemas.algebra import Schema, kinds
from gateway.contract.schemas.references import gathered
from gateway.contract.schemas.shapes import element, items_of, member, members_of, required_of
from gateway.contract.upstream import Upstream, UpstreamOperation
from gateway.contract.values.pointers import child, steps

# The parameters, path templates and settings of the upstream that a binding uses.

GROUPS: Final = ("path", "query", "header")
_DEFAULT_STYLES: Final = {"path": "simple", "query": "form", "header": "simple"}
DEEP: Final = "deepObject"
"""The style of query parameters whose value may be an object or a list."""
_TEMPLATE: Final = re.compile(r"\{([^{}/]+)\}")


class Parameter(Struct, frozen=True, kw_only=True):
    """The parts of an OpenAPI Parameter Object that bindings need."""

    name: str
    group: str
    is_required: bool
    schema: Schema
    style: str
    is_exploded: bool


def settings_of(upstream: Upstream | None) -> dict[str, Schema]:
    """Schemas of the upstream's settings, by name."""
    rules = upstream.settings if upstream else ()
    return {rule.name: {"type": "string", "pattern": rule.pattern} for rule in rules}


def parameters_of(operation: UpstreamOperation, group: str) -> dict[str, Parameter]:
    """The parameters of one group, by name. Header names are in lower case."""
    found = (_parameter(raw) for raw in operation.parameters if raw.get("in") == group)
    return {parameter.name: parameter for parameter in found}


def parameter_key(group: str, name: str) -> str:
    """The key of the parameter `name` in `parameters_of`."""
    return name.lower() if group == "header" else name


def template_parts(template: str) -> Iterator[tuple[tuple[bool, str], ...]]:
    """The segments of a path template, each as parts: whether it is a parameter, and its text.

    The root `/` has no segments.
    """
    for segment in template.split("/")[1:] if template != "/" else ():
        parts = _TEMPLATE.split(segment)
        yield tuple((index % 2 == 1, part) for index, part in enumerate(parts) if part)


def unsupported_styles(operation: UpstreamOperation, written: HttpMap) -> Iterator[str]:
    """`group/name` of each mapped parameter whose style field maps do not support."""
    groups = {"path": written.path, "query": written.query, "header": written.header}
    for group, members in groups.items():
        parameters = parameters_of(operation, group)
        for name in members.values:
            found = parameters.get(parameter_key(group, name))
            styles = (_DEFAULT_STYLES[group], *((DEEP,) if group == "query" else ()))
            if found is not None and found.style not in styles:
                yield f"{group}/{name}"


def maps(binding: HttpMap) -> Iterator[HttpMap]:
    """The binding and its fallback."""
    yield binding
    if binding.fallback is not None:
        yield binding.fallback


def _parameter(raw: dict[str, Any]) -> Parameter:
    group = str(raw["in"])
    style = raw.get("style", _DEFAULT_STYLES.get(group, "form"))
    return Parameter(
        name=parameter_key(group, str(raw["name"])),
        group=group,
        is_required=bool(raw.get("required", False)),
        schema=raw.get("schema", {}),
        style=style,
        is_exploded=bool(raw.get("explode", style == "form")),
    )


# Lists every value of a binding, with its scope and its target schema.


class FieldContext(Struct, frozen=True, kw_only=True):
    """One value with its place in the binding and in the target."""

    value: Value
    scope: Scope
    """The scope of its `when`. `inner` is the scope of the value itself."""
    target: Schema
    """The target schema of the value."""
    field: str
    """JSON Pointer into the result, or into the group of the request. `*` stands for any index."""
    group: str
    """`result`, `body`, `path`, `query` or `header`."""
    side: str
    """The name of the target in errors, such as `the query of findBooks`."""
    siblings: tuple[str, ...] = ()
    """The members that the target schema declares beside this one."""
    is_declared: bool = True
    """Whether the target schema declares the member."""
    is_required: bool = False
    """Whether the target schema requires the member."""
    is_in_each: bool = False
    is_in_whole: bool = False
    """Whether it is a member of an object that is left out if a member is absent."""
    is_item: bool = False
    """Whether it is the result for each item of a list."""

    @property
    def inner(self) -> Scope:
        """The scope of the value itself."""
        return inner_scope(self.value, self.scope)


def request_visits(
    written: HttpMap, binding: BindingSource, operation: UpstreamOperation
) -> Iterator[FieldContext]:
    """The values of a request, group by group."""
    scope = Scope(inputs=binding.input_schema, settings=settings_of(binding.upstream))
    for group in GROUPS:
        members = getattr(written, group)
        by_key = {parameter_key(group, name): value for name, value in members.values.items()}
        deep = _deep_fields(operation, group)
        for each in visits(
            FieldContext(
                value=replace(members, values=by_key),
                scope=scope,
                target=group_schema(operation, binding.upstream, group),
                field="",
                group=group,
                side=f"the {group} of {operation.id}",
            )
        ):
            # The values of these parameters are no texts, but values as in a body.
            is_deep = bool(deep) and steps(each.field)[:1] in deep
            yield replace(each, group="body") if is_deep else each
    if written.body is not None and operation.request_schema is not None:
        target = operation.request_schema
        yield from visits(
            FieldContext(
                value=written.body,
                scope=scope,
                target=target,
                field="",
                group="body",
                side=f"the body of {operation.id}",
            )
        )


def _deep_fields(operation: UpstreamOperation, group: str) -> list[list[str]]:
    """The steps to the parameters of a group that have the style `deepObject`."""
    parameters = parameters_of(operation, group).items()
    return [[name] for name, each in parameters if each.style == DEEP]


def result_visits(
    written: HttpMap, binding: BindingSource, operation: UpstreamOperation
) -> Iterator[FieldContext]:
    """The values of the results by status, including those of errors that have a result.

    Field maps cannot read the bodies of errors.
    """
    for status, members in written.results.items():
        body = operation.replies.get(status)
        yield from _result(members, binding, body, f"the reply of {operation.id}")
    for meaning in written.errors.values():
        if meaning.result is not None:
            yield from _result(meaning.result, binding, None, f"the reply of {operation.id}")


def _result(
    members: Value, binding: BindingSource, body: Schema | None, reply: str
) -> Iterator[FieldContext]:
    scope = Scope(
        inputs=binding.input_schema,
        settings=settings_of(binding.upstream),
        body=body,
        is_reply=True,
        reply=reply,
    )
    target = binding.output_schema
    yield from visits(
        FieldContext(
            value=members,
            scope=scope,
            target=target,
            field="",
            group="result",
            side="the result",
        )
    )


def group_schema(operation: UpstreamOperation, upstream: Upstream | None, group: str) -> Schema:
    """The schema of one group of parameters, as an object.

    Parameters that the upstream's rules add to every request are not required.
    """
    parameters = parameters_of(operation, group)
    sent = _sent(upstream, group) if upstream else frozenset()
    schemas, definitions = gathered([_sendable(found) for found in parameters.values()])
    properties: dict[str, Any] = dict(zip(parameters, schemas, strict=True))
    return {
        **definitions,
        "type": "object",
        "properties": properties,
        "required": [
            name
            for name, found in parameters.items()
            if (found.is_required or group == "path") and name not in sent
        ],
        "additionalProperties": False,
    }


def _sendable(parameter: Parameter) -> Schema:
    """The schema of a parameter, without texts with a comma in a list that commas separate."""
    schema = parameter.schema
    is_separate = parameter.style == DEEP or (parameter.style == "form" and parameter.is_exploded)
    if is_separate or "array" not in kinds(schema):
        return schema
    first = [_without_comma(each) for each in schema.get("prefixItems", ())]
    items = _without_comma(schema.get("items", True))
    return {**schema, "items": items} | ({"prefixItems": first} if first else {})


def _without_comma(item: Schema | bool) -> Schema | bool:
    return item and {"allOf": [item, {"pattern": "^[^,]*$"}]}


def _sent(upstream: Upstream, group: str) -> frozenset[str]:
    """The parameters of a group that the upstream's rules add to every request."""
    names = {
        "header": [rule.name for rule in upstream.headers],
        "query": [rule.name for rule in upstream.query],
    }
    return frozenset(parameter_key(group, name) for name in names.get(group, ()))


def visits(context: FieldContext) -> Iterator[FieldContext]:
    """The value of `context`, and every value inside it."""
    yield context
    for part in parts_of(context):
        yield from visits(part)


def parts_of(context: FieldContext) -> Iterator[FieldContext]:
    """The values directly inside the value of `context`. None of a list that cannot be read."""
    match context.value:
        case Members():
            yield from _members(context, context.value)
        case Items(values=values):
            for index, value in enumerate(values):
                yield _part(context, value, element(context.target, index), str(index))
        case Each():
            yield from _items(context, context.value)
        case Reference(kind=kind, key=key) if kind in context.scope.entities:
            yield _part(context, key, context.scope.entities[kind], "key")
        case _:
            return


def _members(context: FieldContext, value: Members) -> Iterator[FieldContext]:
    required = required_of(context.target)
    for name, part in value.values.items():
        found = member(context.target, name)
        inner = _part(context, part, found.schema if found else {}, name)
        yield replace(
            inner,
            siblings=members_of(context.target),
            is_declared=found is not None or is_unspecified(context.target),
            is_required=name in required,
            is_in_whole=value.presence.is_omitted_if_absent,
        )


def _items(context: FieldContext, value: Each) -> Iterator[FieldContext]:
    try:
        scope = context.scope.entering(context.scope.find(value.source), value.keep)
    except UnknownSource:
        return
    inner = _part(context, value.item, items_of(context.target), "*")
    yield replace(inner, scope=scope, is_in_each=True, is_item=True)


def is_unspecified(schema: Schema) -> bool:
    """Whether `schema` allows any members in its objects."""
    return not schema.keys() & {"properties", "allOf", "anyOf", "oneOf", "not"} and (
        schema.get("additionalProperties", True) is True
    )


def _part(context: FieldContext, value: Value, target: Schema, name: str) -> FieldContext:
    return replace(
        context,
        value=value,
        scope=context.inner,
        target=target,
        field=child(context.field, name),
        is_declared=True,
        is_required=False,
        is_in_whole=False,
        is_item=False,
    )
