"""One value of a field map, held against what it reads and what it must become."""

from collections.abc import Iterator

from msgspec import UNSET

from gateway.contract.fields.fieldmap import Unmappable, text
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child, steps
from gateway.mapping.fields.analysis.algebra import admits, both, finite, is_empty, kinds
from gateway.mapping.fields.analysis.images import image_of
from gateway.mapping.fields.analysis.places import ROW_ID, NoPlace, Scope
from gateway.mapping.fields.analysis.presence import is_droppable, may_be_absent
from gateway.mapping.fields.analysis.shapes import items_of, required_of
from gateway.mapping.fields.analysis.verdict import objection_to
from gateway.mapping.fields.analysis.walk import FieldContext
from gateway.mapping.fields.language.nodes import (
    Constant,
    Count,
    Each,
    FieldFunction,
    ItemFilter,
    MappingError,
    Members,
    Read,
    ReadExpression,
    Reference,
    problem,
)

_TEXT_GROUPS = ("path", "query", "header")
_SCALARS = frozenset({"string", "boolean", "integer", "number"})


def check_context(context: FieldContext) -> Iterator[MappingError]:
    """The problems of one value, without those of the values inside it."""
    lost = list(_lost_sources(context))
    if lost:
        yield from lost
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
    yield from _absence_problems(context)
    yield from _fallback_problems(context)
    match context.value:
        case Members() as value:
            yield from _members_problems(context, value)
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


def _lost_sources(context: FieldContext) -> Iterator[MappingError]:
    when = context.value.presence.when
    yield from _lost(context, context.scope, () if when is None else (when,))
    match context.value:
        case Read(source=source):
            yield from _lost(context, context.inner, (source,))
        case FieldFunction(arguments=arguments):
            yield from _lost(context, context.inner, arguments)
        case Each(source=source, keep=keep) | Count(source=source, keep=keep):
            lost = list(_lost(context, context.inner, (source,)))
            yield from lost or _lost_filters(context, source, keep)
        case _:
            return


def _lost_filters(
    context: FieldContext, source: ReadExpression, keep: ItemFilter
) -> Iterator[MappingError]:
    scope = context.inner.entering_any(context.inner.find(source))
    yield from _lost(context, scope, () if keep.needed is None else (keep.needed,))
    yield from _lost(context, scope, tuple(keep.allowed))


def _lost(
    context: FieldContext, scope: Scope, sources: tuple[ReadExpression, ...]
) -> Iterator[MappingError]:
    for source in sources:
        try:
            scope.find(source)
        except NoPlace as lost:
            message = f"{source} leads nowhere: {lost.message}"
            yield _refuse(context, "unknown-source", message, lost.fix)


def _absence_problems(context: FieldContext) -> Iterator[MappingError]:
    value = context.value
    if _is_unhandled(context):
        yield _refuse(
            context,
            "optional-unhandled",
            f"{getattr(value, 'source', '')} may be absent",
            "say omitIfAbsent, default, when or onGap",
        )
    elif not may_be_absent(value, context.scope):
        return
    elif context.is_item:
        yield _refuse(
            context,
            "absent-item",
            "an item of a list cannot be left out from inside",
            "filter with when or where of each, or use skip-item",
        )
    elif context.is_required and (is_droppable(value) or not context.is_in_whole):
        yield _refuse(
            context,
            "required-may-be-absent",
            "the other side needs this member, and it may be left out",
            "give it a default, or make the member optional",
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
            "onGap speaks of replies, and this is a request",
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


def _members_problems(context: FieldContext, value: Members) -> Iterator[MappingError]:
    yield from _kind_problems(context, frozenset({"object"}))
    for name in required_of(context.target):
        if name not in value.values:
            yield _refuse(
                context,
                "member-unmapped",
                f"the other side needs {name!r}, and it is not mapped",
                "map it, or make it optional",
            )


def _kind_problems(context: FieldContext, found: frozenset[str]) -> Iterator[MappingError]:
    if not found & kinds(context.target):
        yield _refuse(
            context,
            "never-admitted",
            f"becomes {' or '.join(sorted(found))}, which the other side never admits",
            "convert it, or correct the schema",
        )


def _read_problems(context: FieldContext, value: Read) -> Iterator[MappingError]:
    source = context.inner.find(value.source).schema
    if value.conversion is not None and not kinds(source) & _SCALARS:
        yield _refuse(
            context, "unknown-as", "only scalars can be converted", "map their parts instead", "/as"
        )
        return
    for name, becomes in (value.table or {}).items():
        yield from _constant_problems(context, becomes, child("/map", name))
        if not _may_arrive(name, source):
            yield _refuse(
                context,
                "map-unreachable",
                "no value has this text",
                "remove it, or declare the value in the contract",
                child("/map", name),
            )
    image = image_of(value, source).schema
    if value.table is None and is_empty(both(image, context.target)):
        yield from _never_admitted(context)
    elif context.group in _TEXT_GROUPS:
        yield from _text_problems(context, kinds(image), items_of(image))


def _never_admitted(context: FieldContext) -> Iterator[MappingError]:
    yield _refuse(
        context,
        "never-admitted",
        "nothing that may arrive here is admitted by the other side",
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
    if not scalars <= _SCALARS:
        yield _refuse(
            context,
            "not-text",
            f"{' and '.join(sorted(scalars - _SCALARS))} cannot be written in a "
            f"{context.group} parameter",
            "map null by its text, read a scalar, or send it in the body",
        )


def _reference_problems(context: FieldContext, kind: str) -> Iterator[MappingError]:
    if kind not in context.scope.entities:
        yield _refuse(
            context,
            "unknown-entity",
            f"there is no kind of row {kind}",
            did_you_mean(kind, context.scope.entities) or "name a file of schemas/entities",
            "/ref",
        )
    elif is_empty(both(ROW_ID, context.target)):
        yield from _never_admitted(context)


def _list_problems(
    context: FieldContext, value: Each | Count, keep: ItemFilter
) -> Iterator[MappingError]:
    place = context.inner.find(value.source)
    if kinds(place.schema) != {"array"}:
        yield _refuse(
            context,
            "not-a-list",
            f"{value.source} is not always a list",
            "read a list, or declare it as one",
        )
        return
    result = "array" if isinstance(value, Each) else "integer"
    yield from _kind_problems(context, frozenset({result}))
    scope = context.inner.entering_any(place)
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
