"""Checks a binding against the contracts of its tool and its upstream, value by value."""

from collections.abc import Iterator
from typing import Final

from msgspec import UNSET

from gateway.authoring.mapping.fields.coverage import gaps, objection_to
from gateway.authoring.mapping.fields.images import image_of
from gateway.authoring.mapping.fields.nodes import (
    BindingSource,
    Constant,
    Count,
    DocumentCall,
    Each,
    ErrorMeaning,
    FieldFunction,
    HandlerMap,
    HttpMap,
    ItemFilter,
    Items,
    MappingError,
    Members,
    Read,
    ReadExpression,
    Reference,
    WrittenBinding,
    problem,
)
from gateway.authoring.mapping.fields.parse import parse
from gateway.authoring.mapping.fields.scope import (
    ROW_ID,
    Scope,
    UnknownSource,
    is_droppable,
    may_be_absent,
)
from gateway.authoring.mapping.fields.walk import (
    GROUPS,
    FieldContext,
    maps,
    request_visits,
    result_visits,
    unsupported_styles,
)
from gateway.contract.fields.fieldmap import Unmappable, text
from gateway.contract.schemas.algebra import admits, both, finite, is_empty, kinds
from gateway.contract.schemas.shapes import items_of, required_of
from gateway.contract.upstream import UpstreamOperation
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child, steps
from gateway.encoding.shapes import PRIMITIVES

# Checks one value of a field map against its sources and its target schema.


def check_context(context: FieldContext) -> Iterator[MappingError]:
    """The problems of one value, without those of the values inside it."""
    unknown = list(_unknown_sources(context))
    if unknown:
        yield from unknown
        return
    if not context.is_declared:
        yield _refuse(
            context,
            "unknown-member",
            f"{context.side} has no {steps(context.field)[-1]}",
            did_you_mean(steps(context.field)[-1], context.siblings)
            or "correct the name, or declare it in the contract",
        )
        return
    try:
        yield from _absence_problems(context)
    except UnknownSource:
        return  # Of a value inside it, whose own check reports it.
    yield from _fallback_problems(context)
    yield from _value_problems(context)


def _value_problems(context: FieldContext) -> Iterator[MappingError]:
    match context.value:
        case Members() | Items() as value:
            yield from _whole_problems(context, value)
        case Read() as value:
            yield from _read_problems(context, value)
        case Each(keep=keep) | Count(keep=keep) as value:
            yield from _list_problems(context, value, keep)
        case Constant(value=constant):
            yield from _constant_problems(context, constant, "")
        case Reference(kind=kind):
            yield from _reference_problems(context, kind)
        case _:
            return


def _refuse(context: FieldContext, rule: str, text: str, fix: str, part: str = "") -> MappingError:
    return problem(f"{context.value.pointer}{part}", rule, text, fix)


def _unknown_sources(context: FieldContext) -> Iterator[MappingError]:
    when = context.value.presence.when
    yield from _unknown(context, context.scope, () if when is None else (when,))
    match context.value:
        case Read(source=source):
            yield from _unknown(context, context.inner, (source,))
        case FieldFunction(arguments=arguments):
            yield from _unknown(context, context.inner, arguments)
        case Each(source=source, keep=keep) | Count(source=source, keep=keep):
            unknown = list(_unknown(context, context.inner, (source,)))
            yield from unknown or _unknown_in_filter(context, source, keep)
        case _:
            return


def _unknown_in_filter(
    context: FieldContext, source: ReadExpression, keep: ItemFilter
) -> Iterator[MappingError]:
    scope = context.inner.entering_any(context.inner.find(source))
    yield from _unknown(context, scope, () if keep.needed is None else (keep.needed,))
    yield from _unknown(context, scope, tuple(keep.allowed))


def _unknown(
    context: FieldContext, scope: Scope, sources: tuple[ReadExpression, ...]
) -> Iterator[MappingError]:
    for source in sources:
        try:
            scope.find(source)
        except UnknownSource as error:
            message = f"{source} cannot be read: {error.message}"
            yield _refuse(context, "unknown-source", message, error.fix)


def _absence_problems(context: FieldContext) -> Iterator[MappingError]:
    value = context.value
    if _is_unhandled(context):
        yield _refuse(
            context,
            "optional-unhandled",
            f"{getattr(value, 'source', '')} may be absent",
            "write omitIfAbsent, default, when or onGap",
        )
    elif not may_be_absent(value, context.scope):
        return
    elif context.is_item:
        yield _refuse(
            context,
            "absent-item",
            "the value of a list's item may be absent",
            "filter with when or where of each, or use skip-item",
        )
    elif context.is_required and (is_droppable(value) or not context.is_in_whole):
        yield _refuse(
            context,
            "required-may-be-absent",
            "the target schema requires this member, and its value may be absent",
            "add a default, or make the member optional",
        )


def _is_unhandled(context: FieldContext) -> bool:
    value = context.value
    if not isinstance(value, Read | Each | Count):
        return False
    presence = value.presence
    has_gap = isinstance(value, Read) and value.gap is not None
    is_handled = presence.is_omitted_if_absent or presence.default is not UNSET
    is_handled = is_handled or has_gap or context.is_in_whole
    return not is_handled and context.inner.find(value.source).may_be_absent


def _fallback_problems(context: FieldContext) -> Iterator[MappingError]:
    value = context.value
    if value.presence.default is not UNSET:
        yield from _constant_problems(context, value.presence.default, "/default")
    if not isinstance(value, Read):
        return
    if value.gap is not None and context.group != "result":
        yield _refuse(
            context,
            "gap-in-request",
            "onGap is used only for replies, and this is a request",
            "narrow the input schema instead",
            "/onGap",
        )
    for name, fallback in (("else", value.unmapped), ("onGap", value.gap)):
        if fallback is not None and fallback.kind == "const":
            yield from _constant_problems(context, fallback.constant, f"/{name}/const")
        if fallback is not None and fallback.kind == "skip-item" and not context.is_in_each:
            yield _refuse(
                context,
                "skip-outside-each",
                "there is no item to skip here",
                "use it only inside the item of each",
                f"/{name}",
            )


def _constant_problems(context: FieldContext, value: object, part: str) -> Iterator[MappingError]:
    if not admits(context.target, value):
        yield _refuse(
            context,
            "const-not-admitted",
            objection_to(value, context.target),
            "correct it, or widen the schema",
            part,
        )


def _whole_problems(context: FieldContext, value: Members | Items) -> Iterator[MappingError]:
    is_object = isinstance(value, Members)
    yield from _kind_problems(context, frozenset({"object" if is_object else "array"}))
    for name in required_of(context.target) if is_object else ():
        if name not in value.values:
            yield _refuse(
                context,
                "member-unmapped",
                f"the target schema requires {name!r}, and it is not mapped",
                "map it, or make it optional",
            )


def _kind_problems(context: FieldContext, found: frozenset[str]) -> Iterator[MappingError]:
    if not found & kinds(context.target):
        yield _refuse(
            context,
            "never-admitted",
            f"the value is {' or '.join(sorted(found))}, which the target schema never allows",
            "convert it, or correct the schema",
        )


def _read_problems(context: FieldContext, value: Read) -> Iterator[MappingError]:
    source = context.inner.find(value.source).schema
    if value.conversion is not None and not kinds(source) & PRIMITIVES:
        yield _refuse(
            context, "unknown-as", "only scalars can be converted", "map the members", "/as"
        )
        return
    for name, result in (value.table or {}).items():
        yield from _constant_problems(context, result, child("/map", name))
        if not _may_arrive(name, source):
            yield _refuse(
                context,
                "map-unreachable",
                "no value of the source has this text",
                "remove it, or declare the value in the contract",
                child("/map", name),
            )
    image = image_of(value, source).schema
    if value.table is None and is_empty(both(image, context.target)):
        yield from _never_admitted(context)
    elif context.group in GROUPS:
        yield from _text_problems(context, kinds(image), items_of(image))


def _never_admitted(context: FieldContext) -> Iterator[MappingError]:
    yield _refuse(
        context,
        "never-admitted",
        "the target schema allows no value that may arrive",
        "convert or map it, or correct a schema",
    )


def _may_arrive(name: str, source: dict[str, object]) -> bool:
    """Whether some value of `source` has the text `name`."""
    listed = finite(source)
    if listed is None:
        return kinds(source) != {"string"} or admits(source, name)
    try:
        return name in map(text, listed)
    except Unmappable:
        return True


def _text_problems(
    context: FieldContext, found: frozenset[str], items: dict[str, object]
) -> Iterator[MappingError]:
    scalars = found if found != {"array"} else kinds(items)
    if not scalars <= PRIMITIVES:
        yield _refuse(
            context,
            "not-text",
            f"{' and '.join(sorted(scalars - PRIMITIVES))} cannot be written in a "
            f"{context.group} parameter",
            "map null to a text, read a scalar, or send it in the body",
        )


def _reference_problems(context: FieldContext, kind: str) -> Iterator[MappingError]:
    if kind not in context.scope.entities:
        yield _refuse(
            context,
            "unknown-entity",
            f"there is no entity {kind}",
            did_you_mean(kind, context.scope.entities) or "name a file of schemas/entities",
            "/ref",
        )
    elif is_empty(both(ROW_ID, context.target)):
        yield from _never_admitted(context)


def _list_problems(
    context: FieldContext, value: Each | Count, keep: ItemFilter
) -> Iterator[MappingError]:
    items = context.inner.find(value.source)
    if kinds(items.schema) != {"array"}:
        yield _refuse(
            context,
            "not-a-list",
            f"{value.source} is not always a list",
            "read a list, or declare it as one",
        )
        return
    result = "array" if isinstance(value, Each) else "integer"
    yield from _kind_problems(context, frozenset({result}))
    scope = context.inner.entering_any(items)
    for source, allowed in keep.allowed.items():
        schema = scope.find(source).schema
        for constant in allowed:
            if not admits(schema, constant):
                yield _refuse(
                    context,
                    "where-unreachable",
                    f"{source} never has one of these values",
                    "remove it, or declare the value in the contract",
                    child("/where", str(source)),
                )


# Checks a binding against the contracts of its tool and its upstream.

_OF_OPERATOR: Final = frozenset({"401", "403", "408", "429"})
"""Credentials, limits and outages."""


def check(binding: BindingSource) -> list[MappingError]:
    """Every problem of a binding, including gaps, in the order of the contract."""
    written, problems = parse(binding.x_binding)
    if written is None:
        return list(problems)
    found = meaning_problems(binding, written)
    return [*found, *gaps(binding, written)] if isinstance(written, HttpMap) else found


def meaning_problems(binding: BindingSource, written: WrittenBinding) -> list[MappingError]:
    """The problems that make it impossible to compile a binding."""
    if isinstance(written, HandlerMap):
        return []
    if isinstance(written, DocumentCall):
        return [*_call_problems(binding, written)]
    upstream = binding.upstream
    if upstream is None or upstream.name != written.upstream:
        return [
            problem(
                "/upstream",
                "unknown-upstream",
                "no upstream has this name",
                "name a folder of schemas/upstreams",
            )
        ]
    return [found for part in maps(written) for found in _map_problems(part, binding)]


def _call_problems(binding: BindingSource, written: DocumentCall) -> Iterator[MappingError]:
    if binding.upstream is not None:
        yield problem(
            "",
            "field-map",
            f"{written.upstream} is a contract, whose operations are called with a field map",
            "map the request and the response",
        )
    for status, meaning in written.errors.items():
        yield from _error_problems(meaning, binding)
        if meaning.result is not None or not is_of_caller(status):
            yield problem(
                meaning.pointer,
                "field-map",
                "without a field map, errors are reasons for statuses of the caller's mistakes",
                "name a status of 4XX, but not 401, 403, 408 or 429, with its reason",
            )


def is_of_caller(status: str) -> bool:
    """Whether `status` may be a declared error of an import. The others are for the operator."""
    return status.startswith("4") and status not in _OF_OPERATOR


def _map_problems(written: HttpMap, binding: BindingSource) -> Iterator[MappingError]:
    upstream = binding.upstream
    operation = upstream.find(written.operation) if upstream else None
    if operation is None:
        yield problem(
            f"{written.pointer}/operationId",
            "unknown-operation",
            f"{binding.x_binding.get('upstream')} has no operation {written.operation}",
            did_you_mean(
                written.operation, [each.id for each in upstream.operations] if upstream else []
            )
            or "name an operationId of the upstream's openapi.yaml",
        )
        return
    yield from _operation_problems(written, operation)
    yield from _status_problems(written, operation)
    for meaning in written.errors.values():
        yield from _error_problems(meaning, binding)
    for context in request_visits(written, binding, operation):
        yield from check_context(context)
    for context in result_visits(written, binding, operation):
        yield from check_context(context)


def _operation_problems(written: HttpMap, operation: UpstreamOperation) -> Iterator[MappingError]:
    for name in unsupported_styles(operation, written):
        yield problem(
            f"{written.pointer}/request/{name}",
            "unsupported-style",
            "the upstream declares a parameter style that field maps do not support",
            "use style form or deepObject in queries, simple in paths and headers",
        )
    if written.body is not None and operation.request_schema is None:
        yield problem(
            f"{written.pointer}/request/body",
            "unknown-member",
            "the upstream operation has no JSON body",
            "remove the body, or declare it in the upstream contract",
        )
    if written.body is None and required_of(operation.request_schema or {}):
        yield problem(
            f"{written.pointer}/request",
            "member-unmapped",
            "the upstream operation needs a JSON body, and none is mapped",
            "map it under body",
        )


def _status_problems(written: HttpMap, operation: UpstreamOperation) -> Iterator[MappingError]:
    at = f"{written.pointer}/response"
    for status in written.results:
        if status not in operation.replies:
            yield problem(
                f"{at}/{status}",
                "unknown-status",
                "the upstream contract does not declare this status",
                "declare it there, or map a declared status",
            )
    for status in operation.replies:
        if status.startswith("2") and status not in written.results:
            yield problem(
                at,
                "status-unmapped",
                f"the upstream may reply with {status}, which is not mapped",
                f'map "{status}"',
            )


def _error_problems(meaning: ErrorMeaning, binding: BindingSource) -> Iterator[MappingError]:
    if meaning.reason is not None and meaning.reason not in binding.declared_errors:
        yield problem(
            f"{meaning.pointer}/reason",
            "unknown-error",
            "the tool declares no error of this name",
            "declare it under x-policy.errors",
        )
