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


def check_visit(visit: FieldContext) -> Iterator[MappingError]:
    """The problems of one value, without those of the values inside it."""
    lost = list(_lost_sources(visit))
    if lost:
        yield from lost
        return
    if not visit.is_declared:
        yield _refuse(
            visit,
            "unknown-member",
            f"{visit.side} has no {steps(visit.field)[-1]}",
            did_you_mean(steps(visit.field)[-1], visit.siblings)
            or "correct the name, or declare it in the contract",
        )
        return
    yield from _absence_problems(visit)
    yield from _resort_problems(visit)
    match visit.value:
        case Members() as value:
            yield from _members_problems(visit, value)
        case Read() as value:
            yield from _read_problems(visit, value)
        case Each(keep=keep) | Count(keep=keep) as value:
            yield from _list_problems(visit, value, keep)
        case Constant(value=constant):
            yield from _constant_problems(visit, constant, "")
        case Reference(kind=kind):
            yield from _reference_problems(visit, kind)
        case _:
            return


def _refuse(visit: FieldContext, rule: str, message: str, fix: str, part: str = "") -> MappingError:
    return problem(f"{visit.value.pointer}{part}", rule, message, fix)


def _lost_sources(visit: FieldContext) -> Iterator[MappingError]:
    when = visit.value.presence.when
    yield from _lost(visit, visit.scope, () if when is None else (when,))
    match visit.value:
        case Read(source=source):
            yield from _lost(visit, visit.inner, (source,))
        case FieldFunction(arguments=arguments):
            yield from _lost(visit, visit.inner, arguments)
        case Each(source=source, keep=keep) | Count(source=source, keep=keep):
            lost = list(_lost(visit, visit.inner, (source,)))
            yield from lost or _lost_filters(visit, source, keep)
        case _:
            return


def _lost_filters(
    visit: FieldContext, source: ReadExpression, keep: ItemFilter
) -> Iterator[MappingError]:
    scope = visit.inner.entering_any(visit.inner.find(source))
    yield from _lost(visit, scope, () if keep.needed is None else (keep.needed,))
    yield from _lost(visit, scope, tuple(keep.allowed))


def _lost(
    visit: FieldContext, scope: Scope, sources: tuple[ReadExpression, ...]
) -> Iterator[MappingError]:
    for source in sources:
        try:
            scope.find(source)
        except NoPlace as lost:
            message = f"{source} leads nowhere: {lost.message}"
            yield _refuse(visit, "unknown-source", message, lost.fix)


def _absence_problems(visit: FieldContext) -> Iterator[MappingError]:
    value = visit.value
    if _is_unhandled(visit):
        yield _refuse(
            visit,
            "optional-unhandled",
            f"{getattr(value, 'source', '')} may be absent",
            "say omitIfAbsent, default, when or onGap",
        )
    elif not may_be_absent(value, visit.scope):
        return
    elif visit.is_item:
        yield _refuse(
            visit,
            "absent-item",
            "an item of a list cannot be left out from inside",
            "filter with when or where of each, or use skip-item",
        )
    elif visit.is_required and (is_droppable(value) or not visit.is_in_whole):
        yield _refuse(
            visit,
            "required-may-be-absent",
            "the other side needs this member, and it may be left out",
            "give it a default, or make the member optional",
        )


def _is_unhandled(visit: FieldContext) -> bool:
    value = visit.value
    if not isinstance(value, Read | Each | Count):
        return False
    presence = value.presence
    has_gap = isinstance(value, Read) and value.gap is not None
    is_handled = presence.is_omitted_if_absent or presence.default is not UNSET
    is_handled = is_handled or has_gap or visit.is_in_whole
    return not is_handled and visit.inner.find(value.source).may_be_absent


def _resort_problems(visit: FieldContext) -> Iterator[MappingError]:
    value = visit.value
    if value.presence.default is not UNSET:
        yield from _constant_problems(visit, value.presence.default, "/default")
    if not isinstance(value, Read):
        return
    if value.gap is not None and visit.group != "result":
        yield _refuse(
            visit,
            "gap-in-request",
            "onGap speaks of replies, and this is a request",
            "narrow the input schema instead",
            "/onGap",
        )
    for name, resort in (("else", value.unmapped), ("onGap", value.gap)):
        if resort is not None and resort.kind == "const":
            yield from _constant_problems(visit, resort.constant, f"/{name}/const")
        if resort is not None and resort.kind == "skip-item" and not visit.is_in_each:
            yield _refuse(
                visit,
                "skip-outside-each",
                "there is no item to skip here",
                "use it only inside the item of each",
                f"/{name}",
            )


def _constant_problems(visit: FieldContext, constant: object, part: str) -> Iterator[MappingError]:
    if not admits(visit.target, constant):
        yield _refuse(
            visit,
            "const-not-admitted",
            objection_to(constant, visit.target),
            "correct it, or widen the schema",
            part,
        )


def _members_problems(visit: FieldContext, value: Members) -> Iterator[MappingError]:
    yield from _kind_problems(visit, frozenset({"object"}))
    for name in required_of(visit.target):
        if name not in value.values:
            yield _refuse(
                visit,
                "member-unmapped",
                f"the other side needs {name!r}, and it is not mapped",
                "map it, or make it optional",
            )


def _kind_problems(visit: FieldContext, found: frozenset[str]) -> Iterator[MappingError]:
    if not found & kinds(visit.target):
        yield _refuse(
            visit,
            "never-admitted",
            f"becomes {' or '.join(sorted(found))}, which the other side never admits",
            "convert it, or correct the schema",
        )


def _read_problems(visit: FieldContext, value: Read) -> Iterator[MappingError]:
    source = visit.inner.find(value.source).schema
    if value.conversion is not None and not kinds(source) & _SCALARS:
        yield _refuse(
            visit, "unknown-as", "only scalars can be converted", "map their parts instead", "/as"
        )
        return
    for name, becomes in (value.table or {}).items():
        yield from _constant_problems(visit, becomes, child("/map", name))
        if not _may_arrive(name, source):
            yield _refuse(
                visit,
                "map-unreachable",
                "no value has this text",
                "remove it, or declare the value in the contract",
                child("/map", name),
            )
    image = image_of(value, source).schema
    if value.table is None and is_empty(both(image, visit.target)):
        yield from _never_admitted(visit)
    elif visit.group in _TEXT_GROUPS:
        yield from _text_problems(visit, kinds(image), items_of(image))


def _never_admitted(visit: FieldContext) -> Iterator[MappingError]:
    yield _refuse(
        visit,
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
    visit: FieldContext, found: frozenset[str], items: dict[str, object]
) -> Iterator[MappingError]:
    scalars = found if found != {"array"} else kinds(items)
    if not scalars <= _SCALARS:
        yield _refuse(
            visit,
            "not-text",
            f"{' and '.join(sorted(scalars - _SCALARS))} cannot be written in a "
            f"{visit.group} parameter",
            "map null by its text, read a scalar, or send it in the body",
        )


def _reference_problems(visit: FieldContext, kind: str) -> Iterator[MappingError]:
    if kind not in visit.scope.entities:
        yield _refuse(
            visit,
            "unknown-entity",
            f"there is no kind of row {kind}",
            did_you_mean(kind, visit.scope.entities) or "name a file of schemas/entities",
            "/ref",
        )
    elif is_empty(both(ROW_ID, visit.target)):
        yield from _never_admitted(visit)


def _list_problems(
    visit: FieldContext, value: Each | Count, keep: ItemFilter
) -> Iterator[MappingError]:
    place = visit.inner.find(value.source)
    if kinds(place.schema) != {"array"}:
        yield _refuse(
            visit,
            "not-a-list",
            f"{value.source} is not always a list",
            "read a list, or declare it as one",
        )
        return
    result = "array" if isinstance(value, Each) else "integer"
    yield from _kind_problems(visit, frozenset({result}))
    scope = visit.inner.entering_any(place)
    for source, allowed in keep.allowed.items():
        schema = scope.find(source).schema
        for constant in allowed:
            if not admits(schema, constant):
                yield _refuse(
                    visit,
                    "where-unreachable",
                    f"{source} never has one of these values",
                    "remove it, or declare the value in the contract",
                    child("/where", str(source)),
                )
