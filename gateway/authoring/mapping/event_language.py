"""An event of `x-webhook`: its records, its parser, and a list of all its values."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from gateway.authoring.mapping.fields.nodes import (
    Each,
    FieldFunction,
    Items,
    MappingError,
    Members,
    Presence,
    ReadExpression,
    Value,
)
from gateway.authoring.mapping.fields.parse import Reader, read_filter, read_members, read_value
from gateway.authoring.mapping.fields.scope import Scope, Tenancy, leaves_of
from gateway.authoring.mapping.fields.walk import FieldContext, group_schema, visits
from gateway.contract.schemas.references import list_of
from gateway.contract.schemas.shapes import member
from gateway.contract.upstream import Upstream, UpstreamOperation

# The records of a parsed event of a webhook.
#
# `pointer` of every record is the JSON Pointer inside the event of `x-webhook.events`.

EventSchema = dict[str, Any]


class EventBasis(Struct, frozen=True, kw_only=True):
    """All parts of the contracts that determine one event. The schemas are dereferenced."""

    name: str
    """`<provider>.<event>`, for errors."""
    type: str
    rules: dict[str, Any]
    """The event of `x-webhook.events`, without its payload."""
    payload: EventSchema
    siblings: Mapping[str, EventSchema]
    """The payload schemas of the source's events that `derives` names, by type."""
    settings: Mapping[str, EventSchema]
    """Schemas of the source's settings, by name."""
    empty_settings: frozenset[str]
    """Settings without a default, which are absent unless the operator sets them."""
    tenancy: Tenancy
    """Which messages of this type name a tenant."""
    entities: Mapping[str, EventSchema]
    """The named entities with their `x-entity`, by kind."""
    events: Mapping[str, EventSchema]
    """Schemas of the named published events, by type."""
    tools: Mapping[str, EventSchema]
    """Input schemas of the named tools, by operation id."""
    upstream: Upstream | None = None
    """The upstream that `fetch` names."""


class EffectMap(Struct, frozen=True, kw_only=True):
    """A row to write."""

    pointer: str
    entity: str
    mode: Literal["upsert", "create"]
    when: ReadExpression | None
    row: Members


class EmissionMap(Struct, frozen=True, kw_only=True):
    """The event to publish."""

    pointer: str
    event: str
    subject: Value
    data: Members


class NotificationMap(Struct, frozen=True, kw_only=True):
    """A tool to call."""

    pointer: str
    tool: str
    when: ReadExpression | None
    arguments: Members


class FetchMap(Struct, frozen=True, kw_only=True):
    """The request that reads the state the message refers to."""

    pointer: str
    upstream: str
    operation: str
    path: Members
    query: Members
    href: str | None


class DerivationMap(Struct, frozen=True, kw_only=True):
    """Messages to derive from the fetched reply."""

    pointer: str
    event: str
    message_id: str
    payloads: Each | Items


class EventMap(Struct, frozen=True, kw_only=True):
    """A parsed event."""

    profiles: tuple[str, ...]
    occurred_at: str | None
    effects: tuple[EffectMap, ...]
    emission: EmissionMap | None
    notifications: tuple[NotificationMap, ...]
    fetch: FetchMap | None
    derives: tuple[DerivationMap, ...]


# Parses an event of `x-webhook`, which is valid by the meta-schema, to records.


def parse(rules: dict[str, Any]) -> tuple[EventMap | None, tuple[MappingError, ...]]:
    """The parsed event and no problems, or None and at least one problem."""
    reader = Reader()
    found = EventMap(
        profiles=tuple(rules["profiles"]),
        occurred_at=rules.get("occurredAt"),
        effects=tuple(
            _effect(reader, each, f"/effects/{index}")
            for index, each in enumerate(rules.get("effects", ()))
        ),
        emission=_emission(reader, rules["emits"], "/emits") if "emits" in rules else None,
        notifications=tuple(
            _notification(reader, each, f"/notifications/{index}")
            for index, each in enumerate(rules.get("notifications", ()))
        ),
        fetch=_fetch(reader, rules["fetch"], "/fetch") if "fetch" in rules else None,
        derives=tuple(
            _derivation(reader, each, f"/derives/{index}")
            for index, each in enumerate(rules.get("derives", ()))
        ),
    )
    return (None if reader.problems else found), tuple(reader.problems)


def _effect(reader: Reader, text: dict[str, Any], pointer: str) -> EffectMap:
    return EffectMap(
        pointer=pointer,
        entity=text["entity"],
        mode=text.get("mode", "upsert"),
        when=reader.condition(text, pointer),
        row=read_members(reader, text["set"], f"{pointer}/set"),
    )


def _emission(reader: Reader, text: dict[str, Any], pointer: str) -> EmissionMap:
    return EmissionMap(
        pointer=pointer,
        event=text["event"],
        subject=read_value(reader, text["subject"], f"{pointer}/subject"),
        data=read_members(reader, text["data"], f"{pointer}/data"),
    )


def _notification(reader: Reader, text: dict[str, Any], pointer: str) -> NotificationMap:
    return NotificationMap(
        pointer=pointer,
        tool=text["tool"],
        when=reader.condition(text, pointer),
        arguments=read_members(reader, text["arguments"], f"{pointer}/arguments"),
    )


def _fetch(reader: Reader, text: dict[str, Any], pointer: str) -> FetchMap:
    return FetchMap(
        pointer=pointer,
        upstream=text["upstream"],
        operation=text["operationId"],
        path=read_members(reader, text.get("path", {}), f"{pointer}/path"),
        query=read_members(reader, text.get("query", {}), f"{pointer}/query"),
        href=text.get("href"),
    )


def _derivation(reader: Reader, text: dict[str, Any], pointer: str) -> DerivationMap:
    return DerivationMap(
        pointer=pointer,
        event=text["event"],
        message_id=text["messageId"],
        payloads=_payloads(reader, text, pointer),
    )


def _payloads(reader: Reader, text: dict[str, Any], pointer: str) -> Each | Items:
    """One payload per item of the list `each`. Without `each`, one payload if `when` is present."""
    item = read_members(reader, text["item"], f"{pointer}/item")
    if "each" not in text:
        when = reader.condition(text, pointer)
        return Items(pointer=pointer, values=(replace(item, presence=Presence(when=when)),))
    return Each(
        pointer=pointer,
        source=reader.expression(text["each"], f"{pointer}/each"),
        item=item,
        keep=read_filter(reader, text, pointer),
        presence=Presence(default=[]),
    )


# Lists every value of an event, with its scope and its target schema.

_TEXT: Final[EventSchema] = {"type": "string", "minLength": 1}


def scope_of(basis: EventBasis) -> Scope:
    """The scope of an event's maps."""
    return Scope(
        payload=basis.payload,
        settings=basis.settings,
        empty_settings=basis.empty_settings,
        tenancy=basis.tenancy,
        entities={kind: key_schema(schema) for kind, schema in basis.entities.items()},
    )


def reply_scope(basis: EventBasis, fetch: FetchMap) -> Scope:
    """The scope of derivations, in which the payload is the fetched reply."""
    reply = reply_of(operation_of(basis, fetch))
    side = f"the reply of {fetch.operation}"
    return replace(scope_of(basis), payload=reply or {}, payload_side=side)


def operation_of(basis: EventBasis, fetch: FetchMap) -> UpstreamOperation | None:
    """The upstream operation of `fetch`. None if it does not exist."""
    return basis.upstream.find(fetch.operation) if basis.upstream else None


def reply_of(operation: UpstreamOperation | None) -> EventSchema | None:
    """The schema of the operation's first success with a body."""
    replies = operation.replies.items() if operation else ()
    return next((each for status, each in replies if status.startswith("2") and each), None)


def key_schema(entity: EventSchema) -> EventSchema:
    """The schema of an entity's key, an object."""
    return _only(entity, entity["x-entity"]["key"], required=entity["x-entity"]["key"])


def row_schema(entity: EventSchema) -> EventSchema:
    """The schema of the columns that an event may set: those that the webhook owns."""
    facts = entity["x-entity"]
    others = {*facts.get("agent", ()), *facts.get("computed", ())}
    own = [
        name
        for name, column in entity["properties"].items()
        if not column.get("readOnly") and name not in others
    ]
    return _only(entity, own, required=entity["x-entity"]["key"])


def data_schema(event: EventSchema) -> EventSchema:
    """The schema of an event's data."""
    found = member(event, "data")
    return found.schema if found else {}


def subject_schema(event: EventSchema) -> EventSchema:
    """The schema of an event's subject."""
    found = member(event, "subject")
    return found.schema if found else _TEXT


def when_present(members: Members, when: ReadExpression | None) -> Members:
    """`members` with the condition `when`."""
    return replace(members, presence=Presence(when=when))


def visits_of(written: EventMap, basis: EventBasis) -> Iterator[FieldContext]:
    """The values of rows, events and arguments."""
    scope = scope_of(basis)
    for effect in written.effects:
        row = when_present(effect.row, effect.when)
        target = row_schema(basis.entities[effect.entity])
        yield from _result(row, scope, target, f"a row of {effect.entity}")
    if written.emission is not None:
        emission, event = written.emission, basis.events[written.emission.event]
        subject = FieldContext(
            value=emission.subject,
            scope=scope,
            target=subject_schema(event),
            field="",
            group="result",
            side="the subject",
            is_required=True,
        )
        yield from visits(subject)
        side = f"the data of {emission.event}"
        yield from _result(emission.data, scope, data_schema(event), side)
    for notification in written.notifications:
        arguments = when_present(notification.arguments, notification.when)
        target = basis.tools[notification.tool]
        yield from _result(arguments, scope, target, f"the arguments of {notification.tool}")


def fetch_visits(fetch: FetchMap, basis: EventBasis) -> Iterator[FieldContext]:
    """The values of the fetch request."""
    operation = operation_of(basis, fetch)
    for group, members in (("path", fetch.path), ("query", fetch.query)):
        if operation is not None:
            yield from visits(
                FieldContext(
                    value=members,
                    scope=scope_of(basis),
                    target=group_schema(operation, basis.upstream, group),
                    field="",
                    group=group,
                    side=f"the {group} of {operation.id}",
                )
            )


def derived_visits(written: EventMap, basis: EventBasis) -> Iterator[FieldContext]:
    """The values of derived payloads. Derived payloads are validated like received ones."""
    if written.fetch is None:
        return
    scope = reply_scope(basis, written.fetch)
    for derivation in written.derives:
        yield from visits(
            FieldContext(
                value=derivation.payloads,
                scope=scope,
                target=list_of(basis.siblings[derivation.event]),
                field="",
                group="result",
                side=f"the payload of {derivation.event}",
            )
        )


def _result(
    members: Members, scope: Scope, target: EventSchema, side: str
) -> Iterator[FieldContext]:
    yield from visits(
        FieldContext(value=members, scope=scope, target=target, field="", group="result", side=side)
    )


def _only(schema: EventSchema, names: list[str], required: list[str]) -> EventSchema:
    return {
        "type": "object",
        "properties": {name: schema["properties"][name] for name in names},
        "required": required,
        "additionalProperties": False,
    }


# Finds the Python functions that an event of a webhook names.


def functions(rules: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Pointer inside the event, module and name of each function, in the order of the contract."""
    written, _ = parse(rules)
    for value in _values(written) if written else ():
        for leaf in leaves_of(value):
            if isinstance(leaf, FieldFunction):
                yield f"{leaf.pointer}/python", leaf.module, leaf.function


def _values(written: EventMap) -> Iterator[Value]:
    yield from (effect.row for effect in written.effects)
    if written.emission is not None:
        yield from (written.emission.subject, written.emission.data)
    yield from (each.arguments for each in written.notifications)
    if written.fetch is not None:
        yield from (written.fetch.path, written.fetch.query)
    yield from (each.payloads for each in written.derives)
