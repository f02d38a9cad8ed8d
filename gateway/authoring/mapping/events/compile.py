"""Compiles an event of a webhook to a Python module under `generated/webhooks/`."""

from collections.abc import Iterable, Mapping
from typing import Final

from gateway.authoring.mapping.events.check import meaning_problems
from gateway.authoring.mapping.events.language import (
    DerivationMap,
    EffectMap,
    EmissionMap,
    EventBasis,
    EventMap,
    EventSchema,
    FetchMap,
    NotificationMap,
    data_schema,
    operation_of,
    parse,
    reply_scope,
    row_schema,
    scope_of,
    subject_schema,
)
from gateway.authoring.mapping.fields.emit import (
    EmitContext,
    emit,
    emit_members,
    emit_scalar,
    is_present,
)
from gateway.authoring.mapping.fields.nodes import Members, ReadExpression, Value
from gateway.authoring.mapping.fields.pycode import Module, literal, tuple_text
from gateway.authoring.mapping.fields.scope import Scope, may_be_absent
from gateway.authoring.mapping.fields.walk import group_schema
from gateway.contract.schemas.references import list_of
from gateway.errors import ContractError

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
