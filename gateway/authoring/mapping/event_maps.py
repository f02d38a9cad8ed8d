"""Checks an event of a webhook against the contracts that it names, and compiles it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.authoring.mapping.event_language import (
    DerivationMap,
    EffectMap,
    EmissionMap,
    EventBasis,
    EventMap,
    EventSchema,
    FetchMap,
    NotificationMap,
    data_schema,
    derived_visits,
    fetch_visits,
    operation_of,
    parse,
    reply_of,
    reply_scope,
    row_schema,
    scope_of,
    subject_schema,
    visits_of,
)
from gateway.authoring.mapping.fields.check import check_context
from gateway.authoring.mapping.fields.coverage import (
    Proof,
    gap_of,
    proofs_of,
    unanswerable,
    unsendable,
)
from gateway.authoring.mapping.fields.emit import (
    EmitContext,
    emit,
    emit_members,
    emit_scalar,
    is_list,
    is_present,
)
from gateway.authoring.mapping.fields.nodes import (
    Constant,
    MappingError,
    Members,
    ReadExpression,
    Value,
    problem,
)
from gateway.authoring.mapping.fields.pycode import Module, literal, tuple_text
from gateway.authoring.mapping.fields.scope import Scope, Tenancy, UnknownSource, may_be_absent
from gateway.authoring.mapping.fields.walk import FieldContext, group_schema
from gateway.contract.schemas.algebra import Schema, covers, kinds
from gateway.contract.schemas.references import list_of
from gateway.contract.upstream import Upstream
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import steps
from gateway.errors import ContractError

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


def prove(basis: EventBasis) -> list[Proof]:
    """The verdict for every field of the rows, events and arguments of an event, and its fetch.

    Derived payloads are validated like received ones, so they need none.
    """
    written, _ = parse(basis.rules)
    if written is None:
        return []
    fetched = fetch_visits(written.fetch, basis) if written.fetch else ()
    return [*proofs_of(fetched), *proofs_of(visits_of(written, basis))]


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


# Compiles an event of a webhook to a Python module under `generated/webhooks/`.

_RECORDS: Final = "gateway.contract.webhook"


def compile_event(basis: EventBasis) -> str:
    """The text of the module that defines `EVENT`. The caller must format it.

    Raises `ContractError` with the first problem of the event.
    """
    written, problems = parse(basis.rules)
    found = [*problems] if written is None else meaning_problems(written, basis)
    if written is None or found:
        first = found[0]
        raise ContractError(f"{basis.name}{first.pointer}: {first.message}; {first.fix}")
    return _Compiler(basis).module_of(written)


class _Compiler:
    """Builds the module of one event."""

    def __init__(self, basis: EventBasis) -> None:
        self._basis = basis
        self._module = Module()
        self._scope = scope_of(basis)

    def module_of(self, written: EventMap) -> str:
        fields: dict[str, str | None] = {
            "type": literal(self._basis.type),
            "profiles": literal(written.profiles),
            "occurred_at": literal(written.occurred_at) if written.occurred_at else None,
            "fetch": self._fetch(written.fetch) if written.fetch else None,
            "derives": self._tuple(self._derivation(each, written) for each in written.derives),
            "effects": self._tuple(self._effect(each) for each in written.effects),
            "emission": self._emission(written.emission) if written.emission else None,
            "notifications": self._tuple(map(self._notification, written.notifications)),
        }
        value = self._record("WebhookEvent", fields)
        provider = self._basis.name.partition(".")[0]
        return self._module.text(
            f"What {self._basis.type} of {provider} does.",
            "Every function takes the payload and the facts of its arrival.",
            value,
            name="EVENT",
        )

    def _effect(self, effect: EffectMap) -> str:
        target = row_schema(self._basis.entities[effect.entity])
        fields = {
            "entity": literal(effect.entity),
            "mode": literal(effect.mode) if effect.mode != "upsert" else None,
            "row": self._members(effect.entity, effect.row, effect.when, target),
        }
        return self._record("EntityEffect", fields)

    def _emission(self, emission: EmissionMap) -> str:
        event = self._basis.events[emission.event]
        fields = {
            "event": literal(emission.event),
            "subject": self._value("subject", emission.subject, self._scope, subject_schema(event)),
            "data": self._members("data", emission.data, None, data_schema(event)),
        }
        return self._record("Emission", fields)

    def _notification(self, notification: NotificationMap) -> str:
        name = notification.tool.replace(".", "_")
        target = self._basis.tools[notification.tool]
        given = self._members(name, notification.arguments, notification.when, target)
        fields = {"operation": literal(notification.tool), "arguments": given}
        return self._record("Notification", fields)

    def _fetch(self, fetch: FetchMap) -> str:
        href = fetch.href and self._record("MessagePart", {"pointer": literal(fetch.href)})
        fields = {
            "upstream": literal(fetch.upstream),
            "operation": literal(fetch.operation),
            "path": self._texts("path", fetch, fetch.path),
            "query": self._texts("query", fetch, fetch.query),
            "href": href,
        }
        return self._record("Fetch", fields)

    def _derivation(self, derivation: DerivationMap, written: EventMap) -> str:
        scope = reply_scope(self._basis, written.fetch) if written.fetch else self._scope
        target = list_of(self._basis.siblings[derivation.event])
        fields = {
            "event": literal(derivation.event),
            "payloads": self._value(derivation.event, derivation.payloads, scope, target),
            "message_id": literal(derivation.message_id),
        }
        return self._record("Derivation", fields)

    def _members(
        self, name: str, members: Members, when: ReadExpression | None, target: EventSchema
    ) -> str:
        """Define a function that makes an object, or None if `when` is absent. Returns its name."""
        condition = is_present(self._module, self._scope.find(when)) if when else ""
        text = emit_members(members, self._context(self._scope.assuming(when), target))
        if condition:
            text = f"{text} if {condition} else None"
        answer = "dict[str, Any] | None" if condition else "dict[str, Any]"
        return self._function(name, text, answer)

    def _value(self, name: str, value: Value, scope: Scope, target: EventSchema) -> str:
        return self._function(name, emit(value, self._context(scope, target)), "Any")

    def _texts(self, group: str, fetch: FetchMap, members: Members) -> str:
        """Define a function that makes parameters by name. Returns its name."""
        operation = operation_of(self._basis, fetch)
        target = group_schema(operation, self._basis.upstream, group) if operation else {}
        context = self._context(self._scope, target)
        parts = (
            f"{literal(name)}: {emit_scalar(value, context.at(name))}"
            for name, value in members.values.items()
        )
        text = "{" + ", ".join(parts) + "}"
        if any(may_be_absent(value, self._scope) for value in members.values.values()):
            text = f"{self._module.word('present')}({text})"
        return self._function(group, text, "dict[str, Any]")

    def _function(self, name: str, text: str, answer: str) -> str:
        free = self._module.function((name,))
        self._module.define(free, ("payload", "call"), answer, [text])
        return free

    def _context(self, scope: Scope, target: EventSchema) -> EmitContext:
        return EmitContext(module=self._module, scope=scope, target=target)

    def _record(self, name: str, fields: Mapping[str, str | None]) -> str:
        text = ", ".join(f"{field}={value}" for field, value in fields.items() if value)
        return f"{self._module.use(_RECORDS, name)}({text})"

    def _tuple(self, texts: Iterable[str]) -> str | None:
        found = list(texts)
        return tuple_text(found) if found else None
