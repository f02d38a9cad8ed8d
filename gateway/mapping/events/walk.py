"""Lists every value of an event, with its scope and its target schema."""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from gateway.contract.schemas.references import list_of
from gateway.contract.schemas.shapes import member
from gateway.contract.upstream import UpstreamOperation
from gateway.mapping.events.nodes import EventBasis, EventMap, FetchMap, Schema
from gateway.mapping.fields.analysis.scope import Scope
from gateway.mapping.fields.analysis.walk import FieldContext, group_schema, visits
from gateway.mapping.fields.language.nodes import Members, Presence, ReadExpression

_TEXT: Final[Schema] = {"type": "string", "minLength": 1}


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


def reply_of(operation: UpstreamOperation | None) -> Schema | None:
    """The schema of the operation's first success with a body."""
    replies = operation.replies.items() if operation else ()
    return next((each for status, each in replies if status.startswith("2") and each), None)


def key_schema(entity: Schema) -> Schema:
    """The schema of an entity's key, an object."""
    return _only(entity, entity["x-entity"]["key"], required=entity["x-entity"]["key"])


def row_schema(entity: Schema) -> Schema:
    """The schema of the columns that an event may set: those that the webhook owns."""
    facts = entity["x-entity"]
    others = {*facts.get("agent", ()), *facts.get("computed", ())}
    own = [
        name
        for name, column in entity["properties"].items()
        if not column.get("readOnly") and name not in others
    ]
    return _only(entity, own, required=entity["x-entity"]["key"])


def data_schema(event: Schema) -> Schema:
    """The schema of an event's data."""
    found = member(event, "data")
    return found.schema if found else {}


def subject_schema(event: Schema) -> Schema:
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


def _result(members: Members, scope: Scope, target: Schema, side: str) -> Iterator[FieldContext]:
    yield from visits(
        FieldContext(value=members, scope=scope, target=target, field="", group="result", side=side)
    )


def _only(schema: Schema, names: list[str], required: list[str]) -> Schema:
    return {
        "type": "object",
        "properties": {name: schema["properties"][name] for name in names},
        "required": required,
        "additionalProperties": False,
    }
