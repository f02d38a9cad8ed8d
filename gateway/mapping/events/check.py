"""Checks an event of a webhook against the contracts that it names."""

from collections.abc import Iterator
from typing import Any

from gateway.contract.schemas.algebra import Schema, covers, kinds
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import steps
from gateway.mapping.events.nodes import EventBasis, EventMap, FetchMap
from gateway.mapping.events.parse import parse
from gateway.mapping.events.walk import (
    derived_visits,
    fetch_visits,
    operation_of,
    reply_of,
    scope_of,
    visits_of,
)
from gateway.mapping.fields.analysis.scope import Scope, UnknownSource
from gateway.mapping.fields.analysis.walk import FieldContext
from gateway.mapping.fields.checks.gaps import gap_of, unanswerable, unsendable
from gateway.mapping.fields.checks.values import check_context
from gateway.mapping.fields.language.nodes import Constant, MappingError, ReadExpression, problem
from gateway.mapping.fields.python.texts import is_list

_MOMENT: Schema = {"type": "string", "format": "date-time"}


def check(basis: EventBasis) -> list[MappingError]:
    """The problems of an event, in the order of the contract. Gaps only if there are no others."""
    written, problems = parse(basis.rules)
    if written is None:
        return list(problems)
    found = meaning_problems(written, basis)
    return found or list(_gaps(written, basis))


def meaning_problems(written: EventMap, basis: EventBasis) -> list[MappingError]:
    """The problems that make it impossible to compile an event."""
    unknown = [*_unknown(written, basis)]
    if unknown:
        return unknown
    found = [*_moment_problems(written, basis), *_derivation_problems(written, basis)]
    for context in _all(written, basis):
        found += check_context(context)
    return found


def _all(written: EventMap, basis: EventBasis) -> Iterator[FieldContext]:
    yield from visits_of(written, basis)
    if written.fetch is not None:
        yield from fetch_visits(written.fetch, basis)
    yield from derived_visits(written, basis)


def _unknown(written: EventMap, basis: EventBasis) -> Iterator[MappingError]:
    """Problems about names that are not declared."""
    for effect in written.effects:
        yield from _missing(f"{effect.pointer}/entity", effect.entity, basis.entities, "entity")
    if written.emission is not None:
        emission = written.emission
        yield from _missing(f"{emission.pointer}/event", emission.event, basis.events, "event")
    for each in written.notifications:
        yield from _missing(f"{each.pointer}/tool", each.tool, basis.tools, "tool")
    for derivation in written.derives:
        pointer = f"{derivation.pointer}/event"
        yield from _missing(pointer, derivation.event, basis.siblings, "event")
    if written.fetch is not None:
        yield from _fetch_problems(written.fetch, basis)


def _missing(pointer: str, name: str, known: Any, what: str) -> Iterator[MappingError]:
    if name not in known:
        yield MappingError(
            pointer=pointer,
            rule=f"webhook/unknown-{what}",
            message=f"no {what} {name} is declared",
            fix=f"declare it, or correct the name of the {what}",
        )


def _fetch_problems(fetch: FetchMap, basis: EventBasis) -> Iterator[MappingError]:
    if basis.upstream is None:
        pointer, message = f"{fetch.pointer}/upstream", f"there is no upstream {fetch.upstream}"
        yield problem(pointer, "unknown-upstream", message, "name a folder of schemas/upstreams")
        return
    operation, pointer = operation_of(basis, fetch), f"{fetch.pointer}/operationId"
    if operation is None:
        known = [each.id for each in basis.upstream.operations]
        message = f"{fetch.upstream} has no operation {fetch.operation}"
        fix = did_you_mean(fetch.operation, known) or "name an operation of the upstream"
        yield problem(pointer, "unknown-operation", message, fix)
    elif operation.method != "GET" or reply_of(operation) is None:
        yield MappingError(
            pointer=pointer,
            rule="webhook/fetch",
            message=f"{fetch.operation} is not a GET with a JSON reply",
            fix="name an operation that reads",
        )


def _moment_problems(written: EventMap, basis: EventBasis) -> Iterator[MappingError]:
    if written.occurred_at is None:
        return
    objection = text_objection(scope_of(basis), written.occurred_at, _MOMENT)
    if objection:
        yield MappingError(
            pointer="/occurredAt",
            rule="webhook/occurred-at",
            message=f"{written.occurred_at} {objection}",
            fix="require it in the payload, with `format: date-time`, or remove occurredAt",
        )


def _derivation_problems(written: EventMap, basis: EventBasis) -> Iterator[MappingError]:
    for derivation in written.derives:
        scope = Scope(payload=basis.siblings[derivation.event])
        objection = text_objection(scope, derivation.message_id, {"type": "string"})
        if objection:
            yield MappingError(
                pointer=f"{derivation.pointer}/messageId",
                rule="webhook/message-id",
                message=f"{derivation.message_id} {objection} of {derivation.event}",
                fix="require the text in the payload, or correct the pointer",
            )
    for context in fetch_visits(written.fetch, basis) if written.fetch else ():
        is_plain = context.field.count("/") == 1 and not isinstance(context.value, Constant)
        if is_plain and not any(check_context(context)) and is_list(context.value, context.scope):
            fix = "send a scalar"
            yield problem(context.value.pointer, "not-text", "a fetch cannot send lists", fix)


def text_objection(scope: Scope, pointer: str, wanted: Schema) -> str:
    """Why `pointer` of the payload is not always a text of the schema `wanted`. Empty if it is."""
    try:
        values = scope.find(ReadExpression("payload", tuple(steps(pointer))))
    except UnknownSource:
        return "is not declared in the payload"
    if values.may_be_absent:
        return "may be absent from the payload"
    if not kinds(values.schema) <= kinds(wanted):
        return "is not always a text in the payload"
    return "" if covers(wanted, values.schema) else "may be another text in the payload"


def _gaps(written: EventMap, basis: EventBasis) -> Iterator[MappingError]:
    """Values that may arrive and that the target schema refuses.

    Derived payloads are validated at run time instead.
    """
    for context in fetch_visits(written.fetch, basis) if written.fetch else ():
        if proof := gap_of(context):
            yield unsendable(proof)
    for context in visits_of(written, basis):
        proof = gap_of(context)
        if proof and proof.on_gap is None:
            yield unanswerable(proof, context)
