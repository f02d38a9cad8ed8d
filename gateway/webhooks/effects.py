"""The changes that a message makes: rows, an event, calls and an audit record, all or nothing."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID, uuid5

from gateway.contract.context import CallFacts
from gateway.contract.event import SPEC_VERSION
from gateway.contract.fields.conversion import as_date_time, rfc3339, text
from gateway.contract.fields.marker import ABSENT, Unmappable
from gateway.contract.rows.rows import InvalidColumnValue, Shape
from gateway.contract.values.pointers import NoSuchPlace, follow
from gateway.contract.values.schema import Validator
from gateway.contract.webhook import Emission, EntityEffect, Notification, WebhookEvent
from gateway.store.records import Changes, EntityChange, NewCall, NewEvent, StoredWebhook
from gateway.webhooks.failures import PermanentFailure, described

BROKEN_PROMISE: Final = "broken_promise"
_JSON: Final = "application/json"


class Effects:
    """Turns messages into changes. It has no code for single providers."""

    def __init__(
        self,
        shapes: Mapping[str, Shape],
        events: Mapping[str, Validator],
        now: Callable[[], datetime],
    ) -> None:
        """`shapes`: the entities' shapes by kind. `events`: validators of whole events by type."""
        self._shapes = shapes
        self._events = events
        self._now = now

    def changes(
        self, event: WebhookEvent, webhook: StoredWebhook, payload: Any, facts: CallFacts
    ) -> Changes:
        """All changes that `webhook` makes. Its field maps read `payload`.

        The changes of one message are always the same, except for times. So processing it again
        does not add anything.

        Raises `Unmappable` for a value that cannot be mapped. Raises `PermanentFailure` for an
        event that would break the gateway's own contract, which is a defect.
        """
        occurred_at = _occurred_at(event, payload, webhook.received_at)
        return Changes(
            entities=tuple(self._rows(event, webhook, payload, facts, occurred_at)),
            events=tuple(self._event_drafts(event.emission, webhook, payload, facts)),
            calls=tuple(_calls(event.notifications, webhook, payload, facts)),
        )

    def _rows(
        self,
        event: WebhookEvent,
        webhook: StoredWebhook,
        payload: Any,
        facts: CallFacts,
        occurred_at: datetime,
    ) -> Iterator[EntityChange]:
        for effect in event.effects:
            row = effect.row(payload, facts)
            if row is not None:
                yield EntityChange(
                    kind=effect.entity,
                    values=self._canonical(effect, row),
                    mode=effect.mode,
                    webhook_id=webhook.id,
                    occurred_at=occurred_at,
                )

    def _canonical(self, effect: EntityEffect, row: Mapping[str, Any]) -> dict[str, Any]:
        shape = self._shapes[effect.entity]
        if not shape.admits_change.admits(row):
            first = shape.admits_change.violations(row)[0]
            raise Unmappable(f"/{effect.entity}{first.pointer}", first.detail)
        try:
            return shape.canonical(row)
        except InvalidColumnValue as error:
            first = error.violation
            raise Unmappable(f"/{effect.entity}{first.pointer}", first.detail) from None

    def _event_drafts(
        self, emission: Emission | None, webhook: StoredWebhook, payload: Any, facts: CallFacts
    ) -> Iterator[NewEvent]:
        data = None if emission is None else emission.data(payload, facts)
        if emission is None or data is None:
            return
        subject = emission.subject(payload, facts)
        if subject is ABSENT or subject is None:
            raise Unmappable("", f"{emission.event} has no subject")
        draft = NewEvent(
            id=str(uuid5(UUID(webhook.id), emission.event)),
            type=emission.event,
            subject=text(subject),
            source=f"/webhooks/{webhook.provider}",
            data=data,
            webhook_id=webhook.id,
        )
        self._check(draft)
        yield draft

    def _check(self, draft: NewEvent) -> None:
        validator = self._events[draft.type]
        envelope = {
            "specversion": SPEC_VERSION,
            "id": draft.id,
            "source": draft.source,
            "type": draft.type,
            "subject": draft.subject,
            "time": rfc3339(self._now()),
            "datacontenttype": _JSON,
            "data": dict(draft.data),
        }
        if not validator.admits(envelope):
            places = described(validator.violations(envelope))
            raise PermanentFailure(BROKEN_PROMISE, f"{draft.type}: {places}")


def _calls(
    notifications: tuple[Notification, ...], webhook: StoredWebhook, payload: Any, facts: CallFacts
) -> Iterator[NewCall]:
    for number, each in enumerate(notifications):
        arguments = each.arguments(payload, facts)
        if arguments is not None:
            yield NewCall(
                id=str(uuid5(UUID(webhook.id), f"{number} {each.operation}")),
                operation=each.operation,
                arguments=arguments,
                # Each tool has its own lane, so a slow upstream does not block the other tools.
                lane=each.operation,
            )


def _occurred_at(event: WebhookEvent, payload: Any, received_at: datetime) -> datetime:
    """When it happened, but not later than its arrival. Otherwise a message that is dated 2062
    would make all earlier reports look old."""
    if event.occurred_at is None:
        return received_at
    try:
        said = follow(payload, event.occurred_at)
    except NoSuchPlace:
        return received_at
    try:
        occurred_at = datetime.fromisoformat(as_date_time(said))
    except ValueError as error:
        raise Unmappable(event.occurred_at, str(error)) from None
    return min(occurred_at, received_at)
