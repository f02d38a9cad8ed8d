"""Checks an event of a webhook against the contracts that it names, which are selected here."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from gateway.authoring.mapping.events.language import (
    EventBasis,
    EventMap,
    EventSchema,
    FetchMap,
    derived_visits,
    fetch_visits,
    operation_of,
    parse,
    reply_of,
    scope_of,
    visits_of,
)
from gateway.authoring.mapping.fields.check import check_context
from gateway.authoring.mapping.fields.emit import is_list
from gateway.authoring.mapping.fields.nodes import Constant, MappingError, ReadExpression, problem
from gateway.authoring.mapping.fields.prove import gap_of, unanswerable, unsendable
from gateway.authoring.mapping.fields.scope import Scope, Tenancy, UnknownSource
from gateway.authoring.mapping.fields.walk import FieldContext
from gateway.contract.schemas.algebra import Schema, covers, kinds
from gateway.contract.upstream import Upstream
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import steps

# Selects the contracts that determine the maps of an event.


class Declared(Struct, frozen=True, kw_only=True):
    """The contracts that maps may name. Their schemas are dereferenced."""

    entities: Mapping[str, EventSchema]
    """Entities with their `x-entity`, by kind."""
    events: Mapping[str, EventSchema]
    """Schemas of published events, by type."""
    tools: Mapping[str, EventSchema]
    """Input schemas by operation id."""
    upstreams: Mapping[str, Upstream]


class Named(Struct, frozen=True, kw_only=True):
    """The names of contracts in the rules of an event."""

    entities: frozenset[str]
    events: frozenset[str]
    tools: frozenset[str]
    upstreams: frozenset[str]


def named_in(rules: Mapping[str, Any]) -> Named:
    """The contracts in other files that an event of `x-webhook` names."""
    return Named(
        entities=_kinds(dict(rules)),
        events=frozenset(_text(rules.get("emits"), "event")),
        tools=frozenset(each["tool"] for each in rules.get("notifications", ())),
        upstreams=frozenset(_text(rules.get("fetch"), "upstream")),
    )


def basis_of(
    name: str, x_webhook: Mapping[str, Any], payloads: Mapping[str, EventSchema], declared: Declared
) -> EventBasis:
    """The basis of the event `name`, `<provider>.<event>`: its rules and the contracts it names."""
    event_type = name.partition(".")[2]
    rules = {k: v for k, v in x_webhook["events"][event_type].items() if k != "payload"}
    named = named_in(rules)
    upstreams = _picked(declared.upstreams, named.upstreams)
    return EventBasis(
        name=name,
        type=event_type,
        rules=rules,
        payload=payloads[event_type],
        siblings=_picked(payloads, frozenset(_derived(rules))),
        settings=_settings(x_webhook),
        empty_settings=_empty_settings(x_webhook),
        tenancy=_tenancy(x_webhook, event_type),
        entities=_picked(declared.entities, named.entities),
        events=_picked(declared.events, named.events),
        tools=_picked(declared.tools, named.tools),
        upstream=next(iter(upstreams.values()), None),
    )


def _kinds(value: Any) -> frozenset[str]:
    """The kinds of entities that are written or referred to."""
    if isinstance(value, list):
        return frozenset().union(*map(_kinds, value))
    if not isinstance(value, dict):
        return frozenset()
    own = frozenset(name for word in ("entity", "ref") for name in _text(value, word))
    return own.union(*map(_kinds, value.values()))


def _text(holder: Any, word: str) -> list[str]:
    found = holder.get(word) if isinstance(holder, dict) else None
    return [found] if isinstance(found, str) else []


def _picked(known: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: known[name] for name in sorted(names) if name in known}


def _settings(x_webhook: Mapping[str, Any]) -> dict[str, EventSchema]:
    return {
        name: {"type": "string", "pattern": rule["pattern"], "minLength": 1}
        for name, rule in x_webhook.get("settings", {}).items()
    }


def _tenancy(x_webhook: Mapping[str, Any], event_type: str) -> Tenancy:
    """Derived messages have the tenant of those that they are derived from."""
    events, senders, known = x_webhook["events"], {event_type}, 0
    while len(senders) > known:
        known = len(senders)
        senders |= {name for name, each in events.items() if _derived(each) & senders}
    profiles = {name for each in senders for name in events[each]["profiles"]}
    named = [x_webhook["profiles"].get(name, {}).get("tenant") for name in profiles]
    if not any(named):
        return "none"
    return "all" if all(named) else "some"


def _derived(event: Mapping[str, Any]) -> set[str]:
    return {each["event"] for each in event.get("derives", ())}


def _empty_settings(x_webhook: Mapping[str, Any]) -> frozenset[str]:
    rules = x_webhook.get("settings", {})
    return frozenset(name for name, rule in rules.items() if not rule.get("default"))


# Checks an event of a webhook against the contracts that it names.

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
