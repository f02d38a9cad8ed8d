"""What processing the messages of one source needs."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.values import jsontext
from gateway.contract.values.jsontext import NotJson
from gateway.contract.values.schema import Validator
from gateway.contract.values.violation import Violation
from gateway.contract.webhook import WebhookEvent, WebhookSource
from gateway.store.records import Mismatch, StoredWebhook
from gateway.webhooks.payload_validator import PayloadValidator

CONTRACT_CHANGED: Final = "contract_changed"
_MAX_DETAIL: Final = 500


class PermanentFailure(Exception):
    """A message cannot be processed by any further attempt. The text contains no payload."""

    def __init__(self, error: str, detail: str) -> None:
        super().__init__(f"{error}: {detail}")
        self.error = error
        """A class of failures, such as `contract_changed`."""
        self.detail = detail


class SourceWork:
    """A source's current contract, and the operator's settings that its field maps may read."""

    def __init__(
        self,
        source: WebhookSource,
        validators: Mapping[str, Validator],
        settings: Mapping[str, str],
    ) -> None:
        """`validators`: of the payloads, by event type. An empty setting counts as
        absent."""
        self.source = source
        self._validator = PayloadValidator(source, validators)
        self._events = {event.type: event for event in source.events}
        self._settings = {name: text for name, text in settings.items() if text}

    def event(self, event_type: str) -> WebhookEvent:
        """The contract of events of this type. Raises `KeyError`."""
        return self._events[event_type]

    def facts(self, webhook: StoredWebhook) -> CallFacts:
        """The facts about the arrival of `webhook` that field maps may read."""
        return CallFacts(id=webhook.id, now=rfc3339(webhook.received_at), settings=self._settings)

    def refusals(self, webhook: StoredWebhook, payload: Any) -> tuple[Mismatch, ...]:
        """The places where `webhook` breaks the current contract. Empty if it is valid."""
        if webhook.derived_from is None:
            return self._validator.refusals(webhook.profile, webhook.event_type, payload)
        return self.payload_refusals(webhook.event_type, payload)

    def payload_refusals(self, event_type: str, payload: Any) -> tuple[Mismatch, ...]:
        """The places where a payload breaks the contract of its event, for any sender."""
        return self._validator.payload_refusals(event_type, payload)


def payload_of(webhook: StoredWebhook) -> Any:
    """The JSON value of its body. Raises `PermanentFailure`."""
    if webhook.body is None:
        raise PermanentFailure("forgotten", "The message is not stored any more.")
    try:
        return jsontext.decode(webhook.body)
    except NotJson as error:
        raise PermanentFailure(
            CONTRACT_CHANGED, f"/ is not the JSON that is read today: {error}"
        ) from None


def described(refusals: Sequence[Mismatch | Violation]) -> str:
    """Refusals in one line for an operator."""
    return "; ".join(f"{each.pointer or '/'} {each.detail}" for each in refusals)[:_MAX_DETAIL]
