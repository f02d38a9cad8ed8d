"""Every value of a binding, with what it may read and what it must become."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gateway.contract.upstream import Upstream, UpstreamOperation
from gateway.contract.values.pointers import child
from gateway.mapping.fields.analysis.algebra import Schema
from gateway.mapping.fields.analysis.places import NoPlace, Scope
from gateway.mapping.fields.analysis.presence import inner_scope
from gateway.mapping.fields.analysis.shapes import items_of, member, members_of, required_of
from gateway.mapping.fields.analysis.targets import (
    GROUPS,
    parameter_key,
    parameters_of,
    settings_of,
)
from gateway.mapping.fields.language.nodes import (
    BindingSource,
    Each,
    HttpMap,
    Items,
    Members,
    Reference,
    Value,
)


class FieldContext(Struct, frozen=True, kw_only=True):
    """One value where it stands."""

    value: Value
    scope: Scope
    """What its `when` may read; what it holds may read more."""
    target: Schema
    """The other side's schema for it."""
    field: str
    """JSON Pointer into the result, or into the request behind its group; `*` is any index."""
    group: str
    """`result`, `body`, `path`, `query` or `header`."""
    side: str
    """What errors call the other side, such as `the query of findBooks`."""
    siblings: tuple[str, ...] = ()
    """The members that the other side knows where this one stands."""
    is_declared: bool = True
    """Whether the other side knows the member at all."""
    is_required: bool = False
    """Whether the other side needs the member."""
    is_in_each: bool = False
    is_in_whole: bool = False
    """Whether it is a member of an object that is left out unless whole."""
    is_item: bool = False
    """Whether it is what each item of a list becomes."""

    @property
    def inner(self) -> Scope:
        """What the value itself may read."""
        return inner_scope(self.value, self.scope)


def request_visits(
    written: HttpMap, binding: BindingSource, operation: UpstreamOperation
) -> Iterator[FieldContext]:
    """The values of a request, group by group."""
    scope = Scope(inputs=binding.input_schema, settings=settings_of(binding.upstream))
    for group in GROUPS:
        members = getattr(written, group)
        by_key = {parameter_key(group, name): value for name, value in members.values.items()}
        yield from visits(
            FieldContext(
                value=replace(members, values=by_key),
                scope=scope,
                target=group_schema(operation, binding.upstream, group),
                field="",
                group=group,
                side=f"the {group} of {operation.id}",
            )
        )
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


def result_visits(
    written: HttpMap, binding: BindingSource, operation: UpstreamOperation
) -> Iterator[FieldContext]:
    """The values of the results, status by status, also of errors that stand for a result.

    Bodies of errors are not read, so nothing can be said of them.
    """
    for status, members in written.results.items():
        body = operation.replies.get(status)
        yield from _result(members, binding, body, f"the reply of {operation.id}")
    for meaning in written.errors.values():
        if meaning.result is not None:
            yield from _result(meaning.result, binding, None, f"the reply of {operation.id}")


def _result(
    members: Members, binding: BindingSource, body: Schema | None, reply: str
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
    """The parameters of one group as the members of an object.

    Those that the upstream's own rules send are not asked of a binding.
    """
    parameters = parameters_of(operation, group)
    sent = _sent(upstream, group) if upstream else frozenset()
    properties: dict[str, Any] = {name: found.schema for name, found in parameters.items()}
    return {
        "type": "object",
        "properties": properties,
        "required": [
            name
            for name, found in parameters.items()
            if (found.is_required or group == "path") and name not in sent
        ],
        "additionalProperties": False,
    }


def _sent(upstream: Upstream, group: str) -> frozenset[str]:
    """The parameters of a group that travel with every request."""
    names = {
        "header": [rule.name for rule in upstream.headers],
        "query": [rule.name for rule in upstream.query],
    }
    return frozenset(parameter_key(group, name) for name in names.get(group, ()))


def visits(context: FieldContext) -> Iterator[FieldContext]:
    """The value of `context`, and every value inside it."""
    yield context
    match context.value:
        case Members():
            yield from _members(context, context.value)
        case Items(values=values):
            target = items_of(context.target)
            for index, value in enumerate(values):
                yield from visits(_part(context, value, target, str(index)))
        case Each():
            yield from _items(context, context.value)
        case Reference(kind=kind, key=key) if kind in context.scope.entities:
            yield from visits(_part(context, key, context.scope.entities[kind], "key"))
        case _:
            return


def _members(context: FieldContext, value: Members) -> Iterator[FieldContext]:
    required = required_of(context.target)
    for name, part in value.values.items():
        found = member(context.target, name)
        inner = _part(context, part, found.schema if found else {}, name)
        yield from visits(
            replace(
                inner,
                siblings=members_of(context.target),
                is_declared=found is not None or is_unspecified(context.target),
                is_required=name in required,
                is_in_whole=value.presence.is_omitted_if_absent,
            )
        )


def _items(context: FieldContext, value: Each) -> Iterator[FieldContext]:
    try:
        scope = context.scope.entering(context.scope.find(value.source), value.keep)
    except NoPlace:
        return
    inner = _part(context, value.item, items_of(context.target), "*")
    yield from visits(replace(inner, scope=scope, is_in_each=True, is_item=True))


def is_unspecified(schema: Schema) -> bool:
    """Whether `schema` leaves the members of its objects entirely open."""
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
